// The matrix of spmv and the parameters of its kernel.
#pragma once

#include <cstdint>

namespace shiplap {

/// A square sparse matrix, and how many threads multiply a row of it.
struct SpmvShape {
  std::uint64_t rows = 2;
  std::uint64_t nonzeros = 1;
  unsigned row_threads = 32;  ///< 2, 4, 8, 16 or 32
};

/// Index of the first nonzero of a row, the number of nonzeros for the row after the last. The first rows are about
/// three times as long as the last, and each has up to twice the nonzeros that it has on average there.
std::uint64_t first_nonzero(const SpmvShape&, std::uint64_t row);

}  // namespace shiplap
