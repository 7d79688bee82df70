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
  /// Whether hardly any call succeeded after the first that failed, as after an illegal access to memory, which ends
  /// the work of a process on its GPU.
  bool are_nearly_all() const { return failed > 1 && failed * 10 >= after * 9; }
};

/// Finds the failed calls of a recording. nullopt: none failed, or the recording does not say.
std::optional<FailedCalls> failed_calls(const Recording&);

/// Says what failed, as a sentence.
std::string describe(const FailedCalls&);

}  // namespace shiplap
