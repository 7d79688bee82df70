// The parameters of the kernel of matmul.
#pragma once

#include <cstdint>

namespace shiplap {

/// C (m x n) = A (m x p) · B (p x n), of which a launch computes some rows.
struct MatmulShape {
  std::uint64_t n = 1;
  std::uint64_t p = 1;
  /// Rows and columns of the part of C that a block computes at a time: 128, 64 or 32.
  unsigned tile = 128;
};

}  // namespace shiplap
