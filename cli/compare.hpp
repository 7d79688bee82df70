// shiplap compare: compares a node with a baseline and names the figures that are worse.
#pragma once

#include <string>

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct CompareFlags {
  std::string baseline;
  std::string now;
  std::string tolerance = "5%";
  bool all = false;
  bool json = false;
};
void add_compare(CLI::App&);
void run_compare(const CompareFlags&);

}  // namespace shiplap::cli
