// The parameters of the kernel of scalar-add.
#pragma once

#include <cstdint>

namespace shiplap {

/// Parameters of scalar-add: each item of the job is `in_per_item` inputs and `out_per_item` outputs (int32).
struct ScalarAddShape {
  std::uint64_t in_per_item = 1;
  std::uint64_t out_per_item = 1;
  std::uint32_t scalar = 1;
  std::uint32_t iterations = 1;
};

}  // namespace shiplap
