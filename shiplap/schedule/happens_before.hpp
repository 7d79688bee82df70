// Which ops of a schedule have certainly ended before another one starts, by stream order and dependencies alone.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Vector clocks over lanes: each stream is a lane, and so are the host copies of each agent, which performs them one
/// after the other. The clock of an op holds for each lane how many of its ops come before. All ids of the schedule
/// must exist and every dependency be on an earlier op. Refers to the schedule, which must outlive it.
class HappensBefore {
 public:
  explicit HappensBefore(const Schedule&);

  /// Must be called for every op, in their order.
  void visit(OpId);
  /// A dependency that was added to `op`, the op visited last, after its visit.
  void add(OpId op, OpId dependency);
  /// Whether `earlier` has ended before `later`, the op visited last, starts.
  bool operator()(OpId earlier, OpId later) const {
    const Stand& stand = stands_[earlier.index()];
    return clocks_[later.index()][stand.lane] >= stand.position;
  }

 private:
  using Clock = std::vector<std::uint32_t>;
  struct Stand {
    std::uint32_t lane;
    std::uint32_t position;  // from 1
  };
  void include(Clock&, OpId) const;

  const Schedule& schedule_;
  std::vector<Stand> stands_;
  std::vector<OpId> previous_;  // in the same lane
  std::vector<OpId> last_use_;  // the last op that needs the clock of this one; then it is let go
  std::vector<Clock> clocks_;
  std::size_t lanes_ = 0;
};

}  // namespace shiplap
