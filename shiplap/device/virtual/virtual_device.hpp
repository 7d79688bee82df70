// The virtual device: simulates a schedule on a profile and moves the real bytes in the simulated order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// What runs on a virtual device do with the bytes of buffers.
enum class VirtualBytes : std::uint8_t {
  moved,    ///< copies move them, and kernels run their host versions
  left_out  ///< runs have the same times and do neither: memory stays untouched, and comparisons find no difference
};

/// Opens a virtual device. `id` is the name under which it was opened ("virtual:h200"). With
/// `VirtualBytes::left_out` a simulated measurement takes a fraction of the time, because most of it goes into copying.
std::shared_ptr<MeasurableDevice> open_virtual(Profile, std::string id, VirtualBytes = VirtualBytes::moved);

/// Returns a further owner of the memory of a virtual device around the address: the memory lives as long as its
/// `Memory` and all such owners. Null for any other memory. Host kernels that hand their operands on need it.
std::shared_ptr<const void> share_virtual_memory(const std::byte*);

}  // namespace shiplap
