// Checks the indices of block lists before each run, so that no op reaches beyond its pool.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/device/bindings.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Throws UsageError that names the list, the position and the index when an index is not below `pool_blocks`.
void require_within(std::string_view list, std::span<const std::uint32_t> indices, std::uint64_t pool_blocks);
/// Throws UsageError that names the list and the positions when a block is named twice. `named` has an entry for each
/// block of the pool; all are false, before and afterwards.
void require_named_once(std::string_view list, std::span<const std::uint32_t> indices, std::vector<bool>& named);

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
  std::vector<List> lists_;
};

}  // namespace shiplap
