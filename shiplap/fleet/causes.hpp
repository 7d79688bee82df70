// The likely cause of figures that are low together.
#pragma once

#include <span>
#include <string>

#include "shiplap/fleet/judge.hpp"

namespace shiplap {

/// Names of the figures of all GPUs of a node that copy at once.
inline constexpr const char* at_once_to_gpu = "copies to the GPU, all GPUs at once";
inline constexpr const char* at_once_from_gpu = "copies from the GPU, all GPUs at once";

/// The likely cause of these outliers; where the figures fit none, what the check itself says of the first one; "" for
/// no outlier.
std::string likely_cause(std::span<const Outlier>);

}  // namespace shiplap
