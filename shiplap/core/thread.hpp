// Starts threads, with a message where the system has none left.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

namespace shiplap {

/// Throws Error for a thread that could not be started.
[[noreturn]] void throw_no_thread(const std::system_error& refused);

/// Starts `work` in a thread. Throws Error when the system refuses another thread.
template <class Work>
std::jthread start_thread(Work&& work) {
  try {
    return std::jthread(std::forward<Work>(work));
  } catch (const std::system_error& refused) {
    throw_no_thread(refused);
  }
}

}  // namespace shiplap
