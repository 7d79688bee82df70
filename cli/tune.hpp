// shiplap tune: runs a race and caches the winner.
#pragma once

#include <string>

#include "cli/common.hpp"

namespace shiplap::cli {

struct TuneFlags {
  WorkloadFlags workload;
  ChoiceFlags choice;
  std::string device;
  std::string profile;
  std::string race = "1s";
  std::string write_kernel;
  bool json = false;
};
void add_tune(CLI::App&);
void run_tune(const TuneFlags&);

}  // namespace shiplap::cli
