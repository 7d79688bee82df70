// The parameters of the kernel of arccos.
#pragma once

#include <cstdint>

namespace shiplap {

struct ArccosShape {
  std::uint32_t calls = 1;  ///< number of calls of 2 arccos(x) / π - 1, each on the result of the call before
  bool promoted = false;    ///< whether the division is in double precision
};

}  // namespace shiplap
