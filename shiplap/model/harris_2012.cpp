#include "shiplap/model/harris_2012.hpp"

namespace shiplap::harris_2012 {

Bandwidth theoretical_bandwidth(double clock_hz, std::uint32_t bus_bits, double transfers_per_clock) {
  return {clock_hz * (bus_bits / 8.0) * transfers_per_clock};
}

Bandwidth effective_bandwidth(Bytes read, Bytes written, Seconds time) { return (read + written) / time; }

double gigaflops(std::uint64_t operations, Seconds time) {
  return static_cast<double>(operations) / time.count() * 1e-9;
}

}  // namespace shiplap::harris_2012
