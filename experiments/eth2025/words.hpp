// Texts of the verdicts on the ETH report, and selection of usable sweeps.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/eth2025/sweep.hpp"
#include "experiments/experiment.hpp"

namespace shiplap::experiments::eth {

/// A finding about a claim: the observation, and the reason why it differs from the published value.
inline Finding found(std::string_view claim, Verdict verdict, std::string observed, std::string why = "") {
  return {.claim = std::string(claim), .verdict = verdict, .observed = std::move(observed), .why = std::move(why)};
}

/// Text of a number, as a power of two if it is one: "2^29", "100".
inline std::string power_text(std::uint64_t elements) {
  return std::has_single_bit(elements) ? fmt::format("2^{}", std::countr_zero(elements)) : fmt::format("{}", elements);
}

/// Text of a number of streams: "1 stream", "4 streams".
inline std::string streams(std::uint32_t n) { return fmt::format("{} stream{}", n, n == 1 ? "" : "s"); }

/// The sweeps that have a time for one stream.
inline std::vector<const Sweep*> complete(std::span<const Sweep> sweeps) {
  std::vector<const Sweep*> out;
  for (const Sweep& s : sweeps)
    if (s.best()) out.push_back(&s);
  return out;
}

/// Reason why sweeps are missing.
inline std::string why_missing(std::span<const Sweep> sweeps) {
  const std::string reasons = missing_of(sweeps);
  return reasons.empty() ? "too few of its points were run" : reasons;
}

}  // namespace shiplap::experiments::eth
