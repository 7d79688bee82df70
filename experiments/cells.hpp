// Makers of table cells, which are empty without a value, and of findings that say that a claim cannot be checked.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "experiments/experiment.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap::experiments {

// These functions have two returns because gcc 12 warns about an uninitialised string with the operator ?:.
inline Cell cell(std::optional<double> value) {
  if (!value) return std::monostate{};
  return *value;
}
inline Cell ms(std::optional<Seconds> time) {
  if (!time) return std::monostate{};
  return in_milliseconds(*time);
}
inline Cell us(std::optional<Seconds> time) {
  if (!time) return std::monostate{};
  return in_microseconds(*time);
}
/// A rate in GB/s.
inline Cell gb(std::optional<Bandwidth> rate) {
  if (!rate) return std::monostate{};
  return in_gigabytes_per_second(*rate);
}
inline Cell in_percent(std::optional<double> share) {
  if (!share) return std::monostate{};
  return 100 * *share;
}

/// The finding that a claim cannot be checked, with the reason.
inline Finding unknown(std::string_view claim, std::string why) {
  return {.claim = std::string(claim), .verdict = Verdict::cannot_be_checked, .observed = "", .why = std::move(why)};
}

}  // namespace shiplap::experiments
