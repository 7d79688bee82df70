// What is said of a command line that is not understood: what is wrong, and what was probably meant.
#pragma once

#include <string>

#include "cli/cli11.hpp"

namespace shiplap::cli {

/// Throws UsageError when the first argument of the program, or of one of its commands that has commands itself, names
/// no command. The message names the commands of similar spelling, or all of them.
void require_known_command(const CLI::App&, int argc, const char* const* argv);

/// The message on arguments that no command expects, in the order in which they were given, with the options
/// that were probably meant.
std::string message_on_unexpected(const CLI::App&);

/// The message on a value or argument that is missing or that its option does not take.
std::string message_on_wrong_usage(const CLI::App&, const CLI::ParseError&);

}  // namespace shiplap::cli
