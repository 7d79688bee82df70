#include "shiplap/device/list_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"

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
    const std::uint64_t starts = (blocks->pool.length - list.block).count / list.pitch.count + 1;
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
  for (List& list : lists_) check(list);
}

void ListCheck::check(List& list) {
  const auto outside =
      std::ranges::find_if(list.indices, [&](std::uint32_t index) { return index >= list.pool_blocks; });
  if (outside != list.indices.end())
    throw UsageError(fmt::format(
        "list {}: index {} at position {} is outside of the pool, which has blocks 0 to {}; use one of these",
        list.name, *outside, outside - list.indices.begin(), list.pool_blocks - 1));
  if (!list.named.empty()) check_named_once(list);
}

void ListCheck::check_named_once(List& list) {
  std::size_t again = list.indices.size();
  for (std::size_t i = 0; i < list.indices.size() && again == list.indices.size(); ++i) {
    if (list.named[list.indices[i]]) again = i;
    list.named[list.indices[i]] = true;
  }
  for (const std::uint32_t index : list.indices) list.named[index] = false;
  if (again == list.indices.size()) return;
  const std::uint32_t block = list.indices[again];
  throw UsageError(fmt::format(
      "list {}: positions {} and {} both name block {}, and blocks are written to the pool, so its content would "
      "be undefined; name every block once",
      list.name, std::ranges::find(list.indices, block) - list.indices.begin(), again, block));
}

}  // namespace shiplap
