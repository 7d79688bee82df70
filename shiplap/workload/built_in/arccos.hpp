// The parameters of the kernel of arccos.
#pragma once

#include <cstdint>

namespace shiplap {

struct ArccosShape {
  std::uint32_t calls = 1;  ///< of 2 arccos(x) / π - 1, each on the result of the one before
  bool promoted = false;    ///< to double for the division
};

}  // namespace shiplap
