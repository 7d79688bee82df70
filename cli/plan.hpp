// shiplap plan: ranks the ways to run a workload on a device or a profile, and says why.
#pragma once

#include <string>

#include "cli/cli11.hpp"
#include "cli/common.hpp"

namespace shiplap::cli {

struct PlanFlags {
  WorkloadFlags workload;
  ChoiceFlags choice;
  std::string device;
  std::string profile;
  std::string scale;
  std::string trace;
  std::string emit;
  std::string output;
  std::uint64_t reuse = 1;
  bool json = false;
};
void add_plan(CLI::App&);
void run_plan(const PlanFlags&);

}  // namespace shiplap::cli
