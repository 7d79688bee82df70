// The transfer model of van Werkhoven et al. 2014, §V (LogGP without the receiver's overhead), its fit, and the fit
// that the authors' published benchmark makes instead.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap::loggp {

/// Parameters of one direction (Table I): L+o, the cost of the first transfer, in s; G in s per byte; g, what each
/// further transfer costs beyond its bytes, in s. (§V once calls g the reciprocal of a bandwidth; by its use and by
/// Table I it is a time for each message.)
struct Parameters {
  Seconds latency_overhead{0};
  PerByte per_byte;
  Seconds gap{0};
};

/// T = L+o + k·G + g·(n − 1) for n equal messages of k bytes in total (§V).
Seconds transfer(const Parameters&, Bytes total, std::uint32_t messages);

/// One observed transfer: the mean time of `total` bytes in `messages` equal messages, submitted back to back.
struct Sample {
  Bytes total;
  std::uint32_t messages = 1;
  Seconds time{0};
};

/// Predicted minus observed, as a share of the observed time: positive is "predicted too long".
struct Residual {
  Bytes total;
  std::uint32_t messages = 1;
  double relative = 0;
};

struct Fit {
  Parameters parameters;
  /// One for each sample: minimal, large, bursts.
  std::vector<Residual> residuals;
  /// The largest positive and negative residual, 0 where there is none: the paper quotes them apart.
  double worst_over = 0;
  double worst_under = 0;
};

/// What a fit needs of one direction, all by one clock: single transfers of as few bytes as possible, single transfers
/// of m different large sizes, and large transfers in many messages.
struct Samples {
  std::span<const Sample> minimal;
  std::span<const Sample> large;
  std::span<const Sample> bursts;
};

/// §V with the missing formula for g, t̄ and k̄ being the means of the minimal transfers:
///   G = (Σt − m·t̄) / (Σk − m·k̄),  L+o = t̄ − k̄·G,  g = Σ(T − (L+o) − k·G) / Σ(n − 1).
/// Exact on data that follow the model. The printed G = (Σt − m·(L+o)) / Σk takes t̄ for L+o, although that contains
/// k̄ bytes. Throws UsageError when a group is empty, no large transfer is larger than the minimal ones, a single
/// transfer has several messages, or a burst has only one.
Fit fit(const Samples&);

namespace as_published {

/// What the authors' public benchmark computes, not what §V says: from the sum over m sizes, each the average of
/// `runs` runs, it subtracts t̄ m·runs times instead of m times. With m = 10 averages of 10 runs of 1 GiB, G is low by
/// 9(L+o)/2^30; and g, from n messages of 1 GiB, is high by 9(L+o)/(n − 1): with n = 32 and Table I's L+o that is
/// 0.0027 ms, as much as Table I's g. Throws as `fit` does.
Parameters fit(const Samples&, std::uint32_t runs = 10);

}  // namespace as_published

}  // namespace shiplap::loggp
