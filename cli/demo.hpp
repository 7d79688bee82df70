// shiplap demo: the same vectors moved in the ways that programs have, as bars with factors.
#pragma once

#include <string>

#include "cli/cli11.hpp"
#include "cli/common.hpp"
#include "cli/node.hpp"

namespace shiplap::cli {

struct DemoFlags {
  std::string workload = "saxpy:n=64Mi";
  NodeFlags node;
  bool all = false;
  bool json = false;
};
void add_demo(CLI::App&);
void run_demo(const DemoFlags&);

}  // namespace shiplap::cli
