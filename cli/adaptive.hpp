// shiplap run --adaptive runs an endless input in batches of a workload and adapts while it runs. shiplap replay makes
// the decisions of such a run again from its log.
#pragma once

#include <cstdint>
#include <string>

#include "cli/choice_flags.hpp"
#include "cli/cli11.hpp"
#include "cli/common.hpp"
#include "cli/node.hpp"

namespace shiplap::cli {

struct AdaptiveFlags {
  bool adaptive = false;
  std::string frames;  ///< items of all batches together
  std::uint32_t in_flight = 3;
  std::string latency_limit;  ///< a time; empty: none
  std::string vary;           ///< FACTOR,FACTOR…:BATCHES, of the kernel on a virtual device
  std::string log;
};
/// Adds the flags. Returns the option --adaptive.
CLI::Option* add_adaptive_flags(CLI::App&, AdaptiveFlags&);
void run_adaptive(const AdaptiveFlags&, const WorkloadFlags&, const ChoiceFlags&, const NodeFlags&, bool json);

void add_replay(CLI::App&);

}  // namespace shiplap::cli
