// The kernel of pop-buoydiff. Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/grid_stride.cuh"
#include "shiplap/workload/built_in/seawater.cuh"

namespace shiplap::kernels {

/// The arrays of a launch over some levels. Temperature and salinity begin one level before these levels, unless they
/// begin at the surface. `to_surface` has the elements of these levels. `local` has those of the level before each, and
/// those of the last level of all.
struct BuoydiffArrays {
  const double* temperature;
  const double* salinity;
  const LevelTerms* terms;
  const double* surface_temperature;
  const double* surface_salinity;
  const std::int32_t* bottom;  // number of levels with water in each column
  double* to_surface;
  double* local;
};

/// Computes the levels [first, first + count). A thread goes down one column or two neighbouring ones and keeps the
/// water of the level above, so that it reads everything once.
template <class Vector>
__global__ void __launch_bounds__(threads) pop_buoydiff(BuoydiffArrays p, std::uint64_t first, std::uint64_t count,
                                                        std::uint64_t levels, std::uint64_t points) {
  constexpr int width = sizeof(Vector) / sizeof(double);
  const auto load = [](const double* from) { return *reinterpret_cast<const Vector*>(from); };
  const auto store = [](double* to, Vector v) { *reinterpret_cast<Vector*>(to) = v; };
  for (std::uint64_t at = first_index() * width; at < points; at += stride() * width) {
    union Lanes {
      Vector vector;
      double lane[width];
    };
    Water surface[width], above[width];
    const Lanes surface_t{load(p.surface_temperature + at)}, surface_s{load(p.surface_salinity + at)};
    for (int l = 0; l < width; ++l) above[l] = surface[l] = water(surface_t.lane[l], surface_s.lane[l]);
    std::uint64_t offset = at;  // index of the level in the arrays that are read
    if (first > 0) {
      const Lanes t{load(p.temperature + offset)}, s{load(p.salinity + offset)};
      for (int l = 0; l < width; ++l) above[l] = water(t.lane[l], s.lane[l]);
      offset += points;
    }
    double* local = p.local + at;
    for (std::uint64_t k = first; k < first + count; ++k, offset += points) {
      const Lanes t{load(p.temperature + offset)}, s{load(p.salinity + offset)};
      const LevelTerms terms = p.terms[k];
      Lanes to_surface, to_above;
      for (int l = 0; l < width; ++l) {
        const Water here = water(t.lane[l], s.lane[l]);
        const Ratio rho = ratio(here, terms);
        to_surface.lane[l] = k == 0 ? 0.0 : buoyancy_difference(ratio(surface[l], terms), rho);
        to_above.lane[l] =
            k >= static_cast<std::uint64_t>(p.bottom[at + l]) ? 0.0 : buoyancy_difference(ratio(above[l], terms), rho);
        above[l] = here;
      }
      store(p.to_surface + (k - first) * points + at, to_surface.vector);
      if (k == 0) continue;
      store(local, to_above.vector);
      local += points;
    }
    if (first + count == levels) store(local, Vector{});
  }
}

inline void launch_pop_buoydiff(const BuoydiffArrays& p, std::uint64_t first, std::uint64_t count, std::uint64_t levels,
                                std::uint64_t points, unsigned blocks, cudaStream_t stream) {
  const bool pairs = points % 2 == 0 && allow_vectors(p.temperature, p.salinity) &&
                     allow_vectors(p.surface_temperature, p.surface_salinity) && allow_vectors(p.to_surface, p.local);
  const std::uint64_t columns = pairs ? points / 2 : points;
  const auto most = static_cast<unsigned>((columns + threads - 1) / threads);
  if (pairs)
    pop_buoydiff<double2><<<std::min(blocks, most), threads, 0, stream>>>(p, first, count, levels, points);
  else
    pop_buoydiff<double><<<std::min(blocks, most), threads, 0, stream>>>(p, first, count, levels, points);
}

}  // namespace shiplap::kernels
