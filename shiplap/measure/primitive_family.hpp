// What primitives whose names begin alike have in common, so that measured points are understood also in a profile that
// another version wrote.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace shiplap {

/// What a run of a primitive moves, for its rate.
enum class Moved : std::uint8_t {
  nothing,  ///< it has no rate: it is measured for its costs besides the copies
  bytes,    ///< its argument "bytes"
  blocks,   ///< its blocks
};

/// Primitives whose names begin alike.
struct PrimitiveFamily {
  std::string_view prefix;                  ///< "copy." or a whole name
  std::vector<std::string_view> arguments;  ///< arguments that every point has
  Moved moved = Moved::nothing;
  /// The relative difference between two runs of a sound node, which the intervals of one run do not show.
  double between_runs = 0;
};

/// All families; one whose prefix begins another's stands after it.
std::span<const PrimitiveFamily> primitive_families();

/// The family of a primitive; null when no family has it. Its points are then left out of fits and figures.
const PrimitiveFamily* family_of(std::string_view primitive);

}  // namespace shiplap
