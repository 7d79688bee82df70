// What a process holds at a moment.
#pragma once

#include <cstdint>

namespace endurance {

/// What grows when something is kept that should have been given back.
struct Holdings {
  std::uint64_t heap = 0;         ///< bytes that the program has allocated and not freed, by malloc's own count
  std::uint64_t descriptors = 0;  ///< open files
  std::uint64_t threads = 0;
  std::uint64_t resident = 0;  ///< bytes of memory in RAM
};

/// Counts what this process holds now.
Holdings holdings();
/// Processor time of all threads of this process so far, in seconds.
double processor_time();

}  // namespace endurance
