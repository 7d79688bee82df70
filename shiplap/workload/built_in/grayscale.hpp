// The parameters of the kernel of grayscale.
#pragma once

#include <cstdint>

namespace shiplap {

/// The sizes and outputs of grayscale. Each item of the job is a frame.
struct GrayscaleShape {
  std::uint32_t pixels = 1;  ///< pixels of a frame, of three bytes each
  bool keeps_gray = false;   ///< whether the gray frames are an output too
};

}  // namespace shiplap
