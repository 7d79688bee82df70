// An endless run for people and as JSON: how fast it was, what was chosen for how many batches, and why it changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// What is known of an endless run when it has ended.
struct AdaptiveRun {
  std::string workload;      ///< of a batch
  std::string device;        ///< id
  bool simulated = false;    ///< whether the device is virtual, so that the times are simulated
  std::string profile;       ///< its name
  std::string profile_hash;  ///< parameter_hash of it
  std::uint64_t items_of_batch = 0;
  SteadyTable table;                        ///< what could be chosen, with what was predicted
  AdaptiveReport report;                    ///< what happened
  std::vector<Decision> decisions;          ///< in their order; the last ones where there were too many to keep
  std::uint64_t all_decisions = 0;          ///< how many there were
  std::optional<std::string> difference{};  ///< of the last results in each slot from the reference; "": none; nothing:
                                            ///< there is no reference
};

std::string adaptive_report(const AdaptiveRun&, const TextStyle& = {});
/// With schema and version.
Json to_json(const AdaptiveRun&);

Json to_json(const Replay&);
/// The decisions of a log, and whether they come out the same.
std::string replay_report(const Replay&, const TextStyle& = {});

}  // namespace shiplap
