// A CUDA runtime that needs no GPU: memory is host memory, copies are done at once, kernels of the test pattern and the
// map probe too, other kernels do nothing, and an event's time is the number of the call that recorded it. Copies are
// done while they are captured too. Launching the graph does them no second time, unless it has host nodes: then those
// and the copies are done again. As in the real one, a thread has
// its own GPU and its own last error, and a GPU's streams take only its events and, while it is selected, its kernels.
// Any call can be made to fail, and everything made is counted.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "shiplap/device/cuda/api.hpp"

namespace shiplap::testing {

struct FakeCuda {
  struct Call {
    std::string name;
    const void* stream = nullptr;
    const void* event = nullptr;
    int gpu = -1;  ///< that was current; −1: the thread had no context
  };

  // What to do.
  int devices = 1;
  std::size_t free_memory = 1u << 20;
  std::size_t total_memory = 4u << 20;
  int fail_at = -1;       ///< which of the calls that can fail does, counted from now; −1: none
  std::string fail_name;  ///< with a name, only calls of it are counted
  cudaError_t failure = cudaErrorUnknown;
  /// Whether queries of events and streams answer that the work has not ended.
  inline static std::atomic<bool> busy{false};

  // What was seen.
  int live_streams = 0;
  int live_events = 0;
  int live_device_memory = 0;
  int live_pinned_memory = 0;
  int live_graphs = 0;  ///< captured ones and executable ones
  int live_peers = 0;   ///< pairs of GPUs with direct access
  static thread_local cudaError_t last_error;
  std::vector<Call> calls;
  std::vector<std::string> made_contexts;  ///< calls of threads without a context, which make one on GPU 0
  std::string failed_call;
  /// Advice on managed memory.
  struct Advised {
    int preferred = cudaInvalidDeviceId;
    bool read_mostly = false;
    std::set<int> accessed_by;
    bool operator==(const Advised&) const = default;
  };
  std::map<const std::byte*, Advised> advised;  ///< by first byte, without ranges that have none
  /// For each wait of the host for a stream: whether the gate was open (or there was none).
  std::vector<bool> gate_open_at_wait;
  std::vector<std::size_t> batches;  ///< copies of each batch
  static constexpr int highest_priority = -3;
  std::vector<int> priorities;  ///< of the streams that were made with one
  /// Of each capture that ended: the streams that were part of it.
  std::vector<std::size_t> captured_streams;

  int live() const {
    return live_streams + live_events + live_device_memory + live_pinned_memory + live_graphs + live_peers +
           static_cast<int>(advised.size());
  }
  void fail(int at, cudaError_t error, std::string name = {}) {
    fail_at = at;
    failure = error;
    fail_name = std::move(name);
    failed_call.clear();
  }
  std::size_t count(const std::string& name) const;
};

/// The state behind the table; one for the program.
FakeCuda& fake_cuda();

/// Resets the state, frees what a former test has left behind and returns the table.
Api fake_api();

}  // namespace shiplap::testing
