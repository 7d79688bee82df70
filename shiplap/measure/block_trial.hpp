// The schedules that move scattered blocks between a pool in host memory and a GPU. Every byte that moves is verified.
#pragma once

#include <map>
#include <string>

#include "shiplap/measure/trial.hpp"

namespace shiplap {

/// Blocks that move between a pool and contiguous memory. Their places in the pool are random and all different, or
/// regular for a strided copy.
struct BlockMoves {
  bool gather = true;  ///< true: from the pool; false: to the pool
  Mover mover{};
  MemoryKind memory = MemoryKind::pinned;  ///< kind of the pool's memory
  Bytes pool;                              ///< size of the pool
  Bytes block;
  std::uint64_t blocks = 1;  ///< number of blocks that move
};

/// Bytes of all blocks of a point with the arguments "block" and "blocks".
inline Bytes bytes_of_blocks(const std::map<std::string, double>& arguments) {
  return {static_cast<std::uint64_t>(arguments.at("block") * arguments.at("blocks"))};
}

/// Moves the blocks in one op. It is not held, because the blocks of most movers move while the host still submits. A
/// managed pool is brought to the host before each run.
Trial move_blocks(const BlockMoves&);
/// A host thread moves the blocks between the pool and contiguous pinned memory. It is the timed op.
Trial move_blocks_by_host(const BlockMoves&);
/// Gathers from one pool and scatters to another one at the same time, each in its own stream. Batches are submitted by
/// two threads.
Trial move_blocks_both_ways(const BlockMoves&);
/// A graph with one copy for each block.
Trial move_blocks_in_graph(const BlockMoves&);

/// Kernels that are timed while the kernel of a mover runs in a stream of higher priority.
struct NeighbourKernels {
  ProbeKernel::Kind kind = ProbeKernel::Kind::multiply_add;  ///< or ProbeKernel::Kind::stream
  double amount = 0;                                         ///< amount of one kernel
  unsigned kernels = 1;                                      ///< number of kernels
  unsigned moves = 0;                                        ///< number of ops of the mover; 0: the kernels are alone
};
/// The kernels have many waves of thread blocks and fill all SMs. Each op of the mover moves a quarter of the blocks.
Trial kernels_beside_mover(MeasurableDevice&, const BlockMoves&, const NeighbourKernels&);

}  // namespace shiplap
