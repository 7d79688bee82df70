// Plans: strategies ranked for a job on a profile by simulation, with predicted time, range, bound and reason.
#pragma once

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

/// What may be chosen; an empty list means "all".
struct PlanOptions {
  std::vector<std::string> strategies{};  ///< names of `strategies()`
  std::vector<std::uint32_t> chunks{};    ///< numbers of chunks on each GPU
  std::vector<Layout> layouts{};          ///< how chunks are spread over queues
  std::vector<IssueOrder> orders{};       ///< of submission
  std::vector<Ramp> ramps{};              ///< empty: what pays, and none where the number of chunks is chosen
  std::uint32_t queues = 4;               ///< for Layout::few
  std::vector<std::uint64_t> blocks{};    ///< of kernels that access host memory; 0: their own grid
  std::vector<std::uint32_t> threads{};   ///< each way, of strategies in which host threads take part
  bool graph = false;                     ///< all candidates as graphs
  bool batched = false;                   ///< all candidates with the copies of a chunk in batches
  bool fewer_calls = true;                ///< the fastest of each strategy as a graph and in batches too
  std::uint32_t gpus = 1;                 ///< that share the job
  Bytes device_memory{0};                 ///< 0: what the profile says
};
/// Whether strategies, chunks, ramps, layouts, orders, grids or threads are restricted.
bool restricts_choices(const PlanOptions&);

/// Where the time above the bound goes, by taking one cause after the other out of the simulation. Times add up to
/// `total`, the predicted time minus the bound.
struct Distance {
  Seconds host{0};            ///< memory is not page-locked: host threads, staging by the driver, moving pages
  Seconds submission{0};      ///< the host cannot submit faster
  Seconds latency{0};         ///< L+o, launch and dependency latencies on the critical path
  Seconds gap{0};             ///< g of copies running alone, per copy
  Seconds duplex_gap{0};      ///< the lower rate of small copies: what g grows by while both directions are busy
  Seconds fill_and_drain{0};  ///< engines that wait for the first chunk or have had the last one; what is left
  Seconds total{0};           ///< predicted time minus bound
};

/// One way to do the job, with what is predicted of it.
struct Candidate {
  Choice choice;                       ///< what would be done
  Interval<Seconds> predicted;         ///< for about nine in ten observations on the GPU of the profile
  std::optional<Seconds> closed_form;  ///< the papers' equation for the same choice
  bool tied_with_best = false;         ///< ranges overlap
  double probability_best = 0;         ///< among the candidates of its plan (probability.hpp); 0: it is of none
  Distance distance;                   ///< what keeps it from the bound
  Timeline timeline;                   ///< as simulated
};

/// A strategy that cannot do the job.
struct Refused {
  std::string strategy;  ///< its name
  std::string reason;    ///< why, and what would help
};

/// Every strategy for a job on a profile, best first, and what the ranking rests on.
struct Plan {
  std::string job;                       ///< its name
  std::string profile;                   ///< its name
  std::string profile_hash;              ///< parameter_hash of it
  std::string kernel_cost_origin;        ///< KernelCost::origin
  Interval<Seconds> bound;               ///< the time to beat: see Bound
  std::string bound_by;                  ///< "copies in both directions" or "kernel"
  std::vector<Candidate> candidates;     ///< best of each strategy first, then by predicted time; at least one
  std::vector<Refused> refused;          ///< strategies that cannot do this job
  std::vector<std::string> assumptions;  ///< one sentence each, of what was taken for granted
  std::string why;                       ///< one paragraph

  /// The first of `candidates`.
  const Candidate& best() const { return candidates.front(); }
};

/// The time to beat: max(whole kernel on resident data, both whole-array copies at once in opposite directions),
/// simulated.
struct Bound {
  Interval<Seconds> time;  ///< the larger of the two, with the profile's uncertainty
  Seconds kernel{0};       ///< of all items on resident data
  Seconds copies{0};       ///< all of them, both ways at once
};
/// Throws Unsupported naming the link that the profile does not have.
Bound bound(const Job&, const Profile&, std::uint32_t gpus = 1);
/// The schedule whose makespan, held, is the copies' part of the bound; empty of ops when nothing is copied. Buffers:
/// the job's arrays, then scratch. Arrays larger than the device memory that may be used go through a buffer that fits.
/// Several GPUs copy equal parts.
Schedule duplex_schedule(const Job&, Bytes device_memory, std::uint32_t gpus = 1);

/// Ranks. Throws UsageError when nothing that was asked for exists and Unsupported when nothing can be done.
Plan plan(const Job&, const Profile&, const PlanOptions& = {});

/// Predicted time of one choice with its range (sensitivities to the profile's intervals, added in quadrature).
/// `limits` must be those under which the choice will run: they set the ring.
Candidate predict(const Job&, const Profile&, const Choice&, const Limits& limits);
Candidate predict(const Job&, const Profile&, const Choice&);  ///< under `limits_of(profile)`

/// Every part of it, for people too.
Json to_json(const Choice&);
/// What to_json(const Choice&) wrote. Throws Error that names the key.
Choice choice_from_json(const JsonReader&);
/// Each cause, and the total.
Json to_json(const Distance&);
/// Without its timeline.
Json to_json(const Candidate&);
/// With schema and version.
Json to_json(const Plan&);

}  // namespace shiplap
