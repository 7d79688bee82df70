// The parameters of the kernel of scalar-add.
#pragma once

#include <cstdint>

namespace shiplap {

/// The parameters of scalar-add. The inputs (int32) of item i begin at index inputs · i / items, its outputs at index
/// outputs · i / items, and both end where those of item i + 1 begin.
struct ScalarAddShape {
  std::uint64_t inputs = 1;
  std::uint64_t outputs = 1;
  std::uint64_t items = 1;
  std::uint32_t scalar = 1;
  std::uint32_t iterations = 1;
  /// Whether all items have the same numbers of inputs and outputs.
  bool even() const { return inputs % items == 0 && outputs % items == 0; }
};

}  // namespace shiplap
