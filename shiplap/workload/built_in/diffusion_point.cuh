// One point of a step of diffusion: one text for host and device, which therefore agree to the last bit. Also text of
// programs (program_text.hpp).
#pragma once

#include <cmath>

#include "shiplap/workload/view.hpp"

namespace shiplap::kernels {

/// Sums over the neighbours of a point: the four beside it, the four at the corners, the four two steps away.
struct Neighbours {
  double beside, corners, two_away;
};

/// The point less α times the Laplacian of the Laplacian, each of five points. Every product that is summed up is a
/// fused one, so that no compiler has a choice.
SHIPLAP_HOST_DEVICE inline double diffused(double centre, const Neighbours& n, double alpha) {
  const double twice_laplacian = fma(20.0, centre, fma(-8.0, n.beside, fma(2.0, n.corners, n.two_away)));
  return fma(-alpha, twice_laplacian, centre);
}

}  // namespace shiplap::kernels
