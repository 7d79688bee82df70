// The matrix of spmv and the parameters of its kernel.
#pragma once

#include <cstdint>

namespace shiplap {

/// A square sparse matrix, and the number of threads that multiply one of its rows.
struct SpmvShape {
  std::uint64_t rows = 2;
  std::uint64_t nonzeros = 1;
  unsigned row_threads = 32;  ///< 2, 4, 8, 16 or 32
};

/// Index of the first nonzero of a row. For the row after the last it is the number of nonzeros. The first rows are
/// about three times as long as the last ones, and each row has at most twice the average length of its neighbours.
std::uint64_t first_nonzero(const SpmvShape&, std::uint64_t row);

}  // namespace shiplap
