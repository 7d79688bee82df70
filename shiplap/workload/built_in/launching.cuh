// Common parts of the functions that launch the built-in kernels. Programs that stand alone do not contain its text.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/built_in/grid_stride.cuh"
#include "shiplap/workload/cuda_kernels.hpp"

namespace shiplap {

constexpr std::uint64_t largest_grid = std::numeric_limits<std::int32_t>::max();

/// The number of blocks of a launch: the one that the schedule asks for, or else `wanted`.
inline unsigned grid_of(const Launch& launch, std::uint64_t wanted) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>(launch.blocks > 0 ? launch.blocks : wanted, 1, largest_grid));
}

inline cudaStream_t stream_of(const Launch& launch) { return static_cast<cudaStream_t>(launch.stream); }

template <class T>
T* operand(const Launch& launch, std::size_t i) {
  return reinterpret_cast<T*>(launch.operands[i]);
}

/// Index in its array of the first element that operand i holds.
template <class T>
std::uint64_t origin(const Launch& launch, std::size_t i) {
  return launch.origins.empty() ? 0 : launch.origins[i].count / sizeof(T);
}

/// Throws Error unless there are operands of at least these numbers of bytes.
inline void require_operands(const Launch& launch, const char* kernel, std::initializer_list<std::uint64_t> bytes) {
  if (launch.operands.size() != bytes.size() || launch.lengths.size() != bytes.size())
    throw Error(std::string(kernel) + " has " + std::to_string(bytes.size()) + " operands, and was launched with " +
                std::to_string(launch.operands.size()));
  std::size_t i = 0;
  for (const std::uint64_t needed : bytes) {
    if (launch.lengths[i].count < needed)
      throw Error(std::string(kernel) + " of " + std::to_string(launch.items) + " items needs " +
                  std::to_string(needed) + " bytes of operand " + std::to_string(i) + ", and was launched with " +
                  std::to_string(launch.lengths[i].count));
    ++i;
  }
}

/// Number of blocks for `n` elements of operands 0 and 1, with a thread for four elements if both are aligned to 16
/// bytes, else for each element.
inline std::uint64_t blocks_of_vectors(const Launch& launch, std::uint64_t n) {
  const bool vectors = kernels::allow_vectors(launch.operands[0], launch.operands[1]);
  const std::uint64_t work = vectors ? std::max(n / 4, n % 4) : n;
  return (work + kernels::threads - 1) / kernels::threads;
}

}  // namespace shiplap
