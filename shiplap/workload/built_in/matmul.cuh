// The kernel of matmul. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include <algorithm>

#include "shiplap/workload/built_in/async_copy.cuh"
#include "shiplap/workload/built_in/grid_stride.cuh"

namespace shiplap::kernels {

// A block computes a tile of `side` x `side` elements of C, and each thread `each` x `each` of them. The block goes
// along the inner dimension in slabs of A and B, which are copied into shared memory several slabs ahead of the
// arithmetic.
constexpr unsigned slab = 8;    // size of a slab along the inner dimension
constexpr unsigned stages = 4;  // number of slabs in shared memory, a power of two
constexpr unsigned panel = 16;  // rows of tiles whose blocks run together, so that they share data in the L2 cache

template <unsigned side, unsigned each>
struct MatmulTile {
  static constexpr unsigned threads = (side / each) * (side / each);
  // The threads of a warp form 4 rows and 8 columns. Each thread computes groups of 4 x 4 elements.
  static constexpr unsigned warp_rows = 4 * each;
  static constexpr unsigned warp_columns = 8 * each;
  static constexpr unsigned a_rows = threads / slab;  // rows of A that all threads together copy in one pass
  static constexpr unsigned a_passes = side / a_rows;
  // A is stored by columns, because threads read a column of a slab at a time. With the padding, neither copies nor
  // reads have bank conflicts.
  float a[stages][slab][side + 4];
  float b[stages][slab][side];
};

/// Row and column of tile number `index`. Tiles are numbered panel by panel, within a panel by columns of tiles.
__device__ inline void place_of_tile(std::uint64_t index, std::uint64_t tiles_high, std::uint64_t tiles_wide,
                                     std::uint64_t& row, std::uint64_t& column) {
  const std::uint64_t first = index / (panel * tiles_wide) * panel;
  const std::uint64_t rows = tiles_high - first < panel ? tiles_high - first : panel;
  const std::uint64_t within = index % (panel * tiles_wide);
  row = first + within % rows;
  column = within / rows;
}

/// Computes m rows of C = A · B. `vectors` says that n is a multiple of 4 and b and c are aligned to 16 bytes.
template <unsigned side, unsigned each, bool vectors>
__global__ void __launch_bounds__(MatmulTile<side, each>::threads, each == 8 ? 2 : 4)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, std::uint64_t m,
           std::uint32_t n, std::uint32_t p) {
  using Tile = MatmulTile<side, each>;
  __shared__ __align__(16) Tile shared;
  const unsigned thread = threadIdx.x;
  const unsigned lane = thread % 32;
  const unsigned warp = thread / 32;
  // Neighbouring lanes alternate between two rows, so that half a warp reads at most 128 different bytes of b.
  const unsigned row_in_tile = warp % (side / Tile::warp_rows) * Tile::warp_rows + (lane / 16 * 2 + lane % 2) * 4;
  const unsigned column_in_tile = warp / (side / Tile::warp_rows) * Tile::warp_columns + lane / 2 % 8 * 4;
  const std::uint64_t tiles_high = (m + side - 1) / side;
  const std::uint64_t tiles_wide = (n + side - 1) / side;
  const std::uint32_t slabs = (p + slab - 1) / slab;

  for (std::uint64_t index = blockIdx.x; index < tiles_high * tiles_wide; index += gridDim.x) {
    std::uint64_t row = 0;
    std::uint64_t column = 0;
    place_of_tile(index, tiles_high, tiles_wide, row, column);
    row *= side;
    column *= side;

    // Rows and columns beyond the last one are computed with the data of the last one and are not stored.
    const float* a_from[Tile::a_passes];
    for (unsigned i = 0; i < Tile::a_passes; ++i) {
      const std::uint64_t wanted = row + thread / slab + i * Tile::a_rows;
      a_from[i] = a + (wanted < m ? wanted : m - 1) * p + thread % slab;
    }
    const auto begin_slab = [&](std::uint32_t number) {
      const unsigned stage = number % stages;
      const std::uint32_t first = number * slab;
      for (unsigned i = 0; i < Tile::a_passes; ++i)
        begin_copy<4>(&shared.a[stage][thread % slab][thread / slab + i * Tile::a_rows], a_from[i] + first,
                      first + thread % slab >= p);
      constexpr unsigned width = vectors ? 4 : 1;
      for (unsigned i = thread; i < slab * side / width; i += Tile::threads) {
        const unsigned k = i / (side / width);
        const unsigned j = i % (side / width) * width;
        const std::uint64_t wanted = column + j;
        begin_copy<4 * width>(&shared.b[stage][k][j],
                              b + std::uint64_t{first + k} * n + (wanted < n ? wanted : n - width), first + k >= p);
      }
    };

    float sum[each][each] = {};
    for (std::uint32_t number = 0; number < stages - 1; ++number) {
      if (number < slabs) begin_slab(number);
      end_group_of_copies();
    }
    for (std::uint32_t number = 0; number < slabs; ++number) {
      await_copies_but<stages - 2>();
      __syncthreads();  // all copies of this slab have arrived, and all threads have read the slab before
      if (number + stages - 1 < slabs) begin_slab(number + stages - 1);
      end_group_of_copies();
      const unsigned stage = number % stages;
#pragma unroll
      for (unsigned k = 0; k < slab; ++k) {
        float left[each];
        float right[each];
#pragma unroll
        for (unsigned i = 0; i < each; i += 4) {
          const auto l = *reinterpret_cast<const float4*>(&shared.a[stage][k][row_in_tile + 4 * i]);
          const auto r = *reinterpret_cast<const float4*>(&shared.b[stage][k][column_in_tile + 8 * i]);
          left[i] = l.x, left[i + 1] = l.y, left[i + 2] = l.z, left[i + 3] = l.w;
          right[i] = r.x, right[i + 1] = r.y, right[i + 2] = r.z, right[i + 3] = r.w;
        }
#pragma unroll
        for (unsigned i = 0; i < each; ++i)
#pragma unroll
          for (unsigned j = 0; j < each; ++j) sum[i][j] = fmaf(left[i], right[j], sum[i][j]);
      }
    }
    __syncthreads();  // all threads have read the slabs of this tile

#pragma unroll
    for (unsigned i = 0; i < each; ++i) {
      const std::uint64_t to_row = row + row_in_tile + i / 4 * 16 + i % 4;
      if (to_row >= m) break;
#pragma unroll
      for (unsigned j = 0; j < each; j += 4) {
        const std::uint64_t to_column = column + column_in_tile + 8 * j;
        float* to = c + to_row * n + to_column;
        if constexpr (vectors) {
          if (to_column < n)
            *reinterpret_cast<float4*>(to) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
        } else {
#pragma unroll
          for (unsigned l = 0; l < 4; ++l)
            if (to_column + l < n) to[l] = sum[i][j + l];
        }
      }
    }
  }
}

template <unsigned side, unsigned each>
void launch_matmul_tiles(const float* a, const float* b, float* c, std::uint64_t m, std::uint32_t n, std::uint32_t p,
                         unsigned blocks, cudaStream_t stream) {
  constexpr unsigned threads_of_block = MatmulTile<side, each>::threads;
  if (n % 4 == 0 && allow_vectors(b, c))
    matmul<side, each, true><<<blocks, threads_of_block, 0, stream>>>(a, b, c, m, n, p);
  else
    matmul<side, each, false><<<blocks, threads_of_block, 0, stream>>>(a, b, c, m, n, p);
}

/// Launches m rows of C = A · B, where B has p rows and n columns, in tiles of the given side.
template <unsigned side>
void launch_matmul(const float* a, const float* b, float* c, std::uint64_t m, std::uint32_t n, std::uint32_t p,
                   unsigned blocks, cudaStream_t stream) {
  launch_matmul_tiles<side, side == 128 ? 8 : 4>(a, b, c, m, n, p, blocks, stream);
}

}  // namespace shiplap::kernels
