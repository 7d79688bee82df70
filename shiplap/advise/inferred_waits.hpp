// What the host waited for, where a recording has the calls that wait but not their streams and events.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shiplap/advise/recording.hpp"

namespace shiplap {

/// The waits of the host that follow from calls and from the work of GPUs. A wait for the GPU is one for all of its
/// streams. A wait for a stream is one for the stream into which its thread has submitted last. A wait for an event is
/// one for the stream whose work ended last before the wait ended.
class InferredWaits {
 public:
  /// `calls` has calls in the order of their starts, and `work` has copies, kernels and fills.
  InferredWaits(const std::vector<Record>& calls, const std::vector<Record>& work);

  /// The wait that the call is; nullopt when it is none, or when there is no work that it can have waited for.
  std::optional<RecordedOrder> of(const RecordedCall&) const;

 private:
  struct StreamOfWork {
    std::uint32_t gpu;
    std::uint32_t stream;
  };
  static RecordedOrder wait_for(const RecordedCall&, StreamOfWork);

  std::vector<std::pair<std::uint64_t, StreamOfWork>> ends_;   // ends of all work in ns, in ascending order
  std::unordered_map<std::uint64_t, StreamOfWork> of_thread_;  // by the call that waits for a stream
};

}  // namespace shiplap
