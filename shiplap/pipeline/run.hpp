// Runs a workload on a device under a choice: allocates, fills, runs, verifies, and reports predicted beside observed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/plan/plan.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap {

/// A workload with its memory on a device, ready to be run under different choices.
class Pipeline {
 public:
  /// Allocates and fills the arrays.
  Pipeline(Device&, Workload);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  const Workload& workload() const { return workload_; }

  /// Kernel time on resident data at up to 3 sizes (a block for each multiprocessor, one wave of blocks, and the whole
  /// job or what fits), at one of them with few blocks too; event-timed, median of `repeats`: the only thing of a job
  /// that may be measured before it is planned. Its launch latency is measured beside it and taken off.
  KernelCost probe_kernel(const Limits&, unsigned repeats = 7);
  void set_cost(KernelCost cost) { workload_.job.cost = std::move(cost); }

  /// A choice ready to run; device buffers live as long as it does. Throws as the strategy and the device do.
  class Prepared {
   public:
    /// Pages of managed arrays are brought back to the host first.
    RunResult run(const RunOptions& = {});
    const Schedule& schedule() const { return schedule_; }

   private:
    friend class Pipeline;
    Schedule schedule_;
    std::vector<Memory> device_memory_;
    std::unique_ptr<Execution> bring_back_;  ///< none without managed arrays
    std::unique_ptr<Execution> execution_;
  };
  Prepared prepare(const Choice&, const Limits&);
  /// The two parts of the bound as schedules to be run beside a choice: copies in both directions, and the whole
  /// kernel.
  Prepared prepare_duplex(const Limits&);
  Prepared prepare_kernel(const Limits&);

  /// Refills the arrays, so that a run that wrote nothing cannot pass.
  void refill();
  /// "" when the outputs equal the host reference, else what differs first.
  std::string verify() const;

 private:
  /// Memory for the schedule's buffers, of which the first are `given`.
  Prepared bind(Schedule, const std::vector<Memory>& given);
  void load_resident(const Prepared&);
  Schedule kernel_schedule(std::uint64_t items, std::uint32_t pieces, const Limits&, std::uint64_t blocks) const;
  Device& device_;
  Workload workload_;
  std::vector<Memory> arrays_;
};

/// What a run of `repeat` repetitions observed, beside the prediction.
struct RunReport {
  std::string workload;
  std::string device;
  Choice choice;
  std::optional<Candidate> predicted;  ///< absent without a profile
  std::vector<double> samples_ms;      ///< event-timed makespans
  Estimate observed_ms;
  std::vector<double> bound_samples_ms;  ///< measured interleaved with the runs
  Estimate bound_ms;
  double efficiency = 0;  ///< bound / observed
  bool verified = false;
  std::string difference;  ///< what differs, when not verified
  Schedule schedule;
  Timeline timeline;         ///< of one further run, traced
  std::string trace_source;  ///< what its spans were observed by
};
struct RunPlan {
  Choice choice;
  std::optional<Candidate> predicted;
  unsigned repeat = 21;
  unsigned warm_up = 3;
  bool trace = false;
};
RunReport run(Pipeline&, Device&, const Limits&, const RunPlan&);
Json to_json(const RunReport&);

}  // namespace shiplap
