// Help that fits into the width of the terminal and, unless more is asked for, on one screen.
#pragma once

#include <initializer_list>

#include "cli/cli11.hpp"

namespace shiplap::cli {

/// Puts options of a command into a group that `--help` only names and `--help-all` shows.
void put_into_group(CLI::App& command, const char* group, std::initializer_list<const char*> options);

/// Gives the program and all its commands `--help`, with the options of every day and the first paragraph of the
/// footer, and `--help-all`, with everything.
void prepare_help(CLI::App&);

}  // namespace shiplap::cli
