#include <algorithm>
#include <span>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/interpolation.hpp"
#include "shiplap/profile/block_model.hpp"

namespace shiplap {
namespace {

double between(double x, double x0, double y0, double x1, double y1) { return y0 + (y1 - y0) * (x - x0) / (x1 - x0); }

BlockCost between(double x, double x0, const BlockCost& a, double x1, const BlockCost& b) {
  return {.time = Seconds{std::max(0.0, between(x, x0, a.time.count(), x1, b.time.count()))},
          .call = Seconds{std::max(0.0, between(x, x0, a.call.count(), x1, b.call.count()))}};
}

/// Two neighbouring entries around a value, or the last two for a value above all.
auto around(const auto& entries, double value, const auto& key) {
  return neighbours(entries, value, key, BeyondLast::last_two_rows);
}

template <class T>
Interval<T> mixed(const Interval<T>& a, const Interval<T>& b, double part) {
  return {on_line(a.value, b.value, part), on_line(a.low, b.low, part), on_line(a.high, b.high, part)};
}
MoveDelay mixed(const MoveDelay& a, const MoveDelay& b, double part) {
  return {.per_move = mixed(a.per_move, b.per_move, part),
          .per_block = mixed(a.per_block, b.per_block, part),
          .per_mib = mixed(a.per_mib, b.per_mib, part)};
}
Interval<double> scaled(const Interval<double>& a, double factor) {
  return {a.value * factor, a.low * factor, a.high * factor};
}

using Rows = std::span<const BlockTime>;

/// The longest run of rows from the first one on that have the same key.
template <class Key>
Rows same_at_front(Rows rows, const Key& key) {
  const auto end = std::ranges::find_if(rows, [&](const BlockTime& row) { return key(row) != key(rows.front()); });
  return rows.first(static_cast<std::size_t>(end - rows.begin()));
}

template <class Key>
std::vector<Rows> split(Rows rows, const Key& key) {
  std::vector<Rows> parts;
  for (; !rows.empty(); rows = rows.subspan(parts.back().size())) parts.push_back(same_at_front(rows, key));
  return parts;
}

BlockCost of_row(const BlockTime& row) { return {.time = row.time.value, .call = row.call.value}; }

/// The cost of `blocks` blocks by rows of one grid and one size of a block.
BlockCost by_count(Rows rows, std::uint64_t blocks) {
  const auto key = [](const BlockTime& row) { return static_cast<double>(row.blocks); };
  const double n = static_cast<double>(blocks);
  const auto [low, high] = around(rows, n, key);
  // With a single row, more blocks are assumed to take as long as that row each.
  if (low == high && n > key(*low))
    return {.time = of_row(*low).time * (n / key(*low)), .call = of_row(*low).call * (n / key(*low))};
  if (low == high) return of_row(*low);
  return between(n, key(*low), of_row(*low), key(*high), of_row(*high));
}

/// The cost by rows of one grid.
BlockCost by_size(Rows rows, Bytes block, std::uint64_t blocks) {
  const std::vector<Rows> sizes = split(rows, [](const BlockTime& row) { return row.block; });
  const auto key = [](const Rows& size) { return in_bytes(size.front().block); };
  const auto [low, high] = around(sizes, in_bytes(block), key);
  const BlockCost below = by_count(*low, blocks);
  if (low == high) return below;
  return between(in_bytes(block), key(*low), below, key(*high), by_count(*high, blocks));
}

}  // namespace

BlockCost block_cost(const std::vector<BlockTime>& rows, std::uint32_t grid, Bytes block, std::uint64_t blocks) {
  if (rows.empty()) throw Error("a table of times of moving blocks has no row; measure the node");
  const std::vector<Rows> grids = split(rows, [](const BlockTime& row) { return row.grid; });
  const auto key = [](const Rows& of) { return static_cast<double>(of.front().grid); };
  const auto [low, high] = around(grids, grid, key);
  const BlockCost below = by_size(*low, block, blocks);
  if (low == high) return below;
  const BlockCost above = by_size(*high, block, blocks);
  if (grid >= key(*high) || below.time.count() <= 0 || above.time.count() <= 0) return above;
  const double rate = between(grid, key(*low), 1 / below.time.count(), key(*high), 1 / above.time.count());
  return {.time = Seconds{1 / rate}, .call = between(grid, key(*low), below, key(*high), above).call};
}

std::vector<std::uint32_t> grids_of(const std::vector<BlockTime>& rows) {
  std::vector<std::uint32_t> grids;
  for (const BlockTime& row : rows)
    if (grids.empty() || grids.back() != row.grid) grids.push_back(row.grid);
  return grids;
}

std::optional<MutualSlowdown> beside_at(const std::vector<MutualSlowdown>& rows, std::uint32_t grid) {
  const bool has_copies = !rows.empty() && rows.front().grid == 0;
  if (grid == 0) return has_copies ? std::optional(rows.front()) : std::nullopt;
  const std::span<const MutualSlowdown> kernels = std::span(rows).subspan(has_copies ? 1 : 0);
  if (kernels.empty()) return std::nullopt;
  const auto key = [](const MutualSlowdown& row) { return static_cast<double>(row.grid); };
  const auto [low, high] = around(kernels, grid, key);
  MutualSlowdown at = *high;
  at.grid = grid;
  if (low == high && grid < kernels.front().grid) {
    at.compute = scaled(at.compute, grid / key(kernels.front()));
    at.memory = scaled(at.memory, grid / key(kernels.front()));
  }
  if (low == high || grid >= key(*high)) return at;
  const double part = between(grid, key(*low), 0, key(*high), 1);
  const MutualSlowdown& a = *low;
  const MutualSlowdown& b = *high;
  at.compute = mixed(a.compute, b.compute, part);
  at.memory = mixed(a.memory, b.memory, part);
  at.added.reset();
  if (a.added && b.added)
    at.added = {.wait = mixed(a.added->wait, b.added->wait, part),
                .compute = mixed(a.added->compute, b.added->compute, part),
                .memory = mixed(a.added->memory, b.added->memory, part)};
  return at;
}

Interval<double> added_to_neighbour(const MutualSlowdown& beside, const Neighbour& neighbour) {
  return mixed(beside.compute, beside.memory, neighbour.memory_bound);
}

Interval<Seconds> added_to_move(const AddedToMover& added, const Neighbour& neighbour, const MovedBlocks& moved) {
  const MoveDelay beside = mixed(added.compute, added.memory, neighbour.memory_bound);
  // Blocks that move in calls of their own have the cost of a call each, and that of a block is part of it.
  const double calls = static_cast<double>(moved.calls);
  const double blocks = moved.calls > 1 ? 0.0 : static_cast<double>(moved.blocks);
  const double mib = in_bytes(moved.block * moved.blocks) / in_bytes(1_MiB);
  const auto at = [&](Seconds per_move, Seconds per_block, Seconds per_mib, double wait) {
    return per_move * calls + per_block * blocks + per_mib * mib + neighbour.thread_block * wait;
  };
  return {at(beside.per_move.value, beside.per_block.value, beside.per_mib.value, added.wait.value),
          at(beside.per_move.low, beside.per_block.low, beside.per_mib.low, added.wait.low),
          at(beside.per_move.high, beside.per_block.high, beside.per_mib.high, added.wait.high)};
}

}  // namespace shiplap
