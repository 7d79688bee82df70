// The bytes and the time of an item of a job that is stated by hand.
#pragma once

#include <cstdint>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Output byte t of an item is its input byte t mod `in`. Without input it is a pattern of t.
struct StatedShape {
  std::uint64_t in = 0;      ///< bytes of the inputs of an item
  std::uint64_t out = 0;     ///< bytes of its outputs
  Seconds time{0};           ///< time of the kernel for an item
  std::uint64_t before = 0;  ///< items of the halo before a chunk
};

}  // namespace shiplap
