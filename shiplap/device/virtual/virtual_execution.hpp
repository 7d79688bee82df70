// Runs of a schedule on the virtual device: its bytes are moved when it is submitted, its times are simulated together
// with what is in its queues.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {

/// The queues of one execution, or of several that are submitted one behind another, and the host's clock.
class VirtualQueues {
 public:
  explicit VirtualQueues(std::shared_ptr<const Profile> profile) : profile_(std::move(profile)) {}

  const Profile* profile() const { return profile_.get(); }
  /// Of all schedules that were made for them, in the order of their numbers.
  std::vector<Queue> queues{};

  /// A run of one of the executions that share the queues.
  struct Run {
    std::uint64_t number = 0;
    Schedule schedule{};
    std::optional<std::uint64_t>
        behind{};            ///< the last run that the host knew to have ended when it submitted this one
    bool has_ended = false;  ///< as the host knows
    Seconds end{0};          ///< since the queues were made
    Timeline timeline{};     ///< since its first queue got to it
  };
  /// Behind those that are there. It is simulated together with the last of them: what lies further back makes no
  /// difference any more.
  const Run& submit(Schedule);
  /// The host waits for the end of a run. Its clock then.
  Seconds wait(std::uint64_t number);
  /// The host waits that long for what runs alone. Its clock then.
  Seconds pass(Seconds time) { return now_ += time; }

 private:
  const Run& simulate_last();

  std::shared_ptr<const Profile> profile_;
  std::deque<Run> runs_;
  std::uint64_t next_ = 0;
  Seconds now_{0};
};

class VirtualExecution final : public Execution {
 public:
  /// Of a sound schedule with bindings that fit it, and whose queues the shared ones have.
  VirtualExecution(std::shared_ptr<const Profile>, Schedule, Bindings, std::shared_ptr<VirtualQueues>);

  /// What is in flight is waited for.
  ~VirtualExecution() override;
  VirtualExecution(const VirtualExecution&) = delete;
  VirtualExecution& operator=(const VirtualExecution&) = delete;

  void submit(const RunOptions&) override;
  RunResult wait() override;
  const Schedule& schedule() const { return schedule_; }
  /// Whether a run is in flight that others in the same queues would not know of.
  bool runs_unseen() const { return submitted_ && !run_; }
  const std::shared_ptr<VirtualQueues>& queues() const { return queues_; }

 private:
  Seconds end_of(QueueId, const Timeline&) const;
  std::byte* at(const Region& region) const { return bindings_.buffers[region.buffer.index()] + region.offset.count; }
  /// Moves the bytes of all ops. The schedule with the times that kernels tell themselves, where there are any.
  std::optional<Schedule> perform(const RunOptions&);
  std::optional<Seconds> perform(const Kernel&) const;

  std::shared_ptr<const Profile> profile_;
  Schedule schedule_;
  Bindings bindings_;
  std::shared_ptr<VirtualQueues> queues_;
  Prediction stated_;                 // free-running, kernels as the schedule has them
  std::optional<Prediction> held_;    // where it can be
  std::vector<std::uint32_t> order_;  // ops as they start
  std::optional<std::uint64_t> run_;  // of the queues, where they are shared
  std::optional<RunResult> submitted_;
};

}  // namespace shiplap
