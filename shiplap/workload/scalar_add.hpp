// scalar-add: a scalar added `iterations` times to every element (Gómez-Luna 2012, §3.1), with independent sizes of
// input and output, so that any ratio of copy in, kernel and copy out can be set.
#pragma once

#include "shiplap/workload/workload.hpp"

namespace shiplap {

/// `in` and `out` are numbers of int32 elements. An item is the smallest piece with whole numbers of both: in / gcd
/// inputs and out / gcd outputs. With f(x) = x + iterations · scalar (mod 2^32) output t of an item is f(input t mod
/// inputs) when there are at least as many outputs as inputs, else the sum of f over inputs t, t + outputs, t +
/// 2·outputs …
Workload scalar_add(std::uint64_t in, std::uint64_t out, std::uint32_t iterations, const CudaKernels&);

}  // namespace shiplap
