// Where the pages of managed memory are while a schedule runs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap::sim {

/// Moves in the order of the schedule: ops that reach the same pages are ordered that way too, or the schedule is not
/// sound.
class Residency {
 public:
  explicit Residency(const Schedule&);

  bool is_managed(BufferId) const;
  /// The bytes of the region that were elsewhere; from then on it is at `to`.
  Bytes move(const Region&, Place to);

 private:
  struct Stretch {
    std::uint64_t end = 0;
    Place place;
  };
  using Stretches = std::map<std::uint64_t, Stretch>;  // by their first byte; without holes
  static void split(Stretches&, std::uint64_t at);

  std::vector<Stretches> buffers_;  // empty for memory that is not managed
};

}  // namespace shiplap::sim
