// Strategies ranked for a job on a profile by simulation, or by a closed form where the simulator lacks a figure, with
// predicted time, prediction interval, bound and reason.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/core/interval.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/plan/bound.hpp"
#include "shiplap/plan/ideal_overlap.hpp"
#include "shiplap/plan/kernel_rates.hpp"
#include "shiplap/schedule/timeline.hpp"
#include "shiplap/strategy/choice.hpp"
#include "shiplap/strategy/limits.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

struct Profile;
struct Schedule;

/// The choices that a search considers. An empty list leaves that part of the choice open.
struct SearchSpace {
  std::vector<std::string> strategies{};  ///< names of `strategies()`
  /// Numbers of chunks on each GPU. Strategies without chunks are considered only where 1 is among the numbers or
  /// `strategies` names them.
  std::vector<std::uint32_t> chunks{};
  std::vector<Layout> layouts{};     ///< how chunks are spread over streams
  std::vector<IssueOrder> orders{};  ///< orders of submission
  std::vector<Ramp> ramps{};         ///< sizes of chunks
  std::uint32_t streams = 4;         ///< number of streams for Layout::few
  std::vector<std::uint64_t>
      max_grids{};  ///< largest grids of zero-copy kernels in thread blocks; 0: the kernel's own grid
  std::vector<std::uint32_t> threads{};  ///< host threads in each direction, for strategies that use them
  bool graph = false;                    ///< whether every candidate is a graph
  bool batched = false;                  ///< whether every candidate submits the copies of a chunk in batches
  bool fewer_calls = true;               ///< whether graphs and batches of the fastest candidates are tried too
  /// Whether choices that cannot be simulated, because the profile lacks a figure, are ranked by the closed form of a
  /// paper that has all it needs. `plan` says no for nodes with a device, whose choice will be run.
  bool closed_forms = true;
  std::uint32_t gpus = 1;  ///< number of GPUs that share the job
  /// Further GPUs of the device, by their numbers in it, whose links may also carry copies of pinned memory
  /// (Choice::relay). The search decides which of them do, and for which share.
  std::vector<std::uint16_t> relays{};
  std::vector<Mover::Kind> movers{};  ///< what may move arrays that are blocks of a pool; empty: anything
  /// Most time, as a fraction such as 0.05, that moving blocks may add to the time of the job's kernel while both run,
  /// and that relaying may add to a kernel on the relaying GPU that waits for its memory all the time.
  std::optional<double> max_slowdown{};
  std::optional<Choice> given{};  ///< the only choice, with its strategy and GPUs above (`options_of` of a saved plan)

  /// Whether strategies, chunks, ramps, layouts, orders, grids or threads are given.
  bool is_restricted() const;
};

/// Where the time above ideal overlap goes, found by removing one cause after the other from the simulation. The times
/// add up to `total`. `total` and `fill_and_drain` are negative for a choice that is faster than ideal overlap: a
/// zero-copy kernel needs no copies, and the data of a chunk may stay in a cache.
struct Distance {
  Seconds host{0};            ///< memory is not pinned: host threads, staging by the driver, moving pages
  Seconds submission{0};      ///< time that the GPU waits because the host cannot submit faster
  Seconds latency{0};         ///< L+o, launch and dependency latencies on the critical path
  Seconds gap{0};             ///< gaps (g) of copies, as long as they are without duplex load
  Seconds duplex_gap{0};      ///< the part of the gaps that is added under duplex load
  Seconds fill_and_drain{0};  ///< waiting for the first chunk and after the last one; the rest of the time
  Seconds total{0};           ///< predicted time minus that of ideal overlap
};

/// The model that a candidate is ranked by.
enum class PredictedBy : std::uint8_t {
  simulation,   ///< the schedule was simulated
  closed_form,  ///< the profile lacks a figure of the simulation, and a paper's equation has all that it needs
};
/// The models that predict candidates with their names.
EnumNames<PredictedBy> names_of(PredictedBy);

/// One way to do the job, with its prediction.
struct Candidate {
  Choice choice;                               ///< the strategy and its parameters
  std::shared_ptr<const Schedule> schedule{};  ///< built once from job, choice and limits; simulated, run and emitted
  Interval<Seconds> predicted;                 ///< 90 % prediction interval of the makespan on the profile's GPU
  std::optional<Seconds> closed_form{};        ///< time by the papers' equation, where it covers the job
  bool tied_with_fastest = false;              ///< whether its interval overlaps that of the fastest of its ranking
  Distance distance{};                         ///< causes of the time above ideal overlap
  Timeline timeline{};                         ///< the simulated timeline of `schedule`; empty with a closed form
  PredictedBy predicted_by = PredictedBy::simulation;  ///< the model that gave `predicted`
  std::string why_not_simulated{};                     ///< the figure that the simulation lacks; "" when simulated
};

/// A strategy that cannot do the job.
struct Refused {
  std::string strategy;  ///< name of the strategy
  std::string reason;    ///< why, and what would help
};

/// All strategies for a job on a profile, by predicted time, with the bound and the assumptions.
struct Ranking {
  std::string job;                       ///< name of the job
  std::string profile;                   ///< name of the profile
  std::string profile_hash;              ///< parameter_hash of the profile
  bool assumed_link = false;             ///< whether the link of the profile is assumed, of an imagined node or a GPU
  std::string kernel_cost_origin;        ///< KernelCost::origin
  std::optional<KernelRates> kernel{};   ///< the kernel alone, where its time is known
  Bound bound;                           ///< the time that no strategy is below
  IdealOverlap ideal_overlap;            ///< the time of the longest stage alone, which pipelines approach
  std::vector<Candidate> candidates;     ///< by predicted time, at least one: several of the preferred strategy, and
                                         ///< the best one of every other strategy
  std::size_t first_choice = 0;          ///< index in `candidates` of the one that is preferred
  std::string simpler{};                 ///< how `best()` is simpler than the fastest; "" when it is the fastest
  std::vector<Refused> refused;          ///< strategies that cannot do this job
  std::vector<std::string> assumptions;  ///< one sentence each
  std::string why;                       ///< why `best()` is preferred, as one paragraph

  /// The candidate that is preferred: the fastest, or a simpler one that is predicted nearly as fast (preference.hpp).
  const Candidate& best() const { return candidates[first_choice]; }
};

/// Searches the space by simulation and ranks what it finds. `limits` must be those of the run. Throws UsageError when
/// the space names something that does not exist or the arrays have more than 1 PiB, Unsupported when no
/// strategy can do the job.
Ranking rank(const Job&, const Profile&, const Limits& limits, const SearchSpace& = {});
/// Ranks under `limits_of(profile)`.
Ranking rank(const Job&, const Profile&, const SearchSpace& = {});

/// Predicts one choice: builds and simulates its schedule, or uses the closed form of a paper where the profile lacks a
/// figure of the simulation. The interval comes from the sensitivities to the profile's intervals, added in quadrature.
/// Its low end is never below the bound. `limits` must be those of the run: they determine the number of slots of the
/// ring.
Candidate predict(const Job&, const Profile&, const Choice&, const Limits& limits);
/// Predicts under `limits_of(profile)`.
Candidate predict(const Job&, const Profile&, const Choice&);
/// Writes the candidate without its timeline.
Json to_json(const Candidate&);
/// Writes the ranking, with schema and version.
Json to_json(const Ranking&);

}  // namespace shiplap
