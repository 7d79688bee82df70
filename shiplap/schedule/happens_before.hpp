// Whether an op of a schedule has ended before another op starts, by stream order and dependencies alone.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Vector clocks over lanes. A lane is a stream, or the ops that an agent performs itself one after the other. The
/// clock of an op holds for each lane the number of the lane's ops that have ended before the op starts. An op that
/// waits for a copy of a batch waits for all of the batch. All ids of the schedule must exist, batches must be sound,
/// and every dependency must be on an earlier op. Keeps a reference to the schedule.
class HappensBefore {
 public:
  explicit HappensBefore(const Schedule&);

  /// Computes the clock of the op. Must be called for every op in the order of the schedule.
  void visit(OpId);
  /// Adds a dependency on `earlier` to `op`, which must be the op visited last.
  void add(OpId op, OpId earlier);
  /// Whether `earlier` has ended before `later` starts. `later` must be the op visited last.
  bool operator()(OpId earlier, OpId later) const {
    const LanePosition& at = positions_[earlier.index()];
    return clocks_[later.index()][at.lane] >= at.position;
  }

 private:
  using Clock = std::vector<std::uint32_t>;
  struct LanePosition {
    std::uint32_t lane;
    std::uint32_t position;  // in the lane, from 1
  };
  void include(Clock&, OpId) const;

  const Schedule& schedule_;
  std::vector<LanePosition> positions_;
  std::vector<OpId> previous_;  // the op before in the same lane
  std::vector<OpId> last_use_;  // the last op that needs the clock of this op, which is freed then
  std::vector<Clock> clocks_;
  std::size_t lanes_ = 0;
};

}  // namespace shiplap
