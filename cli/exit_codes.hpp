// Exit codes of `shiplap check` as the programs that call it expect them.
#pragma once

#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/check.hpp"

namespace shiplap::cli {

enum class ExitCodes : std::uint8_t {
  shiplap,     ///< those of every command: 0 done, 1 could not be done, 2 a check failed, 64 wrong usage
  nagios,      ///< Nagios plugins: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN
  nvsentinel,  ///< preflight checks of NVSentinel: 0 passed, 1 a GPU failed, 2 the environment
};

/// Throws UsageError that lists the names for an unknown one.
ExitCodes parse_exit_codes(const std::string& name);

/// The code of a check that was done.
int exit_code(ExitCodes, Verdict);
/// The code of a program that ended with this one of shiplap's codes. No failure to check is a bad node.
int exit_code(ExitCodes, ExitCode);

/// The exit codes that a command line asks for, read before it is parsed, so that wrong usage has a code of the scheme
/// too. Those of shiplap for other commands and for unknown names.
ExitCodes asked_exit_codes(int argc, const char* const* argv);

}  // namespace shiplap::cli
