// Costs of moving scattered blocks between a pool in host memory and a GPU, as a profile holds them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/profile/neighbour.hpp"

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
/// How much longer an op of a mover takes concurrent with a kernel that fills the GPU, without the wait for SMs.
struct MoveDelay {
  Interval<Seconds> per_move{};   ///< for each call
  Interval<Seconds> per_block{};  ///< for each block of the op
  Interval<Seconds> per_mib{};    ///< for each MiB of the op
};
/// How much longer a mover takes concurrent with a kernel.
struct AddedToMover {
  /// Time that an op waits for SMs, in times of a thread block of the kernel. 0 for copies.
  Interval<double> wait{};
  MoveDelay compute{};  ///< concurrent with a kernel that only computes
  MoveDelay memory{};   ///< concurrent with a kernel that is bound by the device memory
};
/// How much longer a mover and kernels concurrent with it take while both run all the time. A kernel concurrent with it
/// is called its neighbour. Figures of kernels that are bound in part by device memory lie between the two.
struct MutualSlowdown {
  std::uint32_t grid = 1;    ///< thread blocks of the mover's kernel; 0: copies by the copy engine
  Interval<double> compute;  ///< added time of a kernel that only computes, as a fraction of its time alone
  /// Added time of a kernel that is bound by the device memory, as a fraction of its time alone. For copies, it is what
  /// copies at the rate of large copies add, and less at a lower rate.
  Interval<double> memory;
  std::optional<AddedToMover> added{};  ///< added to the mover; nullopt when it was not measured
};
/// Times of moving scattered blocks between a pool in host memory and the GPU.
struct BlockModel {
  /// Times by mover, kind of the pool's memory and direction, as in "batch pinned h2d" (`name_in_profile`). "host
  /// pinned h2d" is one host thread that gathers, and "host pinned d2h" one that scatters, without the link.
  std::map<std::string, std::vector<BlockTime>> movers;
  std::vector<MutualSlowdown> beside_gather{};   ///< movers that read the pool, and kernels concurrent with them
  std::vector<MutualSlowdown> beside_scatter{};  ///< movers that write the pool, and kernels concurrent with them
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
/// What a mover with a grid (0: copies) and its neighbour cost each other. All figures are linear between two rows and
/// constant above the last row. Below the first row, what the mover adds to its neighbour is proportional to the grid,
/// and the other figures are constant. Copies have a row of their own. Returns nullopt without such rows.
std::optional<MutualSlowdown> beside_at(const std::vector<MutualSlowdown>&, std::uint32_t grid);

/// Added time of the neighbour, as a fraction of its time alone.
Interval<double> added_to_neighbour(const MutualSlowdown&, const Neighbour&);
/// The blocks of an op of a mover.
struct MovedBlocks {
  Bytes block;               ///< size of a block
  std::uint64_t blocks = 1;  ///< number of blocks
  std::uint64_t calls = 1;   ///< number of calls that move them: one for each block, or one for all
};
/// Added time of an op, with the wait for SMs.
Interval<Seconds> added_to_move(const AddedToMover&, const Neighbour&, const MovedBlocks&);

}  // namespace shiplap
