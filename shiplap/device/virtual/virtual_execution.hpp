// Runs of a schedule on the virtual device. Bytes are moved when a run is submitted, and its times are simulated
// together with the runs that are in its streams.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/execution.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {

/// The streams of one execution, or of several that share them, and the host's clock.
class VirtualStreams {
 public:
  explicit VirtualStreams(std::shared_ptr<const Profile> profile) : profile_(std::move(profile)) {}

  const Profile* profile() const { return profile_.get(); }
  /// The streams of all schedules that were made for them, by StreamId.
  std::vector<Stream> streams{};

  /// A run of one of the executions that share the streams.
  struct Run {
    std::uint64_t number = 0;
    Schedule schedule{};
    /// The last run that the host knew to have ended when it submitted this one.
    std::optional<std::uint64_t> behind{};
    bool has_ended = false;  ///< the host has waited for its end
    Seconds end{0};          ///< its end, counted from when the streams were made
    Timeline timeline{};     ///< its timeline, counted from when its first stream came to it
  };
  /// Adds a run behind those that are there, and simulates it together with the last of them.
  const Run& submit(Schedule);
  /// The host waits for the end of a run. Returns the host's clock then.
  Seconds wait(std::uint64_t number);
  /// The host waits for `time`, the time of a run that nothing else runs beside. Returns the host's clock then.
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
  /// The schedule is sound, the bindings fit it, and its streams are among the shared ones.
  VirtualExecution(std::shared_ptr<const Profile>, Schedule, Bindings, std::shared_ptr<VirtualStreams>);

  ~VirtualExecution() override;
  VirtualExecution(const VirtualExecution&) = delete;
  VirtualExecution& operator=(const VirtualExecution&) = delete;

  void submit(const RunOptions&) override;
  RunResult wait() override;
  const Schedule& schedule() const { return schedule_; }
  /// Whether a run is in flight that others in the same streams would not know of.
  bool has_unshared_run_in_flight() const { return submitted_ && !run_; }
  const std::shared_ptr<VirtualStreams>& streams() const { return streams_; }

 private:
  Seconds end_of(StreamId, const Timeline&) const;
  std::byte* at(const Region& region) const { return bindings_.buffers[region.buffer.index()] + region.offset.count; }
  /// Moves the bytes of all ops. Returns the schedule with the times that its kernels tell themselves; nullopt when
  /// none does.
  std::optional<Schedule> perform(const RunOptions&);
  std::optional<Seconds> perform(const Kernel&) const;

  std::shared_ptr<const Profile> profile_;
  Schedule schedule_;
  Bindings bindings_;
  std::shared_ptr<VirtualStreams> streams_;
  Prediction stated_;                   // a free run, with the kernel times that the schedule states
  std::optional<Prediction> held_;      // a held run; nullopt when the schedule cannot be held
  std::vector<std::uint32_t> order_;    // ops in the order of their starts
  std::optional<std::uint64_t> run_;    // the number of the last run, when the streams are shared
  std::optional<RunResult> submitted_;  // the result of a run that was not waited for yet
};

}  // namespace shiplap
