// One point of a time step of diffusion. Host and device use the same code, so they agree to the last bit. Programs
// that stand alone contain its text (program_text.hpp).
#pragma once

#include <cmath>

#include "shiplap/workload/view.hpp"

namespace shiplap::kernels {

/// Sums over the neighbours of a point: the four beside it, the four at its corners, and the four two steps away.
struct Neighbours {
  double beside, corners, two_away;
};

/// The point minus α times the Laplacian of the Laplacian, where each Laplacian has five points. All multiply-adds are
/// explicitly fused, so that every compiler gives the same bits.
SHIPLAP_HOST_DEVICE inline double diffused(double centre, const Neighbours& n, double alpha) {
  const double twice_laplacian = fma(20.0, centre, fma(-8.0, n.beside, fma(2.0, n.corners, n.two_away)));
  return fma(-alpha, twice_laplacian, centre);
}

}  // namespace shiplap::kernels
