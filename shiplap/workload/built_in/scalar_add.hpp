// The parameters of the kernel of scalar-add.
#pragma once

#include <cstdint>

namespace shiplap {

/// Parameters of scalar-add: item i of the job is the inputs from index inputs · i / items on, and the outputs from
/// outputs · i / items on (int32), up to where those of item i + 1 begin.
struct ScalarAddShape {
  std::uint64_t inputs = 1;
  std::uint64_t outputs = 1;
  std::uint64_t items = 1;
  std::uint32_t scalar = 1;
  std::uint32_t iterations = 1;
  /// Whether all items are alike.
  bool even() const { return inputs % items == 0 && outputs % items == 0; }
};

}  // namespace shiplap
