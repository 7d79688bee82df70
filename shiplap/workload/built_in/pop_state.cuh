// The kernel of pop-state. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/grid_stride.cuh"
#include "shiplap/workload/built_in/seawater.cuh"

namespace shiplap::kernels {

/// Computes density and, with `derivatives`, its derivatives. Blocks take tiles of two points for each thread. Tile i
/// is tile i % tiles of level i / tiles.
template <bool derivatives>
__global__ void __launch_bounds__(threads)
    pop_state(const double* temperature, const double* salinity, const LevelTerms* terms, double* density_out,
              double* by_temperature, double* by_salinity, std::uint64_t first_level, std::uint64_t levels,
              std::uint64_t points, bool pairs) {
  const std::uint64_t tiles = (points + 2 * threads - 1) / (2 * threads);
  for (std::uint64_t tile = blockIdx.x; tile < levels * tiles; tile += gridDim.x) {
    const std::uint64_t level = tile / tiles;
    const LevelTerms at_level = terms[first_level + level];
    const std::uint64_t point = (tile % tiles * threads + threadIdx.x) * 2;
    if (point >= points) continue;
    const std::uint64_t i = level * points + point;
    const bool both = point + 1 < points;
    double2 t, s;
    if (pairs) {
      t = *reinterpret_cast<const double2*>(temperature + i);
      s = *reinterpret_cast<const double2*>(salinity + i);
    } else {
      t = make_double2(temperature[i], both ? temperature[i + 1] : 0.0);
      s = make_double2(salinity[i], both ? salinity[i + 1] : 0.0);
    }
    const auto store = [&](double* to, double first, double second) {
      if (pairs) {
        *reinterpret_cast<double2*>(to + i) = make_double2(first, second);
        return;
      }
      to[i] = first;
      if (both) to[i + 1] = second;
    };
    if constexpr (derivatives) {
      const DensityAndDerivatives a = density_and_derivatives(water(t.x, s.x), at_level);
      const DensityAndDerivatives b = density_and_derivatives(water(t.y, s.y), at_level);
      store(density_out, a.density, b.density);
      store(by_temperature, a.by_temperature, b.by_temperature);
      store(by_salinity, a.by_salinity, b.by_salinity);
    } else {
      store(density_out, density(water(t.x, s.x), at_level), density(water(t.y, s.y), at_level));
    }
  }
}

/// Computes all points of `levels` levels with `points` points each. The derivatives are not computed when their
/// pointers are null.
inline void launch_pop_state(const double* temperature, const double* salinity, const LevelTerms* terms,
                             double* density_out, double* by_temperature, double* by_salinity,
                             std::uint64_t first_level, std::uint64_t levels, std::uint64_t points, unsigned blocks,
                             cudaStream_t stream) {
  const bool pairs = points % 2 == 0 && allow_vectors(temperature, salinity) &&
                     allow_vectors(density_out, by_temperature) && allow_vectors(by_salinity, by_salinity);
  auto* kernel = by_temperature != nullptr ? pop_state<true> : pop_state<false>;
  kernel<<<blocks, threads, 0, stream>>>(temperature, salinity, terms, density_out, by_temperature, by_salinity,
                                         first_level, levels, points, pairs);
}

}  // namespace shiplap::kernels
