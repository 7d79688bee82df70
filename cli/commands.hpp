// All commands of the program.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11.hpp"

namespace shiplap::cli {

/// Adds every command to the program. `advised` is the command line of the program that `advise` starts, and
/// `reproduced` are the arguments that `reproduce` hands on.
void add_commands(CLI::App&, std::vector<std::string> advised, std::vector<std::string> reproduced);

}  // namespace shiplap::cli
