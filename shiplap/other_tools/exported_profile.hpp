// Figures of a profile for other tools.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Who reads the figures.
enum class ExportForm : std::uint8_t {
  csv,            ///< a table of times and rates by direction, kind of memory and size, for anybody
  aisimulate,     ///< YAML for `engine.workers.<role>.kv_cache` of AISimulate: rates in GB/s, a latency in ms
  inference_sim,  ///< options of inference-sim: tokens in each tick of 1 µs, a latency in ticks
};
EnumNames<ExportForm> names_of(ExportForm);

/// A block of a key-value cache.
struct CacheBlock {
  Bytes size;
  std::uint64_t tokens = 16;
};

/// Times of copies between host and the first GPU. For inference-sim, which counts tokens, `block` is what moves at
/// once, and both directions have the rate of the slower one. Throws Unsupported for a profile without a link, and
/// UsageError for a form that needs `block` and does not get it, or gets it without need.
std::string exported_profile(const Profile&, ExportForm, std::optional<CacheBlock> block = {});

}  // namespace shiplap
