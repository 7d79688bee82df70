// What a recorded program has put into streams, in the order in which it made the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "shiplap/advise/recording.hpp"

namespace shiplap {

/// A copy, kernel or fill.
struct SubmittedOp {
  std::size_t record;    ///< index in `Recording::records`
  std::uint64_t time;    ///< begin of its call, or of its work where the call was not recorded; ns
  std::uint64_t on_gpu;  ///< begin of its work; ns
  std::uint64_t busy;    ///< time of its work; ns
  bool has_call;         ///< whether its call was recorded
};

/// The calls of a recording by their number.
using RecordedCalls = std::unordered_map<std::uint64_t, const RecordedCall*>;
RecordedCalls calls_of(const Recording&);

/// The copies, kernels and fills in the order of their calls. What comes from one call stays in the order of the
/// recording.
std::vector<SubmittedOp> submitted_ops(const Recording&, const RecordedCalls&);

/// The same as indices in `Recording::records`.
std::vector<std::size_t> submitted_order(const Recording&);

}  // namespace shiplap
