// Calls of a recorded program that CUDA refused. A program that does not look at errors runs on, and does nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shiplap/advise/recording.hpp"

namespace shiplap {

/// Failed calls that copy, launch or wait. Failed allocations are not among them: programs try those.
struct FailedCalls {
  std::string function;      ///< name of the first function that failed
  std::uint32_t error = 0;   ///< CUDA's number of its error
  Seconds from{0};           ///< when that call returned, since the recording began
  std::uint64_t failed = 0;  ///< number of failed calls
  std::uint64_t after = 0;   ///< number of calls that copy, launch or wait from the first failed one on
  /// Whether no such call succeeded any more, as after an illegal access to memory, which ends CUDA in a process.
  bool all() const { return failed == after; }
};

/// Finds the failed calls of a recording. nullopt: none failed, or the recording does not say.
std::optional<FailedCalls> failed_calls(const Recording&);

/// Says what failed, as a sentence.
std::string describe(const FailedCalls&);

}  // namespace shiplap
