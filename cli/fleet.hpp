// shiplap fleet: judges the nodes of a fleet against each other.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct FleetCollectFlags {
  std::vector<std::string> paths;
  std::string expect;
  bool json = false;
};
void add_fleet(CLI::App&);
void run_fleet_collect(const FleetCollectFlags&);

}  // namespace shiplap::cli
