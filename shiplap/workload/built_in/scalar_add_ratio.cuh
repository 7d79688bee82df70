// The kernel of scalar-add with any ratio of inputs to outputs. Programs that stand alone contain its text
// (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/scalar_add.cuh"

namespace shiplap::kernels {

/// Computes items of `a` inputs and `b` outputs. `Index` has 32 bits if that is enough, because divisions of 64 bits
/// are slow.
template <class Index>
__global__ void __launch_bounds__(threads)
    scalar_add_ratio(const std::uint32_t* in, std::uint32_t* out, Index outputs, Index a, Index b, Addition addition) {
  for (std::uint64_t at = first_index(); at < outputs; at += stride()) {
    const auto o = static_cast<Index>(at);
    const std::uint32_t* item = in + static_cast<std::uint64_t>(o / b) * a;
    const Index t = o % b;
    if (b >= a) {
      out[at] = add_repeatedly(item[t % a], addition);
      continue;
    }
    std::uint32_t sum = 0;
    for (Index s = t; s < a; s += b) sum += add_repeatedly(item[s], addition);
    out[at] = sum;
  }
}

}  // namespace shiplap::kernels
