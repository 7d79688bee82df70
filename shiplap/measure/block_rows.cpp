// Primitives of scattered blocks: what moves them, and how long the calls take.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/block_points.hpp"

namespace shiplap {
namespace {

/// Most copies in a graph. Graphs of more nodes take long to make, and show the same time for each node.
constexpr std::uint64_t most_copies_in_graph = 256;

using BlockCounts = std::vector<std::uint64_t>;
const std::vector<std::uint32_t> no_grids{0};

/// Points of these sizes and counts as far as the blocks fit, for each grid. Grid 0 means that the mover has no grid.
std::vector<Point> block_points(const Setting& setting, const std::vector<Bytes>& sizes, const BlockCounts& counts,
                                const std::vector<std::uint32_t>& grids = no_grids) {
  const Bytes pool = pool_of(setting);
  std::vector<Point> points;
  for (const std::uint32_t grid : grids)
    for (const Bytes block : sizes)
      for (const std::uint64_t blocks : counts) {
        if (block * blocks > pool / pool_over_blocks) continue;
        Arguments arguments{
            {"block", in_bytes(block)}, {"blocks", static_cast<double>(blocks)}, {"pool", in_bytes(pool)}};
        if (grid > 0) arguments["grid"] = grid;
        points.push_back({fmt::format("{} x {}{}", to_string(block), blocks,
                                      grid > 0 ? fmt::format(", {} thread blocks", grid) : ""),
                          {std::move(arguments)}});
      }
  if (points.empty())
    throw Unsupported(fmt::format("the largest copy asked for, {}, leaves no pool of blocks", to_string(pool)));
  return points;
}

// Copies and batches change over from the cost of a copy to that of its bytes between 4 KiB and 256 KiB.
std::vector<Bytes> sizes_of_copies(const Setting& setting) {
  if (quick(setting)) return {4_KiB, 64_KiB, 1_MiB};
  return {256_B, 1_KiB, 4_KiB, 8_KiB, 16_KiB, 32_KiB, 64_KiB, 128_KiB, 256_KiB, 1_MiB, 4_MiB};
}
// More copies take so long that they would be most of the measurement, and the time is proportional to them.
std::vector<Point> points_of_copies(const Setting& setting) {
  return block_points(setting, sizes_of_copies(setting),
                      quick(setting) ? BlockCounts{1, 256} : BlockCounts{1, 16, 256, 4096});
}
std::vector<Point> points_of_batches(const Setting& setting) {
  return block_points(setting, sizes_of_copies(setting),
                      quick(setting) ? BlockCounts{1, 16, 256, 4096} : BlockCounts{1, 16, 256, 4096, 65536});
}
std::vector<Point> points_of_strided_copies(const Setting& setting) {
  return quick(setting) ? block_points(setting, {4_KiB, 64_KiB, 1_MiB}, {1, 16, 256})
                        : block_points(setting, powers_of_two(256_B, 4_MiB, 2), {1, 16, 256, 4096, 65536});
}
std::vector<Point> points_of_kernels(const Setting& setting) {
  if (quick(setting))
    return block_points(setting, {4_KiB, 64_KiB}, {1, 64, 2048}, grids_up_to_all_sms(setting, {2, 8}));
  return block_points(setting, {256_B, 1_KiB, 4_KiB, 16_KiB, 64_KiB, 1_MiB}, {1, 16, 256, 4096},
                      grids_up_to_all_sms(setting, {1, 2, 4, 8, 32}));
}
std::vector<Point> points_of_pageable_copies(const Setting& setting) {
  not_in_quick(setting);
  return block_points(setting, {4_KiB, 64_KiB, 1_MiB}, {1, 16, 256});
}
std::vector<Point> points_of_managed_pools(const Setting& setting) {
  not_in_quick(setting);
  return block_points(setting, {4_KiB, 64_KiB, 1_MiB}, {1, 64}, grids_up_to_all_sms(setting, {8}));
}
std::vector<Point> points_of_host_threads(const Setting& setting) {
  return quick(setting) ? block_points(setting, {4_KiB, 64_KiB}, {1, 256})
                        : block_points(setting, {256_B, 1_KiB, 4_KiB, 64_KiB, 1_MiB}, {1, 16, 256, 4096, 65536});
}
// The time of the calls depends on the number of blocks and hardly on their size.
std::vector<Point> points_of_calls(const Setting& setting) {
  return quick(setting) ? block_points(setting, {4_KiB}, {1, 256})
                        : block_points(setting, {256_B, 4_KiB, 64_KiB}, {1, 16, 256, 4096});
}
std::vector<Point> points_of_launches(const Setting& setting) {
  const std::vector<std::uint32_t> grid = grids_up_to_all_sms(setting, {});
  return quick(setting) ? block_points(setting, {4_KiB}, {1, 256, 2048}, grid)
                        : block_points(setting, {256_B}, {1, 16, 256, 4096, 65536}, grid);
}
std::vector<Point> points_of_graphs(const Setting& setting) {
  not_in_quick(setting);
  return block_points(setting, {4_KiB, 64_KiB}, {16, most_copies_in_graph});
}
std::vector<Point> points_of_both_by_kernel(const Setting& setting) {
  not_in_quick(setting);
  return block_points(setting, {4_KiB, 64_KiB}, {256}, grids_up_to_all_sms(setting, {4, 8, 32}));
}
std::vector<Point> points_of_both_by_batch(const Setting& setting) {
  require_two_engines(setting);
  not_in_quick(setting);
  return block_points(setting, {4_KiB, 64_KiB, 256_KiB}, {256});
}

using MakeMoves = Trial (*)(const BlockMoves&);
/// Moves by this mover, from or to a pool in memory of this kind.
auto blocks_by(Mover::Kind kind, MemoryKind memory = MemoryKind::pinned, MakeMoves make = move_blocks) {
  return [=](CopyDirection way, MeasurableDevice&, const Arguments& arguments) {
    BlockMoves moves = moves_of(arguments, way == host_to_device, kind);
    moves.memory = memory;
    return make(moves);
  };
}
auto blocks_both_ways(Mover::Kind kind) {
  return [kind](MeasurableDevice&, const Arguments& arguments) {
    return move_blocks_both_ways(moves_of(arguments, true, kind));
  };
}

}  // namespace

std::vector<PrimitiveRow> block_rows() {
  using enum Mover::Kind;
  constexpr HostClock clock = HostClock::submission;
  constexpr MemoryKind pinned = MemoryKind::pinned;
  RowTable rows;
  for (const CopyDirection way : both_directions) {
    rows.add_way(way, "blocks.copies.{h2d|d2h}", "scattered blocks, each by a copy of its own", points_of_copies,
                 blocks_by(copies));
    rows.add_way(way, "blocks.batch.{h2d|d2h}", "scattered blocks as a batch of copies", points_of_batches,
                 blocks_by(batch));
    rows.add_way(way, "blocks.strided.{h2d|d2h}", "blocks at equal distances by one copy", points_of_strided_copies,
                 blocks_by(strided));
    rows.add_way(way, "blocks.kernel.{h2d|d2h}", "scattered blocks by a zero-copy kernel", points_of_kernels,
                 blocks_by(kernel));
    rows.add_way(way, "blocks.copies.pageable.{h2d|d2h}",
                 "scattered blocks of pageable memory, each by a copy of its own", points_of_pageable_copies,
                 blocks_by(copies, MemoryKind::pageable));
    rows.add_way(way, "blocks.kernel.managed.{h2d|d2h}", "scattered blocks of managed memory on the host by a kernel",
                 points_of_managed_pools, blocks_by(kernel, MemoryKind::managed));
    rows.add_way(way, "blocks.host.{h2d|d2h}",
                 "a host thread that {gathers blocks into|scatters blocks of} contiguous memory",
                 points_of_host_threads, blocks_by(copies, pinned, move_blocks_by_host), HostClock::operation);
    rows.add_way(way, "blocks.graph.{h2d|d2h}", "scattered blocks by the copies of a graph", points_of_graphs,
                 blocks_by(copies, pinned, move_blocks_in_graph));
    rows.add_way(way, "submit.blocks.copies.{h2d|d2h}", "host time to submit a copy for each block", points_of_calls,
                 blocks_by(copies), clock);
    rows.add_way(way, "submit.blocks.batch.{h2d|d2h}", "host time to submit blocks as a batch", points_of_calls,
                 blocks_by(batch), clock);
    rows.add_way(way, "submit.blocks.strided.{h2d|d2h}", "host time to submit a strided copy", points_of_calls,
                 blocks_by(strided), clock);
    rows.add_way(way, "submit.blocks.kernel.{h2d|d2h}", "host time to launch the kernel that moves blocks",
                 points_of_launches, blocks_by(kernel), clock);
  }
  rows.add("blocks.both.kernel", "a kernel that gathers blocks and one that scatters, at once",
           points_of_both_by_kernel, blocks_both_ways(kernel));
  rows.add("blocks.both.batch", "a batch that gathers blocks and one that scatters, at once", points_of_both_by_batch,
           blocks_both_ways(batch));
  return rows.all;
}

}  // namespace shiplap
