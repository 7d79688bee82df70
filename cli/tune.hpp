// shiplap tune: runs a race and caches the winner.
#pragma once

#include <string>

#include "cli/choice_flags.hpp"
#include "cli/common.hpp"
#include "cli/node.hpp"

namespace shiplap::cli {

struct TuneFlags {
  WorkloadFlags workload;
  ChoiceFlags choice;
  UseFlags use{.race = "1s"};
  NodeFlags node;
  std::string write_kernel;
  bool all = false;
  bool json = false;
};
void add_tune(CLI::App&);
void run_tune(const TuneFlags&);

}  // namespace shiplap::cli
