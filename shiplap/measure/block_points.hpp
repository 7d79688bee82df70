// Parts of the points of scattered blocks that several files use.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/measure/block_trial.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {

/// Size of the pool. Its blocks lie far apart for the GPU's address translation and exceed most CPU caches.
inline constexpr Bytes pool_size = 256_MiB;
inline constexpr Bytes pool_size_quick = 64_MiB;
/// The blocks of an op are at most this fraction of the pool. A strided copy needs half.
inline constexpr std::uint64_t pool_over_blocks = 4;
inline Bytes pool_of(const Setting& setting) {
  return std::min(quick(setting) ? pool_size_quick : pool_size, setting.largest);
}

/// The given grids that are smaller than the number of SMs, and that number.
inline std::vector<std::uint32_t> grids_up_to_all_sms(const Setting& setting, std::vector<std::uint32_t> grids) {
  if (setting.info.sm_count == 0)
    throw Unsupported(fmt::format("{} does not say how many SMs it has", setting.info.id));
  std::erase_if(grids, [&](std::uint32_t grid) { return grid >= setting.info.sm_count; });
  grids.push_back(setting.info.sm_count);
  return grids;
}

/// The moves of a point.
inline BlockMoves moves_of(const Arguments& arguments, bool gather, Mover::Kind kind) {
  const auto grid = arguments.find("grid");
  return {.gather = gather,
          .mover = {.kind = kind, .grid = grid == arguments.end() ? 0 : static_cast<std::uint32_t>(grid->second)},
          .pool = {static_cast<std::uint64_t>(arguments.at("pool"))},
          .block = {static_cast<std::uint64_t>(arguments.at("block"))},
          .blocks = static_cast<std::uint64_t>(arguments.at("blocks"))};
}

}  // namespace shiplap
