// shiplap fleet: judges the nodes of a fleet against each other.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11.hpp"
#include "cli/fleet_output.hpp"

namespace shiplap::cli {

struct FleetCollectFlags {
  std::vector<std::string> paths;
  FleetOutputFlags output;
};
void add_fleet(CLI::App&);
void run_fleet_collect(const FleetCollectFlags&);

}  // namespace shiplap::cli
