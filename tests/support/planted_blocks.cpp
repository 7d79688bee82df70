#include "tests/support/planted_blocks.hpp"

#include <algorithm>

#include "shiplap/schedule/names.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t largest_total = 1ull << 30;  // bytes of the largest op in the tables

std::vector<BlockTime> rows(const std::vector<std::uint32_t>& grids, const auto& cost) {
  std::vector<BlockTime> all;
  for (const std::uint32_t grid : grids)
    for (Bytes block = 256_B; block <= 4_MiB; block = block * 4)
      for (const std::uint64_t blocks : {1ull, 64ull, 16384ull}) {
        if (blocks > 1 && blocks * block.count > largest_total) continue;
        const BlockCost c = cost(grid, block, blocks);
        all.push_back({.grid = grid,
                       .block = block,
                       .blocks = blocks,
                       .time = Interval<Seconds>::exact(c.time),
                       .call = Interval<Seconds>::exact(c.call)});
      }
  return all;
}

}  // namespace

BlockCost planted_block_cost(const Mover& mover, bool to_device, Bytes block, std::uint64_t blocks) {
  const double n = static_cast<double>(blocks);
  const double b = in_bytes(block);
  const double link = to_device ? 55e9 : 54e9;
  switch (mover.kind) {
    case Mover::Kind::copies:
      return {.time = Seconds{4e-6 + n * (2.7e-6 + b / link)}, .call = Seconds{n * 2.4e-6}};
    case Mover::Kind::batch:
      return {.time = Seconds{8e-6 + n * (0.55e-6 + b / link)}, .call = Seconds{3e-6 + n * 0.5e-6}};
    case Mover::Kind::strided:
      return {.time = Seconds{6e-6 + n * (0.05e-6 + b / link)}, .call = Seconds{3e-6}};
    case Mover::Kind::kernel:
      break;
  }
  const double rate = std::min(to_device ? 49e9 : 51e9, mover.grid * (to_device ? 6.3e9 : 13e9));
  const double small = b < 4096 ? 1 + 128 / b : 1;
  return {.time = Seconds{5e-6 + n * b * small / rate}, .call = Seconds{2e-6 + n * 1e-9}};
}

Seconds planted_host_time(bool gather, Bytes block, std::uint64_t blocks) {
  return Seconds{static_cast<double>(blocks) * (0.15e-6 + in_bytes(block) / (gather ? 9e9 : 8e9))};
}

MoveDelay planted_added(std::uint32_t grid, bool memory_bound) {
  const auto us = [](double value) { return Interval<Seconds>::exact(Seconds{value * 1e-6}); };
  if (grid == 0)
    return memory_bound ? MoveDelay{.per_move = us(4), .per_block = us(0.3), .per_mib = us(2)}
                        : MoveDelay{.per_move = us(1), .per_block = us(0.1), .per_mib = us(0.5)};
  return {.per_move = us(memory_bound ? 3 : 2), .per_block = us(0), .per_mib = us((memory_bound ? 40.0 : 80.0) / grid)};
}

double planted_wait(std::uint32_t grid) { return grid == 0 ? 0 : 0.8; }

BlockModel with_planted_waits(BlockModel model) {
  for (auto* rows : {&model.beside_gather, &model.beside_scatter}) {
    rows->insert(rows->begin(),
                 {.grid = 0, .compute = Interval<double>::exact(0.001), .memory = Interval<double>::exact(0.02)});
    for (MutualSlowdown& row : *rows) {
      row.added = AddedToMover{.wait = Interval<double>::exact(planted_wait(row.grid)),
                               .compute = planted_added(row.grid, false),
                               .memory = planted_added(row.grid, true)};
    }
  }
  return model;
}

BlockModel planted_blocks() {
  BlockModel model;
  const std::vector<std::uint32_t> no_grid{0};
  for (const bool to_device : {true, false}) {
    for (const auto kind : {Mover::Kind::copies, Mover::Kind::batch, Mover::Kind::strided})
      model.movers[name_in_profile({.kind = kind}, MemoryKind::pinned, to_device)] =
          rows(no_grid, [&](std::uint32_t, Bytes block, std::uint64_t blocks) {
            return planted_block_cost({.kind = kind}, to_device, block, blocks);
          });
    model.movers[name_in_profile({.kind = Mover::Kind::kernel}, MemoryKind::pinned, to_device)] =
        rows({1, 2, 4, 8, 32, 132}, [&](std::uint32_t grid, Bytes block, std::uint64_t blocks) {
          return planted_block_cost({.kind = Mover::Kind::kernel, .grid = grid}, to_device, block, blocks);
        });
    model.movers[to_device ? "host pinned h2d" : "host pinned d2h"] =
        rows(no_grid, [&](std::uint32_t, Bytes block, std::uint64_t blocks) {
          return BlockCost{.time = planted_host_time(to_device, block, blocks), .call = {}};
        });
  }
  const auto slowdown = [](std::uint32_t grid, double compute, double memory) {
    return MutualSlowdown{.grid = grid,
                          .compute = Interval<double>::exact(compute),
                          .memory = Interval<double>::exact(memory),
                          .added = AddedToMover{}};
  };
  model.beside_gather = {slowdown(1, 0.001, 0.01), slowdown(8, 0.004, 0.03), slowdown(32, 0.01, 0.45),
                         slowdown(132, 0.015, 1.3)};
  model.beside_scatter = {slowdown(1, 0.001, 0.02), slowdown(8, 0.004, 0.3), slowdown(32, 0.01, 0.6),
                          slowdown(132, 0.015, 0.9)};
  return model;
}

}  // namespace shiplap
