// shiplap reproduce: starts the program shiplap-reproduce, which is built and installed beside this one.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11.hpp"

namespace shiplap::cli {

/// Adds the subcommand. `arguments` are handed to shiplap-reproduce as they are. Throws Error when it cannot be
/// started.
void add_reproduce(CLI::App&, std::vector<std::string> arguments);

}  // namespace shiplap::cli
