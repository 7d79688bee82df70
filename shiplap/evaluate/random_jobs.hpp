// A seeded generator of workloads with random sizes and shapes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shiplap {

/// Returns `count` names of built-in workloads with random parameters. The list depends on the seed alone, and a longer
/// list begins with the shorter one. Sizes are drawn log-uniformly: the larger array has 64 KiB to 2 GiB (frames and
/// ocean levels: less), and the arrays of `scalar-add` differ by a factor of up to 60. Half of the sizes of
/// `scalar-add` are not multiples of 1 KiB. Kernels take from much less to many times the time of the copies.
std::vector<std::string> random_workloads(std::size_t count, std::uint64_t seed);

}  // namespace shiplap
