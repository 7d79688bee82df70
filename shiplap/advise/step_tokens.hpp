// A recorded program as a sequence of tokens, in which the search for steps looks for what repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shiplap/advise/submitted_ops.hpp"

namespace shiplap {

/// Tokens with one number are alike.
using OpKind = std::uint32_t;
inline constexpr OpKind wait_of_host = 0;

/// One op or several equal ones in a row, or a wait of the host.
struct StepToken {
  std::size_t position;          ///< its first op in the submitted order, or the op after a wait
  OpKind op = wait_of_host;      ///< the kind of its ops, with their size or grid
  OpKind family = wait_of_host;  ///< their kind without it
  /// How natural it is that a step begins here: 2 after the host has waited for results, 1 after another wait.
  int naturalness = 0;
  bool is_result = false;    ///< whether it copies to the host
  bool is_with_host = true;  ///< whether it is a wait, or a copy from or to the host
};

/// Whether ops of several streams are of several kinds. They are not where a program makes its streams anew in each
/// step.
enum class StreamsOfSteps : std::uint8_t { tell_apart, are_alike };

/// When the host waited: in calls that wait, and at the end of copies that return when they have ended; ns, ascending.
std::vector<std::uint64_t> times_of_waits(const Recording&, const RecordedCalls&);

/// The tokens of these ops and of the waits between them.
std::vector<StepToken> tokens_of(const Recording&, const std::vector<SubmittedOp>&,
                                 const std::vector<std::uint64_t>& waits, StreamsOfSteps);

}  // namespace shiplap
