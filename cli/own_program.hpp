// Runs this program again as another process, so that nothing that hangs or dies there harms this one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "shiplap/core/deadline.hpp"

namespace shiplap::cli {

/// What a process printed, and how it ended.
struct ProcessOutput {
  int exit_code = 0;
  std::string out{};
  std::string err{};
};

/// Runs this program with these arguments, without input, and returns what it printed. Several threads may call it at
/// once. Throws Error when the process cannot be started, when a signal ends it, when it has not ended by the deadline,
/// or when `stop` returns true; it is then killed, and left behind if that does not end it.
ProcessOutput run_own_program(const std::vector<std::string>& arguments, const Deadline&,
                              const std::function<bool()>& stop = {});

/// The last line that the process printed as a message, without the name of the program, for other messages.
std::string message_of(const ProcessOutput&);

}  // namespace shiplap::cli
