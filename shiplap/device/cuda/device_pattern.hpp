// Kernels that write and check the test pattern (device/pattern.hpp) in the memory of a GPU.
#pragma once

#include <cstdint>

#include "shiplap/core/units.hpp"
#include "shiplap/device/cuda/handles.hpp"

namespace shiplap {

/// Writes and checks the pattern on one GPU in a stream of its own. Addresses must be multiples of 8. Both methods wait
/// for the GPU.
class DevicePattern {
 public:
  /// Uses the current GPU, which has `sm_count` SMs.
  DevicePattern(const Api&, unsigned sm_count);

  void fill(std::byte* memory, Bytes length, std::uint64_t seed);
  /// Number of bytes that differ from the pattern's bytes [pattern_offset, pattern_offset + length). `pattern_offset`
  /// must be a multiple of 8.
  std::uint64_t mismatches(const std::byte* memory, Bytes length, std::uint64_t seed, Bytes pattern_offset);

 private:
  unsigned grid(Bytes length) const;

  const Api& api_;
  unsigned sm_count_;
  StreamHandle stream_;
  DeviceMemory count_;
  PinnedMemory count_on_host_;
};

const void* fill_pattern_kernel();
const void* compare_pattern_kernel();

}  // namespace shiplap
