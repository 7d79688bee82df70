// shiplap run: runs a workload on a device, verifies the result and sets predicted beside observed.
#pragma once

#include <string>

#include "cli/adaptive.hpp"
#include "cli/choice_flags.hpp"
#include "cli/cli11.hpp"
#include "cli/common.hpp"
#include "cli/node.hpp"

namespace shiplap::cli {

struct RunFlags {
  WorkloadFlags workload;
  ChoiceFlags choice;
  UseFlags use;
  NodeFlags node;
  unsigned repeat = 0;  ///< 0: 21 on a GPU; 1 on a virtual device, where all repeats are equal
  bool gantt = false;
  std::string svg;
  std::string trace;
  bool explain = false;
  bool all = false;
  AdaptiveFlags adaptive;
  bool json = false;
};
void add_run(CLI::App&);
void run_run(const RunFlags&);

}  // namespace shiplap::cli
