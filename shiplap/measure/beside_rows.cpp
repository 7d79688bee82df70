// Primitives of movers concurrent with kernels: how much longer each of them takes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "shiplap/core/error.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/block_points.hpp"

namespace shiplap {
namespace {

// --- kernels concurrent with the kernel of a mover

/// Size of a block, and of all blocks.
constexpr Bytes block_beside = 16_KiB;
constexpr Bytes blocks_beside = 32_MiB;
constexpr Bytes block_of_batch_beside = 1_MiB;
/// Numbers of kernels, whose difference contains no start: one kernel may begin before the mover does.
const std::vector<double> kernel_counts{2, 12};
/// Work of one kernel. It takes about 0.1 ms on an H200 and streams five times its L2 cache.
constexpr double streamed_beside = 256.0 * 1024 * 1024;
/// Rates in GB/s, and a time in µs, that determine how many ops of the mover are needed to last longer than the
/// kernels. A PCIe 5 x16 link, as of an H200, is half as fast. Where the mover ends too early, the slowdown is too
/// small.
constexpr double fastest_mover = 110;
constexpr double most_gathered_by_a_block = 7;
constexpr double most_scattered_by_a_block = 14;
constexpr double longest_kernels_us = 5000;
/// Least number of ops, in which each block moves once.
constexpr unsigned fewest_moves = 4;

/// The kernels beside a batch of large blocks, which moves at the rate of the link.
Point beside_batch(Bytes pool) {
  const std::uint64_t blocks = std::min(blocks_beside, pool / pool_over_blocks).count / block_of_batch_beside.count;
  return point_over("batch", "kernels", kernel_counts,
                    {{"grid", 0},
                     {"batch", 1},
                     {"block", in_bytes(block_of_batch_beside)},
                     {"blocks", static_cast<double>(blocks)},
                     {"pool", in_bytes(pool)}});
}

// The kernels alone (grid 0), beside grids, and beside a batch.
std::vector<Point> points_beside_mover(const Setting& setting) {
  std::vector<std::uint32_t> grids = grids_up_to_all_sms(
      setting, quick(setting) ? std::vector<std::uint32_t>{8} : std::vector<std::uint32_t>{1, 2, 4, 8, 32});
  grids.insert(grids.begin(), 0u);
  const Bytes pool = pool_of(setting);
  const std::uint64_t blocks = std::min(blocks_beside, pool / pool_over_blocks).count / block_beside.count;
  if (blocks < fewest_moves)
    throw Unsupported(fmt::format("the largest copy asked for, {}, leaves no pool of blocks", to_string(pool)));
  std::vector<Point> points;
  for (const std::uint32_t grid : grids)
    points.push_back(point_over(grid > 0 ? fmt::format("{} thread blocks", grid) : "alone", "kernels", kernel_counts,
                                {{"grid", grid},
                                 {"block", in_bytes(block_beside)},
                                 {"blocks", static_cast<double>(blocks)},
                                 {"pool", in_bytes(pool)}}));
  if (pool / pool_over_blocks >= block_of_batch_beside * fewest_moves) points.push_back(beside_batch(pool));
  return points;
}
auto beside_mover(ProbeKind kind) {
  return [kind](CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
    const double grid = arguments.at("grid");
    const bool gather = way == host_to_device;
    const bool by_batch = arguments.contains("batch");
    const double of_a_block = gather ? most_gathered_by_a_block : most_scattered_by_a_block;
    const double rate = by_batch ? fastest_mover : std::min(fastest_mover, of_a_block * grid);
    const double needed = longest_kernels_us * 1e3 * rate;  // bytes
    const double of_an_op = in_bytes(bytes_of_blocks(arguments)) / fewest_moves;
    const unsigned moves = std::max(fewest_moves, static_cast<unsigned>(std::ceil(needed / of_an_op)));
    return kernels_beside_mover(device,
                                moves_of(arguments, gather, by_batch ? Mover::Kind::batch : Mover::Kind::kernel),
                                {.kind = kind,
                                 .amount = kind == ProbeKind::stream ? streamed_beside : flops_beside,
                                 .kernels = whole(arguments, "kernels"),
                                 .moves = grid > 0 || by_batch ? moves : 0});
  };
}

// --- a mover concurrent with kernels

/// Least time of all kernels of a neighbour together, in ms on an H200. It is longer than the ops of any mover.
constexpr double neighbour_ms = 6;
/// Times of a kernel with `flops_beside` and of one with `streamed_beside`, in ms on an H200.
constexpr double computing_ms = 0.26;
constexpr double streaming_ms = 0.1;
/// Factor of the work of those computing kernels whose thread blocks take long.
constexpr double long_thread_blocks = 4;

/// A set of blocks that moves concurrently with kernels.
struct SetBeside {
  Bytes block;
  std::uint64_t blocks;
  std::array<double, 2> moves;  ///< numbers of ops, whose difference contains no start
};
constexpr SetBeside short_set{4_KiB, 16, {2, 8}};
/// More blocks than the short set, with which the cost of a block shows.
constexpr SetBeside many_blocks{4_KiB, 256, {2, 8}};
constexpr SetBeside long_set_of_batch{1_MiB, 16, {1, 4}};
/// A set that takes a kernel of this grid many times as long as a thread block of the kernels concurrent with it.
constexpr SetBeside long_set(std::uint32_t grid) { return {16_KiB, std::min(256 * grid, 1024u), {1, 4}}; }

Point point_beside(const Setting& setting, std::uint32_t grid, const SetBeside& set, double work) {
  return point_over(fmt::format("{} x {}{}{}", to_string(set.block), set.blocks,
                                grid > 0 ? fmt::format(", {} thread blocks", grid) : ", batch",
                                work > 1 ? ", long thread blocks" : ""),
                    "moves", {set.moves.begin(), set.moves.end()},
                    {{"grid", grid},
                     {"work", work},
                     {"block", in_bytes(set.block)},
                     {"blocks", static_cast<double>(set.blocks)},
                     {"pool", in_bytes(pool_of(setting))}});
}

std::vector<Point> points_of_moves(const Setting& setting) {
  not_in_quick(setting);
  if (pool_of(setting) < long_set_of_batch.block * long_set_of_batch.blocks * pool_over_blocks)
    throw Unsupported(fmt::format("the largest copy asked for leaves a pool of only {}", to_string(pool_of(setting))));
  std::vector<Point> points;
  for (const std::uint32_t grid : grids_up_to_all_sms(setting, {1, 2, 4, 8, 32}))
    for (const SetBeside& set : {short_set, long_set(grid)}) points.push_back(point_beside(setting, grid, set, 1));
  // The last, because a driver without batches ends the row.
  for (const SetBeside& set : {short_set, many_blocks, long_set_of_batch})
    points.push_back(point_beside(setting, 0, set, 1));
  return points;
}
/// Concurrent with computing kernels, also with long thread blocks: for them a mover waits longer until it has SMs.
std::vector<Point> points_of_moves_beside_computing(const Setting& setting) {
  std::vector<Point> points;
  for (const std::uint32_t grid : grids_up_to_all_sms(setting, {1, 2, 4, 8, 32}))
    points.push_back(point_beside(setting, grid, short_set, long_thread_blocks));
  const std::vector<Point> others = points_of_moves(setting);
  points.insert(points.end(), others.begin(), others.end());
  return points;
}

BlockMoves timed_moves(const Arguments& arguments, CopyDirection way) {
  return moves_of(arguments, way == host_to_device,
                  arguments.at("grid") > 0 ? Mover::Kind::kernel : Mover::Kind::batch);
}
Trial moves_alone(CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
  return moves_beside_kernels(device, timed_moves(arguments, way), {.moves = whole(arguments, "moves")});
}
auto moves_beside(ProbeKind kind) {
  return [kind](CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
    const bool streams = kind == ProbeKind::stream;
    const double work = arguments.at("work");
    const double kernels = neighbour_ms / (work * (streams ? streaming_ms : computing_ms));
    return moves_beside_kernels(device, timed_moves(arguments, way),
                                {.kind = kind,
                                 .amount = work * (streams ? streamed_beside : flops_beside),
                                 .kernels = static_cast<unsigned>(std::ceil(kernels)),
                                 .moves = whole(arguments, "moves")});
  };
}

}  // namespace

std::vector<PrimitiveRow> beside_rows() {
  using Kind = ProbeKind;
  RowTable rows;
  for (const CopyDirection way : both_directions) {
    rows.add_way(way, "beside.{gather|scatter}.compute",
                 "kernels that compute, concurrent with a kernel that {gathers|scatters} blocks", points_beside_mover,
                 beside_mover(Kind::multiply_add));
    rows.add_way(way, "beside.{gather|scatter}.memory",
                 "kernels that stream device memory, concurrent with a kernel that {gathers|scatters} blocks",
                 points_beside_mover, beside_mover(Kind::stream));
    rows.add_way(way, "moves.{gather|scatter}", "{gathers of scattered|scatters of} blocks one after the other",
                 points_of_moves, moves_alone);
    rows.add_way(way, "moves.{gather|scatter}.compute", "the same concurrent with kernels that compute",
                 points_of_moves_beside_computing, moves_beside(Kind::multiply_add));
    rows.add_way(way, "moves.{gather|scatter}.memory", "the same concurrent with kernels that stream device memory",
                 points_of_moves, moves_beside(Kind::stream));
  }
  return rows.all;
}

}  // namespace shiplap
