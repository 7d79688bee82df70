// What an evaluation observed beside what every model predicted, as values with their JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/timeline.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The time of one model that has a form for the choice; "engine" is the simulation.
struct ModelTime {
  std::string model;
  Seconds time{0};
};

/// One choice: predicted before anything of its workload ran, then observed.
struct EvaluatedPoint {
  Choice choice;
  bool planned = false;              ///< not of the grid: what the plan would take of a strategy
  Interval<Seconds> predicted;       ///< the engine's, with its range
  std::vector<ModelTime> models;     ///< the engine's first
  Engine busiest = Engine::compute;  ///< in the predicted timeline
  double busy = 0;                   ///< share of the predicted time that this engine is busy
  std::size_t group = 0;             ///< index into the workload's groups
  std::vector<double> samples_ms;    ///< event-timed makespans
  bool verified = false;
  std::string difference;  ///< what differs from the host reference first, when not verified
};

struct SkippedChoice {
  Choice choice;
  std::string reason;
};

/// Choices that were ready at once and ran in turn; with them the automatic choice and the bound, so that a drift from
/// one group to the next shows.
struct EvaluatedGroup {
  std::size_t choices = 0;
  std::vector<double> automatic_ms;
  std::vector<double> bound_ms;  ///< empty where the arrays are not pinned
};

/// The automatic choice against the best of the sweep, measured again in turn with the bound: the best of a sweep won
/// partly by luck.
struct Duel {
  Choice automatic;
  Choice winner;  ///< of all points but the automatic choice
  std::vector<double> automatic_ms;
  std::vector<double> winner_ms;
  std::vector<double> bound_ms;

  double over_winner() const;  ///< median over median, minus 1
  double over_bound()
      const;  ///< median of the automatic choice over that of the bound, minus 1; throws without a bound
  /// Slower by at most 1 %, 3 µs or two standard errors of the difference, whichever is largest.
  bool within_rule() const;
};

struct EvaluatedWorkload {
  std::string name;
  MemoryKind memory = MemoryKind::pinned;
  KernelCost cost{};  ///< what the predictions know of the kernel
  Seconds kernel{0};
  Interval<Seconds> bound{};
  std::vector<EvaluatedPoint> points{};
  std::vector<SkippedChoice> skipped{};
  std::string not_run{};  ///< why nothing of it ran, else ""
  std::vector<EvaluatedGroup> groups{};
  std::optional<Duel> duel{};
};

/// Its name, with the memory where that is not pinned: "saxpy:n=65536, pageable memory".
std::string label(const EvaluatedWorkload&);

/// Copies of one direction alone: `total` bytes in `copies` equal copies on one stream.
struct EvaluatedTransfer {
  bool to_device = true;
  Bytes total;
  std::uint32_t copies = 1;
  Seconds simulation{0};
  Seconds loggp{0};  ///< L+o + k·G + (n − 1)·g
  std::vector<double> samples_ms;
  std::uint64_t wrong_bytes = 0;
};

struct Evaluation {
  std::string device;
  std::string device_name;
  bool simulated = false;  ///< times are virtual: they say how well two computations agree, not how good a model is
  Conditions conditions;
  std::string profile;
  std::string profile_hash;      ///< fixed before anything ran
  bool predicted_again = false;  ///< predictions were made after the observations, from their record
  std::vector<EvaluatedWorkload> workloads;
  std::vector<EvaluatedTransfer> transfers;
};

/// What came out wrong, a line each; empty when every byte was right.
std::vector<std::string> wrong_results(const Evaluation&);

/// Of the schema.
inline constexpr std::uint64_t evaluation_version = 1;
/// docs/schema/evaluation.schema.json; with the statistics of `errors.hpp`.
Json to_json(const Evaluation&);
/// What to_json(const Evaluation&) wrote; samples to 10 ns. Throws Error naming source and key.
Evaluation evaluation_from_json(const Json&, const std::string& source);

}  // namespace shiplap
