// A command that does not exist: which one was meant.
#pragma once

#include "cli/cli11.hpp"

namespace shiplap::cli {

/// Throws UsageError when the first argument of the program, or of one of its commands that has commands itself, names
/// no command. The message names the commands that are spelt alike, or all of them.
void require_known_command(const CLI::App&, int argc, const char* const* argv);

}  // namespace shiplap::cli
