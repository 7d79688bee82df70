// Errors of the simulator by strategy, as fractions of the time. About nine of ten pipelines have a smaller error. They
// were measured on one H200 with random jobs (docs/explanation/accuracy.md). For other machines they are estimates.
#pragma once

namespace shiplap::model_error {

inline constexpr double explicit_copies = 0.008;
inline constexpr double streams = 0.02;
inline constexpr double implicit = 0.1;
inline constexpr double hybrid = 0.15;
inline constexpr double hybrid_mirror = 0.12;
inline constexpr double pageable = 0.3;
inline constexpr double staged = 0.35;
inline constexpr double managed = 0.35;
inline constexpr double managed_prefetch = 0.5;

}  // namespace shiplap::model_error
