// The record of an endless run: its rate, the number of batches by choice, and every decision.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/pipeline/adaptive.hpp"

namespace shiplap {

/// A choice for the batches of an endless run.
struct ChoiceOfBatches {
  Choice choice;
  std::uint64_t batches = 0;    ///< number of batches with it
  Seconds predicted_period{0};  ///< predicted time of a batch before the run
};

/// What is known of an endless run when it has ended.
struct AdaptiveRun {
  std::string workload;              ///< name of the workload; one batch is one job of it
  std::string device;                ///< id of the device, as in "cuda:0"
  bool simulated = false;            ///< whether the device is virtual, so that the times are simulated
  std::string profile;               ///< name of the profile
  std::string profile_hash;          ///< parameter_hash of the profile
  std::uint64_t items_of_batch = 0;  ///< number of items in a batch
  std::uint32_t in_flight = 1;       ///< number of batches in flight
  AdaptiveReport report{};           ///< what was counted and timed
  std::vector<ChoiceOfBatches> choices{};
  std::vector<BatchDecision>
      decisions{};                  ///< decisions in their order; only the last ones when there were too many to keep
  std::uint64_t all_decisions = 0;  ///< number of decisions, with those that were not kept
  /// How the last results in the slots differ from the host reference: "" for not at all, nullopt without a reference.
  std::optional<std::string> difference{};
};

/// Writes the document `shiplap/adaptive-run`.
Json to_json(const AdaptiveRun&);
/// Reads the document. Throws Error that names source and key.
void from_json(const JsonReader&, AdaptiveRun&);
/// The JSON Schema of the document.
Json json_schema(const AdaptiveRun&);

}  // namespace shiplap
