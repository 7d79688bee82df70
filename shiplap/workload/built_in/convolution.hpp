// The parameters of the kernel of convolution.
#pragma once

#include <cstdint>

namespace shiplap {

/// The sizes of a picture and its filter. The input has `filter` - 1 rows and columns more than the output.
struct ConvolutionShape {
  std::uint64_t width = 1;
  std::uint64_t filter = 1;  ///< rows and columns of the filter
};

/// The largest filter for which the input of a tile fits into shared memory.
constexpr std::uint64_t largest_filter = 64;

/// The tile of the output that a block computes at a time.
constexpr std::uint64_t convolution_tile_width = 64;
constexpr std::uint64_t convolution_tile_height = 32;
constexpr unsigned convolution_block_threads = 64;

}  // namespace shiplap
