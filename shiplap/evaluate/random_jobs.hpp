// Jobs drawn at random: sizes and shapes that nobody chose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shiplap {

/// So many workloads by name, always the same for a seed, the first ones of a longer list too. Of all that are built
/// in, log-uniformly: the larger array of most has 64 KiB to 2 GiB, of frames and levels less, and of `scalar-add` the
/// other one up to 60 times less; counts are odd as often as not, sizes rarely whole pages; kernels are from much
/// faster than the link to many times slower.
std::vector<std::string> random_workloads(std::size_t count, std::uint64_t seed);

}  // namespace shiplap
