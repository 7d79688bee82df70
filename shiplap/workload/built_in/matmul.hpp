// The parameters of the kernel of matmul.
#pragma once

#include <cstdint>

namespace shiplap {

/// The sizes of the product C (m x n) = A (m x p) · B (p x n). A launch computes some of its rows.
struct MatmulShape {
  std::uint64_t n = 1;
  std::uint64_t p = 1;
  /// Number of rows and columns of the tile of C that a block computes: 128, 64 or 32.
  unsigned tile = 128;
};

}  // namespace shiplap
