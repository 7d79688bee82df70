// What shiplap-reproduce does: lists papers, or runs the experiments of one and keeps what they find in files.
#pragma once

#include <string>
#include <vector>

#include "cli/cli11.hpp"

namespace shiplap::experiments {

struct ReproduceFlags {
  std::string paper;
  std::string data;  ///< file of a published sweep, instead of a paper
  std::string device;
  std::string profile;
  std::vector<std::string> only;
  std::string budget;
  std::string output;
  bool quick = false;
  bool json = false;
};

/// Adds the options to the program, and what it does with them.
void add_reproduce(CLI::App&);
void run_reproduce(const ReproduceFlags&);

}  // namespace shiplap::experiments
