// The schedules that move scattered blocks between a pool in host memory and a GPU. Every byte that moves is verified.
#pragma once

#include <map>
#include <string>

#include "shiplap/device/probe_kernel.hpp"
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

/// Waves of thread blocks of a kernel concurrent with a mover. Most kernels of programs have many waves, so that the
/// mover's kernel finds space where a block ends, and the blocks on other SMs do not wait for those beside it. Blocks
/// that compute all take the same time, and a mover that delays some of them may add a whole wave. Kernels of more
/// waves lose less.
constexpr std::uint64_t waves_beside = 16;
/// Work of a computing kernel concurrent with a mover. It takes about 0.26 ms on an H200, and a thread block 16 µs.
constexpr double flops_beside = 16e9;

/// Kernels concurrent with a mover, whose kernel runs in a stream of higher priority.
struct NeighbourKernels {
  ProbeKind kind = ProbeKind::multiply_add;  ///< or ProbeKind::stream
  double amount = 0;                         ///< amount of one kernel
  unsigned kernels = 0;                      ///< number of kernels
  unsigned moves = 0;                        ///< number of ops of the mover; 0: the kernels are alone
};
/// Times the kernels. They have many waves of thread blocks and fill all SMs. Each op of the mover moves a quarter of
/// the blocks.
Trial kernels_beside_mover(MeasurableDevice&, const BlockMoves&, const NeighbourKernels&);
/// Times the mover, whose ops all move all blocks, while the kernels run. The first op waits for the first kernel, and
/// the host waits for each op before it submits the next one, as programs do. With no kernels, the mover is alone.
Trial moves_beside_kernels(MeasurableDevice&, const BlockMoves&, const NeighbourKernels&);

}  // namespace shiplap
