// shiplap evaluate: runs a grid of choices and says how good every model is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cli11.hpp"

namespace shiplap::cli {

struct EvaluateFlags {
  std::vector<std::string> workloads;
  std::string device;
  std::string profile;
  std::vector<std::string> sizes;
  std::vector<std::string> strategies;
  std::vector<std::string> chunks;
  std::vector<std::string> layouts;
  std::vector<std::string> blocks;
  std::vector<std::string> threads;
  std::vector<std::string> memory{"pinned"};
  unsigned rounds = 0;       ///< 0: 11 on a GPU; 1 on a virtual device, where all runs are equal
  unsigned duel_rounds = 0;  ///< 0: 51, or 1 likewise
  std::string budget;
  std::string again;
  unsigned random = 0;  ///< number of randomly drawn jobs; 0: the named workloads
  std::uint64_t seed = 1;
  std::string race;
  bool transfers_only = false;
  bool no_transfers = false;
  std::string output;
  std::string markdown;
  std::string csv;
  bool json = false;
};
void add_evaluate(CLI::App&);
void run_evaluate(const EvaluateFlags&);

}  // namespace shiplap::cli
