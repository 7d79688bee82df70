// The calls of a program into CUDA, as CUPTI's callbacks report them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/advise/recording.hpp"

namespace shiplap::recorder {

/// A call that has returned, with what its parameters say about order.
struct ReturnedCall {
  RecordedCall call;            ///< the call, without the name of its function
  const char* function = "";    ///< name of the function, which lives as long as the process
  bool orders = false;          ///< whether `order` holds
  RecordedOrder::Kind order{};  ///< the order that the call gives
  std::uint32_t stream = 0;     ///< stream of the order; 0: the default stream
  std::uint64_t event = 0;      ///< event of the order
  std::uint32_t gpu = RecordedOrder::unknown_gpu;  ///< GPU of the streams of the order
};

/// The host memory of a copy, and a hash of samples of it, taken before the copy began.
struct CopyArguments {
  std::uint64_t call = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t content = 0;
};

/// What the callbacks have collected since it was taken last.
struct CollectedCalls {
  std::vector<CopyArguments> copies;
  std::vector<ReturnedCall> calls;
};

/// Asks CUPTI for callbacks of the functions that move bytes, launch work, wait or allocate. Returns the reason when
/// CUPTI refuses, else "".
std::string watch_calls();
/// Whether calls are collected. A call that has begun without being collected is left out.
void collect_calls(bool);
/// Takes what was collected, of all threads.
CollectedCalls take_calls();
/// Whether CUPTI's number of a stream is that of the GPU's default stream.
bool is_default_stream(std::uint32_t gpu, std::uint32_t cupti_stream);

}  // namespace shiplap::recorder
