// The parameters of the kernel of histogram.
#pragma once

#include <cstdint>

namespace shiplap {

/// The sizes of histogram. Each item of the job is a frame.
struct HistogramShape {
  std::uint32_t pixels = 1;   ///< pixels of a frame, of 8 bits each
  std::uint32_t copies = 32;  ///< copies of the histogram that a block keeps: a power of two up to 32
};

}  // namespace shiplap
