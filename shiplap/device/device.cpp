#include "shiplap/device/device.hpp"

#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/load.hpp"
#include "shiplap/device/measurable_device.hpp"
#include "shiplap/device/stream_gap.hpp"

// The defaults of the interfaces stand here and not in the headers, which programs compile again and again.
namespace shiplap {

Memory::Memory() : data_(nullptr, [](std::byte*) {}) {}
Memory::Memory(std::byte* data, Bytes size, Place place, MemoryKind kind, Release release)
    : data_(data, std::move(release)), size_(size), place_(place), kind_(kind) {}

StreamGap::~StreamGap() = default;

Device::~Device() = default;
MemoryKind Device::kind_of(const std::byte*, Bytes /*size*/) const { return MemoryKind::pageable; }
std::optional<std::uint16_t> Device::gpu_of(const std::byte*) const { return std::nullopt; }
Memory Device::pin(std::byte*, Bytes) { throw Unsupported("this device does not pin memory that came from elsewhere"); }
void Device::require_pinnable(std::byte* data, Bytes) { static_cast<void>(pin(data, Bytes{1})); }
std::unique_ptr<Execution> Device::prepare_behind(const Execution& /*other*/, const Schedule&, const Bindings&) {
  throw Unsupported("executions of this device do not share streams");
}
bool Device::is_capturing(void* /*stream*/) const { return false; }
std::unique_ptr<StreamGap> Device::open_gap(void* /*stream*/) {
  throw Unsupported("this device has no streams that a run could be put between");
}

Mover Device::move_blocks(const BlockMove&, std::span<const Mover> /*movers*/, void* /*stream*/) {
  throw Unsupported("this device moves blocks in schedules only");
}

std::optional<std::vector<unsigned>> MeasurableDevice::numa_nodes(const Memory&) const { return std::nullopt; }
std::optional<double> MeasurableDevice::fraction_on_host(const Memory&) const { return std::nullopt; }
Conditions MeasurableDevice::state() const { return {}; }
std::string MeasurableDevice::clocks_held_by() const { return {}; }
GpuLoad MeasurableDevice::load(std::uint16_t) const { return {}; }
std::shared_ptr<void> MeasurableDevice::on_cores_of(Place) const { return nullptr; }
void MeasurableDevice::make_pages(std::span<std::byte>) const {}

}  // namespace shiplap
