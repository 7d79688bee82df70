// Runs a program of the project: parses its arguments and turns every error into a message and an exit code.
#pragma once

#include "cli/cli11.hpp"
#include "cli/exit_codes.hpp"

namespace shiplap::cli {

/// Calls `run`, which returns an exit code, with the arguments of `main`. Whatever it throws is printed on stderr
/// behind `name`, with an exit code of the scheme `codes`. Output that does not reach stdout is an error too.
int run_main(const char* name, ExitCodes codes, int (*run)(int, char**), int argc, char** argv);

/// Parses the arguments, which runs the callbacks of the app and its subcommands. Errors of the command line are
/// printed on stderr behind the app's name; what the callbacks throw is thrown. Returns the exit code: 0 done, 64 wrong
/// usage, or that of a program that a subcommand has run. Other `codes` replace those of errors.
int run_program(CLI::App&, int argc, char** argv, ExitCodes codes = ExitCodes::shiplap);

}  // namespace shiplap::cli
