// shiplap predict: what every model says of a workload, side by side.
#pragma once

#include <string>

#include "cli/cli11.hpp"
#include "cli/common.hpp"

namespace shiplap::cli {

struct PredictFlags {
  WorkloadFlags workload;
  ChoiceFlags choice;
  std::string device;
  std::string profile;
  std::string scale;
  std::string model = "all";
  bool json = false;
};
void add_predict(CLI::App&);
void run_predict(const PredictFlags&);

}  // namespace shiplap::cli
