// CUPTI's numbers of default streams.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "shiplap/advise/recording.hpp"

namespace shiplap::recorder {

/// The default streams of a process. Each GPU numbers its own streams, so the number of one GPU's default stream may be
/// that of an ordinary stream of another GPU.
class DefaultStreams {
 public:
  /// `gpu` may be RecordedOrder::unknown_gpu: the number then counts for every GPU.
  void add(std::uint32_t gpu, std::uint32_t number) { streams_.emplace(number, gpu); }

  /// Whether the number is that of the GPU's default stream; for an unknown GPU, whether it is that of any.
  bool has(std::uint32_t gpu, std::uint32_t number) const {
    const auto first = streams_.lower_bound({number, 0});
    return std::any_of(first, streams_.end(), [&](const auto& stream) {
      const bool is_of_gpu =
          stream.second == gpu || stream.second == RecordedOrder::unknown_gpu || gpu == RecordedOrder::unknown_gpu;
      return stream.first == number && is_of_gpu;
    });
  }

 private:
  std::set<std::pair<std::uint32_t, std::uint32_t>> streams_;  ///< numbers, each with its GPU
};

}  // namespace shiplap::recorder
