// shiplap plan: ranks the ways to run a workload on a device or a profile, and gives the reasons.
#pragma once

#include <string>

#include "cli/choice_flags.hpp"
#include "cli/cli11.hpp"
#include "cli/common.hpp"
#include "cli/node.hpp"
#include "cli/plan_nodes.hpp"

namespace shiplap::cli {

struct PlanFlags {
  WorkloadFlags workload;
  ChoiceFlags choice;
  UseFlags use;
  NodeFlags node;
  NodesFlags nodes;
  std::string trace;
  std::string emit;
  std::string output;
  std::string layers;
  bool all = false;
  bool json = false;
};
void add_plan(CLI::App&);
void run_plan(const PlanFlags&);

}  // namespace shiplap::cli
