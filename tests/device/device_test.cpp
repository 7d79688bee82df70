// What a device must do to execute schedules, and what it answers where it can do no more.
#include "shiplap/device/device.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/measurable_device.hpp"
#include "shiplap/device/pinned_regions.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/device/stream_gap.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// A device that executes and cannot do more.
class Executor final : public Device {
 public:
  DeviceInfo info() const override { return inner_->info(); }
  Memory allocate(Place place, MemoryKind kind, Bytes size) override { return inner_->allocate(place, kind, size); }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    return inner_->prepare(schedule, bindings);
  }

 private:
  std::shared_ptr<Device> inner_ = open_virtual(planted_profile(), "virtual:planted");
};

/// A device that can be measured and tells nothing of itself.
class Untold final : public MeasurableDevice {
 public:
  DeviceInfo info() const override { return {}; }
  Memory allocate(Place, MemoryKind, Bytes) override { return {}; }
  std::unique_ptr<Execution> prepare(const Schedule&, const Bindings&) override { return nullptr; }
  ProbeKernel probe_kernel(ProbeKind, std::uint64_t, double) override { return {}; }
  void fill(const Memory&, std::uint64_t) override {}
  std::uint64_t mismatches(const Memory&, Bytes, Bytes, std::uint64_t, Bytes) override { return 0; }
};

TEST(Device, needs_three_methods_to_execute_a_schedule) {
  Executor device;
  const Memory from = device.allocate(Place::host(), MemoryKind::pinned, 64_B);
  const Memory to = device.allocate(Place::gpu(), MemoryKind::device, 64_B);
  from.data()[63] = std::byte{7};
  Schedule schedule;
  const BufferId source =
      schedule.add_buffer({.name = "from", .place = Place::host(), .memory = MemoryKind::pinned, .size = 64_B});
  const BufferId destination =
      schedule.add_buffer({.name = "to", .place = Place::gpu(), .memory = MemoryKind::device, .size = 64_B});
  schedule.add({.what = Copy{.from = {source, 0_B, 64_B}, .to = {destination, 0_B, 64_B}},
                .stream = schedule.add_stream("copies"),
                .after = {}});
  const auto execution = device.prepare(schedule, {.buffers = {from.data(), to.data()}, .kernels = {}});
  EXPECT_GT(execution->run().timeline.makespan, Seconds{0});
  EXPECT_EQ(to.data()[63], std::byte{7});
}

TEST(Device, says_what_it_cannot_do) {
  Executor device;
  std::byte byte{};
  EXPECT_EQ(device.kind_of(&byte), MemoryKind::pageable);
  EXPECT_THROW(device.pin(&byte, 1_B), Unsupported);
  EXPECT_THROW(device.open_gap(nullptr), Unsupported);
  const auto first = device.prepare({}, {});
  EXPECT_THROW(device.prepare_behind(*first, {}, {}), Unsupported);
}

TEST(MeasurableDevice, need_not_tell_what_it_does_not_know) {
  const Untold device;
  EXPECT_TRUE(device.state().empty());
  EXPECT_TRUE(device.clocks_held_by().empty());
  EXPECT_FALSE(device.numa_nodes(Memory()));
  EXPECT_FALSE(device.fraction_on_host(Memory()));
  EXPECT_EQ(device.on_cores_of(Place::host()), nullptr);
}

}  // namespace
}  // namespace shiplap
