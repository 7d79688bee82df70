// Costs of moving scattered blocks between a pool in host memory and a GPU, as a profile holds them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {

/// Time in which a mover moves `blocks` blocks of `block` bytes in one op. It is linear in the number of blocks and in
/// the size of a block between rows, and extrapolated linearly beyond the last row (see `block_cost`).
struct BlockTime {
  std::uint32_t grid = 0;    ///< thread blocks of the mover's kernel; 0 for movers that are no kernel
  Bytes block;               ///< size of a block
  std::uint64_t blocks = 1;  ///< number of blocks
  /// Time of the op from its call on, in an idle stream. Blocks may move while the host still submits.
  Interval<Seconds> time;
  Interval<Seconds> call;  ///< host time of the call or calls
};
/// How much longer kernels take while the kernel of a mover runs beside them all the time.
struct MoverSlowdown {
  std::uint32_t grid = 1;    ///< thread blocks of the mover's kernel
  Interval<double> compute;  ///< added time of a kernel that only computes, as a fraction of its time alone
  /// Added time of a kernel that is bound by the device memory, as a fraction of its time alone.
  Interval<double> memory;
};
/// Times of moving scattered blocks between a pool in host memory and the GPU.
struct BlockModel {
  /// Times by mover, kind of the pool's memory and direction, as in "batch pinned h2d" (`name_in_profile`). "host
  /// pinned h2d" is one host thread that gathers, and "host pinned d2h" one that scatters, without the link.
  std::map<std::string, std::vector<BlockTime>> movers;
  std::vector<MoverSlowdown> beside_gather{};   ///< kernels beside a mover's kernel that reads the pool
  std::vector<MoverSlowdown> beside_scatter{};  ///< kernels beside a mover's kernel that writes the pool
};

/// The costs of moving blocks in one op.
struct BlockCost {
  Seconds time;  ///< time of the op, as in BlockTime
  Seconds call;  ///< host time of the call or calls
};
/// The costs of moving `blocks` blocks of `block` bytes by a kernel of `grid` thread blocks (0: by another mover).
/// Between two rows they are linear in the number of blocks and in the size of a block, and the rate is linear in the
/// grid. Beyond the last row they continue linearly; below the first row they are constant. A single count is taken in
/// proportion to the blocks. Throws Error when there is no row.
BlockCost block_cost(const std::vector<BlockTime>&, std::uint32_t grid, Bytes block, std::uint64_t blocks);
/// The grids of the rows, in increasing order.
std::vector<std::uint32_t> grids_of(const std::vector<BlockTime>&);
/// Slowdowns by a mover's kernel of one grid.
struct SlowdownAt {
  double compute = 0;  ///< see MoverSlowdown
  double memory = 0;   ///< see MoverSlowdown
};
/// The slowdowns at a grid. They are linear between two rows, proportional to the grid below the first row, and
/// constant above the last row. They are 0 without rows.
SlowdownAt slowdown_at(const std::vector<MoverSlowdown>&, std::uint32_t grid);

}  // namespace shiplap
