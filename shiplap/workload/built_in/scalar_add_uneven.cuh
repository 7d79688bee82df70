// The kernel of scalar-add with items of different sizes. Programs that stand alone contain its text
// (program_text.hpp).
#pragma once

#include "shiplap/workload/built_in/scalar_add.cuh"

namespace shiplap::kernels {

/// Numbers of inputs, outputs and items of the whole job.
struct UnevenItems {
  std::uint64_t inputs;
  std::uint64_t outputs;
  std::uint64_t items;
};

/// Index of the first element of an item in an array of `elements` elements.
__device__ inline std::uint64_t begin_of(std::uint64_t item, std::uint64_t elements, std::uint64_t items) {
  return elements * item / items;
}

/// Computes the items [first, first + count), whose inputs begin at `in` and whose outputs begin at `out`.
__global__ void __launch_bounds__(threads)
    scalar_add_uneven(const std::uint32_t* in, std::uint32_t* out, UnevenItems all, std::uint64_t first,
                      std::uint64_t count, Addition addition) {
  const std::uint64_t first_input = begin_of(first, all.inputs, all.items);
  const std::uint64_t first_output = begin_of(first, all.outputs, all.items);
  const std::uint64_t outputs = begin_of(first + count, all.outputs, all.items) - first_output;
  for (std::uint64_t at = first_index(); at < outputs; at += stride()) {
    const std::uint64_t i = ((first_output + at + 1) * all.items - 1) / all.outputs;
    const std::uint64_t begin = begin_of(i, all.inputs, all.items);
    const std::uint64_t a = begin_of(i + 1, all.inputs, all.items) - begin;
    const std::uint64_t begin_out = begin_of(i, all.outputs, all.items);
    const std::uint64_t b = begin_of(i + 1, all.outputs, all.items) - begin_out;
    const std::uint32_t* item = in + (begin - first_input);
    const std::uint64_t t = first_output + at - begin_out;
    if (b >= a) {
      out[at] = add_repeatedly(item[t % a], addition);
      continue;
    }
    std::uint32_t sum = 0;
    for (std::uint64_t s = t; s < a; s += b) sum += add_repeatedly(item[s], addition);
    out[at] = sum;
  }
}

}  // namespace shiplap::kernels
