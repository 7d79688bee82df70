// The parameters of the kernels of diffusion.
#pragma once

#include <cstdint>

namespace shiplap {

/// The sizes and constants of diffusion. A field is double[nz][ny][nx].
struct DiffusionShape {
  std::uint32_t nx = 1;
  std::uint32_t ny = 1;
  std::uint64_t nz = 1;
  std::uint32_t steps = 1;
  double alpha = 1.0 / 32;
  bool split_by_steps = false;  ///< whether the items of the job are time steps instead of levels
};

}  // namespace shiplap
