#include "shiplap/device/list_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"

namespace shiplap {

ListCheck::ListCheck(const Schedule& schedule, const Bindings& bindings) {
  if (bindings.lists.size() > schedule.lists.size())
    throw Error(fmt::format("the schedule has {} block lists, and indices are bound for {}; bind those of its lists",
                            schedule.lists.size(), bindings.lists.size()));
  std::vector<std::uint64_t> pool_blocks(schedule.lists.size(), ~std::uint64_t{0});
  std::vector<bool> written(schedule.lists.size());
  for (const Op& op : schedule.ops) {
    const auto* blocks = std::get_if<BlockCopy>(&op.what);
    if (blocks == nullptr) continue;
    const BlockList& list = schedule.lists[blocks->list.index()];
    const std::uint64_t starts = blocks_of_pool(blocks->pool.length, list.block, list.pitch);
    pool_blocks[blocks->list.index()] = std::min(pool_blocks[blocks->list.index()], starts);
    if (!blocks->gather) written[blocks->list.index()] = true;
  }
  for (std::size_t i = 0; i < schedule.lists.size(); ++i) {
    const BlockList& list = schedule.lists[i];
    const auto bound = i < bindings.lists.size() ? bindings.lists[i] : std::span<const std::uint32_t>();
    if (list.regular && !bound.empty())
      throw Error(fmt::format("list {} is regular in the schedule, and {} indices are bound to it; bind none",
                              list.name, bound.size()));
    if (list.regular || pool_blocks[i] == ~std::uint64_t{0}) continue;
    if (bound.size() != list.count)
      throw Error(
          fmt::format("list {} has {} blocks in the schedule, and {} indices are bound to it; bind one for "
                      "each block",
                      list.name, list.count, bound.size()));
    lists_.push_back({.name = list.name, .indices = bound, .pool_blocks = pool_blocks[i]});
    if (written[i]) lists_.back().named.resize(pool_blocks[i]);
  }
}

void ListCheck::check() {
  for (List& list : lists_) {
    require_within(list.name, list.indices, list.pool_blocks);
    if (!list.named.empty()) require_named_once(list.name, list.indices, list.named);
  }
}

void require_within(std::string_view list, std::span<const std::uint32_t> indices, std::uint64_t pool_blocks) {
  const auto outside = std::ranges::find_if(indices, [&](std::uint32_t index) { return index >= pool_blocks; });
  if (outside != indices.end())
    throw UsageError(fmt::format(
        "list {}: index {} at position {} is outside of the pool, which has blocks 0 to {}; use one of these", list,
        *outside, outside - indices.begin(), pool_blocks - 1));
}

void require_named_once(std::string_view list, std::span<const std::uint32_t> indices, std::vector<bool>& named) {
  std::size_t again = indices.size();
  for (std::size_t i = 0; i < indices.size() && again == indices.size(); ++i) {
    if (named[indices[i]]) again = i;
    named[indices[i]] = true;
  }
  for (const std::uint32_t index : indices) named[index] = false;
  if (again == indices.size()) return;
  const std::uint32_t block = indices[again];
  throw UsageError(fmt::format(
      "list {}: positions {} and {} both name block {}, and blocks are written to the pool, so its content would "
      "be undefined; name every block once",
      list, std::ranges::find(indices, block) - indices.begin(), again, block));
}

}  // namespace shiplap
