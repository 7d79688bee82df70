// shiplap reproduce: the tables, figures and claims of a paper, on the hardware at hand.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct ReproduceFlags {
  std::string paper;
  std::string device;
  std::string profile;
  std::vector<std::string> only;
  std::string budget;
  std::string output;
  bool quick = false;
  bool json = false;
};

void add_reproduce(CLI::App&);
void run_reproduce(const ReproduceFlags&);

}  // namespace shiplap::cli
