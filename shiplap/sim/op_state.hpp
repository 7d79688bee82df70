// The state of an op in the simulator: what it is, what it still waits for, and its times.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/sim/compute.hpp"
#include "shiplap/sim/resource.hpp"
#include "shiplap/sim/sim_parameters.hpp"
#include "shiplap/sim/zero_copy_times.hpp"

namespace shiplap::sim {

class CopyEngine;

struct OpState {
  CopyEngine* copy_engine = nullptr;  ///< serves a copy or a prefetch; null for all other ops
  bool is_host = false;               ///< performed by its agent, not by a stream
  bool batched = false;               ///< submitted in one call with the op before it
  bool blocks_agent = false;          ///< its agent waits until it has ended
  bool holds_call = false;            ///< its own time includes the call that submits it
  bool to_device = false;
  bool moves_pages = false;  ///< it is a prefetch of managed memory
  bool touches = false;      ///< an agent touches `bytes` of managed memory that are on a GPU
  std::uint32_t gpu = 0;
  StreamIndex stream = 0;
  double bytes = 0;  ///< bytes that move
  CopyFigures copy;
  AddedBesideKernels added{};  ///< to a copy of blocks
  KernelSlowdown slows{};      ///< added to kernels while a copy of blocks moves
  double batched_gap = 0;
  Compute::Kernel kernel;
  const ZeroCopyTimes* zero_copy = nullptr;  ///< null unless the op is a zero-copy kernel
  std::uint64_t further_launches = 0;        ///< launches of a kernel beyond the first
  double kernel_call = 0;                    ///< host time of a kernel's function beyond that of its launches
  double latency = 0;                        ///< from ready to the first byte (L+o) or to the start of the kernel
  double call = -1;                          ///< host time of its calls; negative: the usual time for its kind of op
  double host_time = 0;                      ///< time of a call that shares no resource with other agents

  std::uint32_t pending = 1;  ///< number of unmet requirements: submission, dependencies, the op before in the stream
  OpIndex stream_before = no_op;       ///< the op before in its stream, when the same resource serves both
  OpIndex stream_after = no_op;        ///< the op whose `stream_before` this one is
  std::uint32_t kernels_before = 0;    ///< number of kernels submitted to its GPU before it
  std::uint32_t successors_begin = 0;  ///< index of its first successor in Simulator::successors_
  double ready = 0;                    ///< latest time of a met requirement
  double start = -1;                   ///< negative: not started
  double end = -1;                     ///< negative: not ended

  bool is_copy() const { return copy_engine != nullptr; }
};
using OpStates = std::vector<OpState>;

}  // namespace shiplap::sim
