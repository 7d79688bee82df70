#include "shiplap/device/virtual/virtual_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<MeasurableDevice> device() { return open_virtual(planted_profile(), "virtual:planted"); }

TEST(VirtualDevice, memory_lives_as_long_as_those_who_share_it) {
  std::shared_ptr<const void> shared;
  const std::byte* last = nullptr;
  {
    const Memory memory = device()->allocate(Place::gpu(0), MemoryKind::device, Bytes{10000});
    memory.bytes().back() = std::byte{7};
    last = &memory.bytes().back();
    shared = share_virtual_memory(last);
    ASSERT_NE(shared, nullptr);
  }
  EXPECT_EQ(*last, std::byte{7});
  EXPECT_NE(share_virtual_memory(last), nullptr);
  shared.reset();
  EXPECT_EQ(share_virtual_memory(last), nullptr);
  const std::byte elsewhere{};
  EXPECT_EQ(share_virtual_memory(&elsewhere), nullptr);
}

TEST(VirtualDevice, without_bytes_takes_the_same_times_and_touches_nothing) {
  const Bytes size = 1_MiB;
  const auto observed = [&](VirtualBytes bytes, bool& kernel_ran, std::byte& arrived) {
    const auto gpu = open_virtual(planted_profile(), "virtual:planted", bytes);
    const Memory host = gpu->allocate(Place::host(), MemoryKind::pinned, size);
    const Memory device = gpu->allocate(Place::gpu(), MemoryKind::device, size);
    host.data()[0] = std::byte{7};
    Schedule s;
    const BufferId from = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size});
    const BufferId to = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, size});
    const StreamId stream = s.add_stream("a");
    const OpId copied = s.add({.what = Copy{{from, {}, size}, {to, {}, size}}, .stream = stream, .after = {}});
    const KernelId k = s.add_kernel("kernel");
    s.add({.what = Kernel{.kernel = k, .items = 1, .operands = {}, .flows = {}}, .stream = stream, .after = {copied}});
    const KernelBinding kernel{.host = [&](const Launch&) { kernel_ran = true; },
                               .cuda = {},
                               .duration = [](const Launch&) { return microseconds(70); }};
    const RunResult result = gpu->prepare(s, {.buffers = {host.data(), device.data()}, .kernels = {kernel}})->run({});
    arrived = device.data()[0];
    EXPECT_EQ(gpu->mismatches(device, Bytes{0}, size, 1, Bytes{0}) == 0, bytes == VirtualBytes::left_out);
    return result;
  };
  bool ran = false;
  bool ran_without = false;
  std::byte arrived{0};
  std::byte arrived_without{0};
  const RunResult moved = observed(VirtualBytes::moved, ran, arrived);
  const RunResult left_out = observed(VirtualBytes::left_out, ran_without, arrived_without);
  EXPECT_TRUE(ran);
  EXPECT_FALSE(ran_without);
  EXPECT_EQ(arrived, std::byte{7});
  EXPECT_EQ(arrived_without, std::byte{0});
  EXPECT_GT(moved.timeline.makespan, microseconds(70)) << "the kernel states its own time";
  EXPECT_EQ(left_out.timeline.makespan, moved.timeline.makespan);
  EXPECT_EQ(left_out.submission, moved.submission);
  EXPECT_EQ(left_out.host_total, moved.host_total);
}

TEST(VirtualDevice, without_bytes_holds_more_memory_than_the_host_has) {
  const auto available = available_host_memory();
  if (!available) GTEST_SKIP() << "the system does not say how much memory is available";
  const Bytes size = available->size * 2;
  Profile profile = planted_profile();
  profile.gpus[0].memory = size;
  const auto allocate = [&](VirtualBytes bytes) {
    return open_virtual(profile, "virtual:planted", bytes)->allocate(Place::gpu(), MemoryKind::device, size);
  };
  EXPECT_NE(allocate(VirtualBytes::left_out).data(), nullptr);
  EXPECT_THROW(allocate(VirtualBytes::moved), Error);
}

TEST(VirtualDevice, claims_of_the_conditions_of_its_profile_only_those_of_the_hardware_that_it_simulates) {
  Profile profile = planted_profile();
  profile.conditions = {{"gpu.link", "32.0 GT/s PCIe x16"}, {"gpu.driver", "580"},  {"gpu.pci_bus_id", "0000:00:06.0"},
                        {"gpu.uuid", "GPU-06e541f8"},       {"gpu.power", "168 W"}, {"host.cpu", "Some CPU"}};
  const std::string name = profile.name;
  const std::string hash = parameter_hash(profile);
  const Conditions conditions = open_virtual(std::move(profile), "virtual:planted")->info().conditions;
  EXPECT_EQ(conditions,
            (Conditions{{"gpu.link", "32.0 GT/s PCIe x16"}, {"simulated.profile", name + " (" + hash + ")"}}));
}

/// Brings 1 MiB in, has it inverted in that time and brings it back, three streams, on memory of its own.
struct Inverting {
  Schedule schedule;
  std::vector<Memory> memory;
  Bindings bindings;

  explicit Inverting(Device& gpu, Seconds work = microseconds(40)) {
    constexpr Bytes size = 1_MiB;
    const BufferId x = schedule.add_buffer({"x", Place::host(), MemoryKind::pinned, size});
    const BufferId d = schedule.add_buffer({"d", Place::gpu(), MemoryKind::device, size});
    schedule.add_kernel("invert");
    const Region host{x, 0_B, size};
    const Region device{d, 0_B, size};
    const OpId in = schedule.add({.what = Copy{host, device}, .stream = schedule.add_stream("in"), .after = {}});
    const Kernel kernel{.kernel = {0}, .work = work, .operands = {{device, AccessMode::write}}, .flows = {}};
    const OpId run = schedule.add({.what = kernel, .stream = schedule.add_stream("compute"), .after = {in}});
    schedule.add({.what = Copy{device, host}, .stream = schedule.add_stream("out"), .after = {run}});
    for (const Buffer& b : schedule.buffers) memory.push_back(gpu.allocate(b.place, b.memory, b.size));
    for (const Memory& m : memory) bindings.buffers.push_back(m.data());
    bindings.kernels = {{.host = [](const Launch& launch) { *launch.operands[0] = ~*launch.operands[0]; }, .cuda = {}}};
  }
};

TEST(VirtualDevice, takes_memory_for_what_it_is_also_where_a_buffer_begins_within_it) {
  const auto gpu = device();
  const auto bind = [&](Buffer buffer, std::byte* data) {
    Schedule schedule;
    schedule.add_buffer(std::move(buffer));
    gpu->prepare(schedule, {.buffers = {data}, .kernels = {}});
  };
  const Memory pageable = gpu->allocate(Place::host(), MemoryKind::pageable, 8_KiB);
  const Memory on_gpu = gpu->allocate(Place::gpu(), MemoryKind::device, 8_KiB);
  std::byte* const middle = pageable.data() + 4096;
  const Buffer half{"half", Place::host(), MemoryKind::pinned, 4_KiB};
  EXPECT_THAT(message_of([&] { bind(half, middle); }), HasSubstr("half is pinned memory in the schedule"));
  EXPECT_THAT(message_of([&] {
                bind({"all", Place::gpu(), MemoryKind::device, 8_KiB}, on_gpu.data() + 4096);
              }),
              HasSubstr("all of 8 KiB does not fit into the 4 KiB"));
  bind({"half", Place::gpu(), MemoryKind::device, 4_KiB}, on_gpu.data() + 4096);

  const Buffer all{"all", Place::host(), MemoryKind::pageable, 8_KiB};
  for (std::byte* const begin : {pageable.data(), middle}) {
    const Memory pinned = gpu->pin(begin, 4_KiB);
    bind(half, begin);
    bind(all, pageable.data());
    EXPECT_THROW(gpu->kind_of(pageable.data(), 8_KiB), Error) << "a part of it is pinned";
  }
  std::vector<std::byte> own(8192);
  const Memory pinned = gpu->pin(own.data(), 4_KiB);
  bind(all, own.data());
}

TEST(VirtualDevice, what_is_submitted_behind_a_run_overlaps_it_and_ends_behind_it) {
  const auto gpu = device();
  const Inverting a(*gpu);
  const Inverting b(*gpu);
  const auto first = gpu->prepare(a.schedule, a.bindings);
  const double alone = first->run().timeline.makespan.count();
  const auto second = gpu->prepare_behind(*first, b.schedule, b.bindings);
  first->submit();
  second->submit();
  const RunResult of_first = first->wait();
  const RunResult of_second = second->wait();
  EXPECT_EQ(a.memory[0].bytes()[0], ~b.memory[0].bytes()[0]) << "twice and once inverted";
  EXPECT_GT(of_second.ended, of_first.ended);
  EXPECT_LT((of_second.ended - of_first.ended).count(), 0.8 * alone) << "kernels take 40 us, and copies about 20 each";
  EXPECT_NEAR(of_first.timeline.makespan.count(), alone, 0.02 * alone);
}

TEST(VirtualDevice, runs_that_are_each_waited_for_take_as_long_as_alone_however_many_came_before) {
  const auto gpu = device();
  const Inverting a(*gpu);
  const Inverting b(*gpu);
  const auto first = gpu->prepare(a.schedule, a.bindings);
  const double alone = first->run().timeline.makespan.count();
  const auto second = gpu->prepare_behind(*first, b.schedule, b.bindings);
  Seconds before = first->run().ended;
  for (int i = 0; i < 20; ++i) {
    const RunResult result = (i % 2 == 0 ? second : first)->run();
    ASSERT_NEAR((result.ended - before).count(), alone, 0.02 * alone) << i;
    ASSERT_NEAR(result.timeline.makespan.count(), alone, 0.02 * alone) << i;
    before = result.ended;
  }
}

TEST(VirtualDevice, a_kernel_that_tells_what_its_data_cost_takes_that_long) {
  const auto gpu = device();
  Inverting inverting(*gpu);
  const auto as_stated = gpu->prepare(inverting.schedule, inverting.bindings);
  inverting.bindings.kernels[0].duration = [](const Launch& launch) {
    return microseconds(*launch.operands[0] == std::byte{7} ? 500 : 40);
  };
  const auto told = gpu->prepare(inverting.schedule, inverting.bindings);
  inverting.memory[0].bytes()[0] = std::byte{1};
  const Seconds planned = as_stated->run().timeline.makespan;
  EXPECT_EQ(told->run().timeline.makespan, planned);
  inverting.memory[0].bytes()[0] = std::byte{7};
  const RunResult slow = told->run({.trace = Trace::kernels});
  EXPECT_NEAR(in_microseconds(slow.timeline.makespan - planned), 460, 1e-6);
  EXPECT_NEAR(in_microseconds(slow.timeline.spans[1].end - slow.timeline.spans[1].start), 500, 1e-6);
  EXPECT_EQ(slow.timeline.spans[0].end, Seconds{0}) << "of kernels alone";
}

TEST(VirtualDevice, tells_of_a_run_that_takes_longer_than_its_time_limit_and_lets_that_time_pass) {
  const auto gpu = device();
  const Inverting a(*gpu);
  const Inverting b(*gpu);
  const auto first = gpu->prepare(a.schedule, a.bindings);
  const auto behind = gpu->prepare(b.schedule, b.bindings);
  const Seconds takes = first->run().host_total;
  const auto expect_timed_out = [&](Execution& execution) {
    EXPECT_EQ(message_of<TimedOut>([&] { execution.run({.limit = microseconds(1)}); }),
              "the run takes " + to_string(takes) + " on the simulated GPU, which is above its time limit of " +
                  to_string(microseconds(1)));
    EXPECT_FALSE(execution.overdue()) << "the simulated clock is behind its end";
    EXPECT_THROW(execution.wait(), Error) << "nothing is in flight";
  };
  expect_timed_out(*first);
  EXPECT_NEAR(first->run({.limit = takes * 1.01}).ended / takes, 3, 1e-9);
  // In streams that others share.
  const auto second = gpu->prepare_behind(*behind, b.schedule, b.bindings);
  expect_timed_out(*second);
  EXPECT_NEAR(behind->run().ended / takes, 2, 0.02);
}

TEST(VirtualDevice, takes_a_run_that_cannot_be_simulated_out_of_the_streams_that_others_share) {
  const auto gpu = device();
  const Inverting a(*gpu);
  Inverting b(*gpu);
  bool ends = false;
  b.bindings.kernels[0].duration = [&](const Launch&) {
    return ends ? microseconds(40) : Seconds{std::numeric_limits<double>::infinity()};
  };
  const auto first = gpu->prepare(a.schedule, a.bindings);
  const auto second = gpu->prepare_behind(*first, b.schedule, b.bindings);
  const double alone = gpu->prepare(a.schedule, a.bindings)->run().timeline.makespan.count();
  first->submit();
  EXPECT_THROW(second->submit(), Error);
  EXPECT_THROW(second->wait(), Error) << "not in flight";
  EXPECT_NEAR(first->wait().timeline.makespan.count(), alone, 0.02 * alone);
  EXPECT_NEAR(first->run().timeline.makespan.count(), alone, 0.02 * alone);
  ends = true;
  EXPECT_NEAR(second->run().timeline.makespan.count(), alone, 0.02 * alone);
}

}  // namespace
}  // namespace shiplap
