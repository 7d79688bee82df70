// Errors of predictions by strategy, as fractions of the time. About nine of ten pipelines have a smaller error than
// that of the simulator, in `model_error`. These errors were measured on one H200 with random jobs
// (docs/explanation/accuracy.md). For other machines they are estimates.
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

/// The largest errors of the closed forms over all kernels and GPUs of van Werkhoven et al. 2014 (section VII).
namespace shiplap::form_error {

inline constexpr double explicit_copies = 0.0973;
inline constexpr double implicit = 0.0385;
inline constexpr double streams = 0.0646;
inline constexpr double hybrid = 0.1075;

}  // namespace shiplap::form_error
