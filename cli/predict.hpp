// shiplap predict: prints the predictions of every model for a workload, side by side.
#pragma once

#include <string>

#include "cli/choice_flags.hpp"
#include "cli/cli11.hpp"
#include "cli/common.hpp"
#include "cli/node.hpp"

namespace shiplap::cli {

struct PredictFlags {
  WorkloadFlags workload;
  ChoiceFlags choice;
  NodeFlags node;
  std::string model = "all";
  bool all = false;
  bool json = false;
};
void add_predict(CLI::App&);
void run_predict(const PredictFlags&);

}  // namespace shiplap::cli
