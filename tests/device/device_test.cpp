// What a device must do to execute schedules, and what it answers where it can do no more.
#include "shiplap/device/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/measurable_device.hpp"
#include "shiplap/device/pinned_regions.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

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
  ProbeKernel probe_kernel(ProbeKernel::Kind, std::uint64_t, double) override { return {}; }
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

/// Memory of a few bytes whose pinned ranges are noted.
struct PinnedRanges : ::testing::Test {
  Memory hold(std::size_t first, std::size_t size) {
    std::byte* const data = &memory[first];
    return regions->hold(data, Bytes{size},
                         {.is_pinned = [this] { return pinned_by_others; },
                          .pin = [=, this] { pinned.emplace(data, size); },
                          .unpin = [this](std::byte* p) { EXPECT_EQ(pinned.erase(p), 1u); }});
  }

  std::shared_ptr<PinnedRegions> regions = std::make_shared<PinnedRegions>();
  std::array<std::byte, 100> memory{};
  std::map<std::byte*, std::size_t> pinned;
  bool pinned_by_others = false;
};

TEST_F(PinnedRanges, are_unpinned_by_their_last_holder) {
  std::optional<Memory> first = hold(0, 100);
  std::optional<Memory> second = hold(0, 100);
  EXPECT_EQ(pinned, (std::map<std::byte*, std::size_t>{{memory.data(), 100}}));
  first.reset();
  EXPECT_EQ(pinned.size(), 1u);
  second.reset();
  EXPECT_TRUE(pinned.empty());
}

TEST_F(PinnedRanges, stay_pinned_for_the_holder_of_a_part) {
  for (const std::size_t begin : {0u, 40u, 99u}) {
    std::optional<Memory> whole = hold(0, 100);
    std::optional<Memory> part = hold(begin, 1);
    EXPECT_EQ(part->data(), &memory[begin]);
    EXPECT_EQ(part->size(), 1_B);
    whole.reset();
    EXPECT_EQ(pinned, (std::map<std::byte*, std::size_t>{{memory.data(), 100}})) << begin;
    part.reset();
    EXPECT_TRUE(pinned.empty()) << begin;
  }
}

TEST_F(PinnedRanges, do_not_take_in_memory_around_them) {
  const Memory middle = hold(40, 20);
  for (const auto& [begin, size] : {std::pair<std::size_t, std::size_t>{0, 100}, {0, 41}, {59, 2}, {40, 21}, {30, 30}})
    EXPECT_THAT(message_of([&] { hold(begin, size); }), HasSubstr("a part is pinned already")) << begin;
  for (const auto& [begin, size] : {std::pair<std::size_t, std::size_t>{0, 40}, {60, 40}})
    EXPECT_NO_THROW(hold(begin, size)) << begin;
  EXPECT_EQ(pinned.size(), 1u);
}

TEST_F(PinnedRanges, are_not_those_of_others) {
  pinned_by_others = true;
  EXPECT_EQ(hold(0, 10).kind(), MemoryKind::pinned);
  EXPECT_TRUE(pinned.empty());
}

TEST_F(PinnedRanges, do_not_hold_what_could_not_be_pinned) {
  EXPECT_THROW(
      regions->hold(
          memory.data(), 1_B,
          {.is_pinned = [] { return false; }, .pin = [] { throw Error("refused"); }, .unpin = [](std::byte*) {}}),
      Error);
  { const Memory larger = hold(0, 2); }
  EXPECT_TRUE(pinned.empty());
}

}  // namespace
}  // namespace shiplap
