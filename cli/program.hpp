// Runs a program of the project: parses its arguments and turns every error into a message and an exit code.
#pragma once

#include "cli/cli11.hpp"
#include "cli/exit_codes.hpp"

namespace shiplap::cli {

/// Parses the arguments, which runs the callbacks of the app and its subcommands. An error is printed on stderr behind
/// the app's name. Returns the exit code: 0 done, 1 could not, 2 a check of a result failed, 64 wrong usage,
/// or that of a program that a subcommand has run. Other `codes` replace those of errors.
int run_program(CLI::App&, int argc, char** argv, ExitCodes codes = ExitCodes::shiplap);

}  // namespace shiplap::cli
