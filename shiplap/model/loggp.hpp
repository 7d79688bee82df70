// The transfer model of van Werkhoven et al. 2014, §V (LogGP without the receiver's overhead), its fit, and the
// different fit of the authors' published benchmark.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap::loggp {

/// Parameters of one direction (Table I).
struct Parameters {
  Seconds latency_overhead{0};  ///< L+o: fixed cost of the first transfer
  PerByte per_byte;             ///< G
  /// g: fixed cost of each further transfer. §V once calls it the reciprocal of a bandwidth, but by its use and by
  /// Table I it is a time per message.
  Seconds gap{0};
};

/// T = L+o + k·G + g·(n − 1) for n equal messages of k bytes in total (§V).
Seconds transfer(const Parameters&, Bytes total, std::uint32_t messages);

/// An observed transfer of `total` bytes in `messages` equal messages that are submitted back to back, and its mean
/// time.
struct Sample {
  Bytes total;
  std::uint32_t messages = 1;
  Seconds time{0};
};

/// The error of a predicted transfer time.
struct Residual {
  Bytes total;
  std::uint32_t messages = 1;
  double relative = 0;  ///< (predicted − observed) / observed
};

/// Result of `fit`.
struct Fit {
  Parameters parameters;
  /// One for each sample, in the order minimal, large, bursts.
  std::vector<Residual> residuals;
  /// The largest positive and the largest negative residual, 0 if there is none. The paper gives them separately.
  double worst_over = 0;
  double worst_under = 0;
};

/// The samples of one direction for a fit, all measured with the same clock.
struct Samples {
  std::span<const Sample> minimal;  ///< single transfers of as few bytes as possible
  std::span<const Sample> large;    ///< single transfers of m different large sizes
  std::span<const Sample> bursts;   ///< large transfers in two or more messages
};

/// The fit of §V, with a formula for g, which the paper lacks. t̄ and k̄ are the means of time and bytes of the minimal
/// transfers:
///   G = (Σt − m·t̄) / (Σk − m·k̄),  L+o = t̄ − k̄·G,  g = Σ(T − (L+o) − k·G) / Σ(n − 1).
/// It is exact for data that follow the model. The printed G = (Σt − m·(L+o)) / Σk uses t̄ as L+o, although t̄ includes
/// the time of k̄ bytes. Throws UsageError when a group is empty, a large transfer is not larger than all minimal ones,
/// a minimal or large transfer has several messages, or a burst has only one.
Fit fit(const Samples&);

namespace as_published {

/// The fit of the authors' public benchmark, which differs from §V. From the sum of m average times, each over `runs`
/// runs, it subtracts t̄ m·runs times instead of m times. With m = 10 averages over 10 runs of 1 GiB, G is too small by
/// 9(L+o)/2^30, and g from n messages of 1 GiB is too large by 9(L+o)/(n − 1). With n = 32 and L+o of Table I that is
/// 0.0027 ms, as much as g in Table I. Throws as `fit` does.
Parameters fit(const Samples&, std::uint32_t runs = 10);

}  // namespace as_published

}  // namespace shiplap::loggp
