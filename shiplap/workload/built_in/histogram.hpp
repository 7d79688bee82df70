// The parameters of the kernel of histogram.
#pragma once

#include <cstdint>

namespace shiplap {

/// Each item of the job is a frame of so many pixels of 8 bits.
struct HistogramShape {
  std::uint32_t pixels = 1;
  std::uint32_t copies = 32;  ///< that a block keeps of its histogram: a power of two up to 32
};

}  // namespace shiplap
