// Runs of a schedule on the virtual device. Submitting a run moves the bytes and simulates its times together with the
// other runs in its streams.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/execution.hpp"
#include "shiplap/device/list_check.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {

/// The streams that one or several executions use, and the simulated clock of the host.
class VirtualStreams {
 public:
  explicit VirtualStreams(std::shared_ptr<const Profile> profile) : profile_(std::move(profile)) {}

  const Profile* profile() const { return profile_.get(); }
  /// Streams by StreamId; a schedule with further streams adds them.
  std::vector<Stream> streams{};

  /// A run of one of the executions that share the streams.
  struct Run {
    std::uint64_t number = 0;
    Schedule schedule{};
    /// Number of the last run that the host knew to have ended when it submitted this one.
    std::optional<std::uint64_t> behind{};
    bool has_ended = false;  ///< whether the host has waited for its end
    Seconds end{0};          ///< end of the run, counted from the creation of the streams
    Timeline timeline{};     ///< times relative to the moment when its first stream reached it
  };
  /// Appends a run and simulates it together with the last runs before it.
  const Run& submit(Schedule);
  /// Makes the host wait for the end of a run. Returns the host's clock at that moment.
  Seconds wait(std::uint64_t number);
  /// Advances the host's clock by `time`, the duration of a run with no concurrent run. Returns the clock.
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
  /// Requires a sound schedule, bindings that fit it, and streams that contain those of the schedule.
  VirtualExecution(std::shared_ptr<const Profile>, Schedule, Bindings, std::shared_ptr<VirtualStreams>, VirtualBytes);

  ~VirtualExecution() override;
  VirtualExecution(const VirtualExecution&) = delete;
  VirtualExecution& operator=(const VirtualExecution&) = delete;

  void submit(const RunOptions&) override;
  RunResult wait() override;
  void rebind(const Bindings&) override;
  const Schedule& schedule() const { return schedule_; }
  /// Whether a run is in flight that other executions in the same streams cannot see, because it was submitted before
  /// the streams were shared.
  bool has_unshared_run_in_flight() const { return submitted_ && !run_; }
  const std::shared_ptr<VirtualStreams>& streams() const { return streams_; }

 private:
  Seconds end_of(StreamId, const Timeline&) const;
  std::byte* at(const Region& region) const { return bindings_.buffers[region.buffer.index()] + region.offset.count; }
  /// Moves the bytes of all ops, unless they are left out. Returns the schedule with the times of kernels that have
  /// `KernelBinding::duration`; nullopt when none has.
  std::optional<Schedule> perform(const RunOptions&);
  /// Moves the bytes of an op. Returns the time of a kernel that has `KernelBinding::duration`.
  std::optional<Seconds> perform(OpId) const;
  std::optional<Seconds> perform(const Kernel&) const;
  /// Moves the bytes of a copy.
  void move(const Op&) const;

  std::shared_ptr<const Profile> profile_;
  Schedule schedule_;
  Bindings bindings_;
  std::optional<ListCheck> lists_;  // nullopt when the schedule has no lists
  std::shared_ptr<VirtualStreams> streams_;
  VirtualBytes bytes_;
  Prediction stated_;                   // prediction of a run that is not held, with the kernel times of the schedule
  std::optional<Prediction> held_;      // prediction of a held run; nullopt when the schedule cannot be held
  std::vector<std::uint32_t> order_;    // ops in the order of their starts
  std::optional<std::uint64_t> run_;    // number of the last run, when the streams are shared
  Seconds limit_{0};                    // time limit of that run; 0: none
  std::optional<RunResult> submitted_;  // result of a run that has not been waited for
};

}  // namespace shiplap
