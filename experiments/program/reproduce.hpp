// The command of shiplap-reproduce: it lists papers, or runs the experiments of one and writes the findings to files.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11.hpp"

namespace shiplap::experiments {

struct ReproduceFlags {
  std::string paper;
  std::string data;  ///< file of a published sweep, used instead of a paper
  std::string device;
  std::string profile;
  std::vector<std::string> only;
  std::string budget;
  std::string output;
  bool quick = false;
  bool json = false;
  bool all = false;
};

/// Adds the options and the action to the program.
void add_reproduce(CLI::App&);
void run_reproduce(const ReproduceFlags&);

}  // namespace shiplap::experiments
