// Checks the indices of block lists before each run, so that no op reaches beyond its pool.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shiplap/device/bindings.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// The check of the lists of one schedule. It allocates nothing after its construction.
class ListCheck {
 public:
  /// Throws Error when a list has no indices or another number of them than the schedule says, and when a regular list
  /// has some.
  ListCheck(const Schedule&, const Bindings&);

  /// Throws UsageError that names the list, the position and the index when an index is outside of the pool, or when a
  /// list through which an op writes to the pool names a block twice.
  void check();

 private:
  struct List {
    std::string name;
    std::span<const std::uint32_t> indices;
    std::uint64_t pool_blocks = 0;  ///< number of blocks of the smallest pool that the list is used with
    std::vector<bool> named{};      ///< by block of the pool; empty for a list through which no op writes
  };
  static void check(List&);
  static void check_named_once(List&);

  std::vector<List> lists_;
};

}  // namespace shiplap
