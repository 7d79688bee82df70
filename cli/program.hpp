// Runs a program of the project: parses its arguments and turns every error into a message and an exit code.
#pragma once

#include "cli/cli11.hpp"
#include "cli/exit_codes.hpp"

namespace shiplap::cli {

/// Calls `run`, which returns an exit code, with the arguments of `main`. Whatever it throws is printed on stderr
/// behind `name`, with an exit code of the scheme `codes`. Output that does not reach stdout is an error too.
int run_main(const char* name, ExitCodes codes, int (*run)(int, char**), int argc, char** argv);

/// Parses the arguments, which runs the callbacks of the app and its subcommands; what these throw is thrown. Returns
/// 0, or the exit code of a program that a subcommand has run. Throws UsageError when the command line is wrong.
int run_program(CLI::App&, int argc, char** argv);

}  // namespace shiplap::cli
