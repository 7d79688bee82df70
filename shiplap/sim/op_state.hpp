// The ops of a schedule as the simulator sees them: what each one is, what it still waits for, and its times.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/sim/compute.hpp"
#include "shiplap/sim/machine.hpp"
#include "shiplap/sim/resource.hpp"
#include "shiplap/sim/zero_copy_times.hpp"

namespace shiplap::sim {

class CopyEngine;

struct OpState {
  CopyEngine* copy_engine = nullptr;  ///< of a copy or a prefetch; null for kernels and for what an agent performs
  bool is_host = false;               ///< performed by its agent
  bool batched = false;               ///< submitted in one call with the op before it
  bool blocks_agent = false;
  bool holds_call = false;  ///< the time of the call that submits it is part of its own time
  bool to_device = false;
  bool moves_pages = false;  ///< a prefetch
  bool recorded = false;     ///< an event is recorded behind it
  bool touches = false;      ///< an agent touches `bytes` of managed memory that are on a GPU
  std::uint32_t gpu = 0;
  StreamIndex stream = 0;
  double bytes = 0;
  CopyFigures copy;
  double batched_gap = 0;
  Compute::Kernel kernel;
  const ZeroCopyTimes* zero_copy = nullptr;  ///< of a kernel that accesses host memory
  std::uint64_t further_launches = 0;        ///< beyond the first, of a kernel that is submitted in several
  double latency = 0;
  double host_time = 0;  ///< of a call that shares nothing with other agents

  std::uint32_t pending = 1;      ///< the submission itself, dependencies, the stream's earlier op on another resource
  OpIndex stream_before = no_op;  ///< the op before it in its stream, when the same resource serves both
  OpIndex stream_after = no_op;   ///< the op whose `stream_before` this one is
  std::uint32_t kernels_before = 0;  ///< kernels that were submitted to its GPU before it
  std::uint32_t successors_begin = 0;
  double ready = 0;
  double start = -1;
  double end = -1;

  bool is_copy() const { return copy_engine != nullptr; }
};
using OpStates = std::vector<OpState>;

}  // namespace shiplap::sim
