// Runs a shell command and returns what it printed.
#pragma once

#include <string>

namespace shiplap::docs {

/// What a command printed, on stdout and stderr together, and how it ended.
struct Outcome {
  int status = 0;      ///< exit status; -1 when a signal ended it
  std::string output;  ///< stdout and stderr
};

/// Runs `command` in /bin/sh.
Outcome run_command(const std::string& command);

/// The text as one word of a shell command.
std::string quoted(const std::string& text);

}  // namespace shiplap::docs
