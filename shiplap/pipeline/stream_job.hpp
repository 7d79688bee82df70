// Streams a user's data through a user's kernel: what is known of the node, a plan for the job, and its runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "shiplap/core/json.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/plan/plan.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {

/// A device and what is known of it. Refers to the device.
struct Node {
  Device* device = nullptr;  ///< not null
  Profile profile;           ///< of the device's node
  Limits limits;             ///< of the profile, and on a real device of the memory that is free when it is made
};
/// With a profile of one's own.
Node node_of(Device&, Profile);
/// The profile is the device's own on a virtual one; on a GPU the kept one of this driver and host, or one measured
/// now, quickly (about 15 s), and kept. `say` is told what happens; without it that goes to stderr.
Node load_or_measure(Device&, const std::function<void(std::string_view)>& say = {});

/// What may be chosen for a job, and how it will be used.
struct JobOptions {
  PlanOptions plan{};         ///< strategies, chunks, layouts, device memory: what is left empty is chosen
  std::uint64_t runs = 1;     ///< how often the same arrays are used: whether it pays to page-lock pageable ones
  bool may_page_lock = true;  ///< whether pageable arrays may be page-locked where that pays over `runs`
  std::uint32_t gpus = 1;     ///< of the device, that share the work
  /// Time of runs in which the best candidates race on the job's own arrays (race.hpp), where no winner of such a job
  /// is kept; 0: the plan decides by what it predicts. What goes in and comes back is as it was afterwards.
  Seconds race{0};
  /// Whether they race although a winner is kept.
  bool race_anew = false;
  ProbeOptions probe{};  ///< what measuring the kernel may take
  /// Runs every chunk of a division into a few by itself, between guards and with poisoned surroundings, and throws
  /// CheckFailed when the kernel reads or writes what the job does not say.
  bool check_reach = false;
};

/// What will be done with a job. A value; it holds no memory.
struct JobPlan {
  Job job;                           ///< as planned: with the kernel's cost and the memory its arrays are in
  Plan ranking;                      ///< of all strategies for that memory
  Candidate chosen;                  ///< what will be done
  Limits limits;                     ///< under which it was planned and is to run
  bool page_locks = false;           ///< arrays are page-locked when the job is prepared, and let go of with it
  Seconds once{0};                   ///< what that is predicted to take
  std::optional<RaceResult> race{};  ///< that chose; none: the plan did

  /// The ranking, the choice and the reasons as text of several lines.
  std::string explain() const;
  /// The plan as to_json(const Plan&) has it, with what was chosen. Times are in milliseconds, named so.
  Json to_json() const;
};

/// Looks up what memory the arrays are in, has the kernel captured once (CUDA) and its times measured unless they are
/// stated, ranks the strategies and has the best race where that is asked for. Throws UsageError for arrays whose
/// whereabouts or reach make no sense, Error when the kernel does more than enqueue, Unsupported when nothing can run
/// it.
JobPlan plan(const Node&, const Job&, const JobOptions& = {});

/// Ready for repeated runs over the arrays of `job`, which has the shape of the planned one.
Prepared prepare(Device&, const JobPlan&, const Job&);

/// What a run observed, beside the prediction.
struct JobReport {
  std::string job;              ///< its name
  std::string device;           ///< id of the device: "cuda:0"
  Choice choice;                ///< what was done
  Interval<Seconds> predicted;  ///< time of a run, for about nine in ten of them
  Seconds observed{0};    ///< makespan, by the device's events or, where host threads take part, by the host's clock
  Seconds submission{0};  ///< host time of all submitting calls
  Seconds host_total{0};  ///< until the host knew the end

  /// One line.
  std::string to_string() const;
  /// With schema and version. Times are in milliseconds, named so.
  Json to_json() const;
};

/// Prepares, runs once and reports. Whoever runs a job again prepares it once.
JobReport run(Device&, const JobPlan&, const Job&, const RunOptions& = {});
/// The same for a run of what was prepared.
JobReport report_of(const Device&, const JobPlan&, const RunResult&);

}  // namespace shiplap
