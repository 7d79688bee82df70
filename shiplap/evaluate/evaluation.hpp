// Results of an evaluation: observed times beside the predictions of every model, with their JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/timeline.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Prediction of one model for a choice. The model "simulation" is the one that plans use.
struct ModelTime {
  std::string model;
  Seconds time{0};
};

/// One choice, predicted before its workload ran, then observed.
struct EvaluatedPoint {
  Choice choice;
  bool planned = false;              ///< a choice that the plan would make, not of the grid
  Interval<Seconds> predicted;       ///< simulated time with its prediction interval
  std::vector<ModelTime> models;     ///< predictions of all models, the simulation first
  Engine busiest = Engine::compute;  ///< busiest engine in the predicted timeline
  double busy = 0;                   ///< fraction of the predicted time that this engine is busy
  std::size_t group = 0;             ///< index into the workload's groups
  std::vector<double> samples_ms;    ///< makespans by CUDA events
  bool verified = false;
  std::string difference;  ///< first difference from the host reference, when not verified
};

struct SkippedChoice {
  Choice choice;
  std::string reason;
};

/// Choices that were prepared together and ran in rotation. The automatic choice and ideal overlap ran with them, so
/// that a drift between groups becomes visible.
struct EvaluatedGroup {
  std::size_t choices = 0;
  std::vector<double> automatic_ms;
  std::vector<double> ideal_overlap_ms;  ///< times of ideal overlap; empty where the arrays are not pinned
};

/// The automatic choice against the winner of the sweep. Both are measured again, in rotation with ideal overlap,
/// because the winner of a sweep wins partly by chance.
struct Duel {
  Choice automatic;
  Choice winner;  ///< fastest of all points except the automatic choice
  std::vector<double> automatic_ms;
  std::vector<double> winner_ms;
  std::vector<double> ideal_overlap_ms;

  double over_winner() const;  ///< median of the automatic choice over that of the winner, minus 1
  double over_ideal_overlap()
      const;  ///< median of the automatic choice over that of ideal overlap, minus 1; throws without ideal overlap
  /// Whether the automatic choice is slower by at most 1 %, 3 µs or two standard errors of the difference, whichever is
  /// largest.
  bool within_rule() const;
};

struct EvaluatedWorkload {
  std::string name;
  MemoryKind memory = MemoryKind::pinned;
  KernelCost cost{};  ///< cost of the kernel that the predictions used
  Seconds kernel{0};
  Seconds bound{0};                   ///< the predicted time that no strategy is below (see Bound)
  Interval<Seconds> ideal_overlap{};  ///< predicted
  std::vector<EvaluatedPoint> points{};
  std::vector<SkippedChoice> skipped{};
  std::string not_run{};  ///< reason why the workload did not run, else ""
  std::vector<EvaluatedGroup> groups{};
  std::optional<Duel> duel{};
};

/// Name of the workload, with its memory if that is not pinned: "saxpy:n=65536, pageable memory".
std::string label(const EvaluatedWorkload&);

/// Copies in one direction without kernels: `total` bytes in `copies` equal copies in one stream.
struct EvaluatedTransfer {
  bool to_device = true;
  Bytes total;
  std::uint32_t copies = 1;
  Seconds simulation{0};
  Seconds loggp{0};  ///< time by LogGP: L+o + k·G + (n − 1)·g
  std::vector<double> samples_ms;
  std::uint64_t wrong_bytes = 0;
};

/// The workload with its samples as files have them: rounded to 10 ns, which is finer than the clocks. Statistics of
/// what is written and read again are then the same.
EvaluatedWorkload as_recorded(EvaluatedWorkload);
/// The transfer with its samples as files have them, rounded to 10 ns.
EvaluatedTransfer as_recorded(EvaluatedTransfer);

struct Evaluation {
  std::string device;
  std::string device_name;
  bool simulated = false;  ///< whether times are simulated; they then compare models with each other and not with a GPU
  Conditions conditions;
  std::string profile;
  std::string profile_hash;      ///< hash of the profile's parameters, fixed before anything ran
  bool predicted_again = false;  ///< whether the predictions were made after the observations were recorded
  std::string command{};         ///< command line that says what is evaluated; empty when unknown
  std::vector<EvaluatedWorkload> workloads;
  std::vector<EvaluatedTransfer> transfers;
};

/// Leaves every second sample of what has more than eleven. Returns whether anything had.
bool halve_samples(Evaluation&);

/// Wrong results, a line each; empty when every byte was right.
std::vector<std::string> wrong_results(const Evaluation&);

/// Writes the document `shiplap/evaluation`, with the statistics of `errors.hpp`.
Json to_json(const Evaluation&);
/// Reads the document. Samples are exact to 10 ns. Throws Error that names source and key.
void from_json(const JsonReader&, Evaluation&);
/// The JSON Schema of the document.
Json json_schema(const Evaluation&);

}  // namespace shiplap
