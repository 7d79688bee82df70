// The parameters of the kernel of grayscale.
#pragma once

#include <cstdint>

namespace shiplap {

/// Each item of the job is a frame of so many pixels of three bytes.
struct GrayscaleShape {
  std::uint32_t pixels = 1;
  bool keeps_gray = false;  ///< the gray frames are an output beside their histograms
};

}  // namespace shiplap
