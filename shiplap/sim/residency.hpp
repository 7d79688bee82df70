// The places of the pages of managed memory while a schedule runs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap::sim {

/// Pages move in the order of the schedule's ops: in a sound schedule, ops that touch the same pages run in that order.
class Residency {
 public:
  explicit Residency(const Schedule&);

  /// Whether the buffer is in managed memory whose pages move to where they are accessed.
  bool is_managed(BufferId) const;
  /// Moves the region to `to`. Returns the bytes that were elsewhere.
  Bytes move(const Region&, Place to);

 private:
  struct Stretch {
    std::uint64_t end = 0;  // one past the last byte
    Place place;
  };
  using Stretches = std::map<std::uint64_t, Stretch>;  // by first byte; together they cover the whole buffer
  static void split(Stretches&, std::uint64_t at);

  std::vector<Stretches> buffers_;  // by buffer; empty for memory whose pages do not move
};

}  // namespace shiplap::sim
