// What the calls of a recorded program have put into streams, and its waits, each with what it waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "shiplap/advise/program_step.hpp"
#include "shiplap/advise/recording.hpp"

namespace shiplap {

/// An op with the times of its call. What it waits for are indices in PlacedOps::ops, and not in `op`.
struct PlacedOp {
  StepOp op;                                    ///< the op, without `after` and `handed_over_by`
  Nanoseconds call;                             ///< time of its call
  std::uint64_t start = 0;                      ///< when its work began on the GPU, in ns
  std::uint64_t end = 0;                        ///< when its work ended on the GPU, in ns
  std::uint64_t content = 0;                    ///< RecordedCopy::content
  Seconds initialising{0};                      ///< time in its call that initialised; it is not part of `op.call`
  std::vector<std::size_t> after;               ///< StepOp::after
  std::optional<std::size_t> handed_over_by{};  ///< StepOp::handed_over_by
};

/// All ops of a recording.
struct PlacedOps {
  std::vector<PlacedOp> ops;                                  ///< in the order of their calls
  std::unordered_map<std::size_t, std::size_t> op_of_record;  ///< the op that contains a copy, kernel or fill
};

/// Makes the ops of a recording. program_step says how threads and the default stream are ordered.
PlacedOps placed_ops(const Recording&);

}  // namespace shiplap
