#include "shiplap/device/virtual/virtual_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "shiplap/core/error.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

std::shared_ptr<MeasurableDevice> device() { return open_virtual(planted_profile(), "virtual:planted"); }

std::vector<std::string> workloads() {
  return {"saxpy:n=100003", "scalar-add:in=400012,out=400012,iterations=7", "scalar-add:in=60KiB,out=140KiB",
          "scalar-add:in=140KiB,out=60KiB,iterations=3"};
}

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

TEST(VirtualDevice, gives_the_right_bytes_under_every_strategy_layout_and_chunk_count) {
  const auto gpu = device();
  for (const std::string& name : workloads()) {
    Workload workload = find_workload(name, {});
    workload.job.cost = derived_cost(workload.job, planted_profile());
    WorkloadData data(*gpu, workload);
    const Limits limits = limits_of(planted_profile());
    std::vector<Choice> choices{{.strategy = "explicit"}};
    for (const Layout layout : {Layout::per_chunk, Layout::few, Layout::three})
      for (const IssueOrder order : {IssueOrder::depth, IssueOrder::breadth})
        for (const std::uint32_t chunks : {1u, 2u, 13u, 64u})
          for (const std::uint32_t ring : {0u, 2u})
            choices.push_back({.chunks = chunks, .layout = layout, .order = order, .ring = ring});
    for (const Choice& choice : choices) {
      data.refill();
      prepare(*gpu, data.job(), choice, limits).run();
      EXPECT_EQ(data.verify(), "") << name << ": " << to_string(choice);
    }
  }
}

TEST(VirtualDevice, fails_verification_when_the_kernel_did_not_run) {
  const auto gpu = device();
  for (const std::string& name : workloads()) {
    Workload workload = find_workload(name, {});
    workload.job.cost = derived_cost(workload.job, planted_profile());
    workload.job.binding.host = [](const Launch&) {};
    WorkloadData data(*gpu, workload);
    prepare(*gpu, data.job(), {.chunks = 4}, limits_of(planted_profile())).run();
    EXPECT_NE(data.verify(), "") << name;
  }
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

TEST(VirtualDevice, refuses_a_racy_schedule_before_it_moves_a_byte) {
  Schedule s;
  const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, 64_B});
  const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, 64_B});
  s.add({.what = Copy{{host, {}, 64_B}, {gpu, {}, 64_B}}, .stream = s.add_stream("a"), .after = {}});
  s.add({.what = Copy{{gpu, {}, 64_B}, {host, {}, 64_B}}, .stream = s.add_stream("b"), .after = {}});
  std::vector<std::byte> memory(64);
  EXPECT_THROW(device()->prepare(s, {.buffers = {memory.data(), memory.data()}, .kernels = {}}), Error);
}

TEST(VirtualDevice, refuses_more_memory_than_the_gpu_has_with_the_numbers) {
  Profile small = planted_profile();
  small.gpus[0].memory = 8_MiB;
  const auto gpu = open_virtual(small, "virtual:small");
  const Memory first = gpu->allocate(Place::gpu(), MemoryKind::device, 6_MiB);
  try {
    gpu->allocate(Place::gpu(), MemoryKind::device, 4_MiB);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("4 MiB"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("2 MiB"), std::string::npos) << e.what();
  }
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

TEST(VirtualDevice, gives_memory_back_when_it_goes_out_of_scope) {
  const auto gpu = device();
  const Bytes before = gpu->info().free_memory;
  {
    const Memory memory = gpu->allocate(Place::gpu(), MemoryKind::device, 5_MiB);
    EXPECT_EQ(gpu->info().free_memory, before - 5_MiB);
  }
  EXPECT_EQ(gpu->info().free_memory, before);
}

TEST(VirtualDevice, refuses_memory_that_is_not_what_the_schedule_claims_as_a_gpu_does) {
  const auto gpu = device();
  for (const auto& [claimed, bound, fits] : {std::tuple{MemoryKind::pinned, MemoryKind::pageable, false},
                                             {MemoryKind::pinned, MemoryKind::managed, false},
                                             {MemoryKind::mapped, MemoryKind::pinned, true},
                                             {MemoryKind::pageable, MemoryKind::pinned, true},
                                             {MemoryKind::managed, MemoryKind::pinned, false},
                                             {MemoryKind::managed, MemoryKind::managed, true}}) {
    Schedule schedule;
    schedule.add_buffer({.name = "x", .place = Place::host(), .memory = claimed, .size = 4_KiB});
    const Memory memory = gpu->allocate(Place::host(), bound, 4_KiB);
    const Bindings bindings{.buffers = {memory.data()}, .kernels = {}};
    if (fits) {
      EXPECT_NO_THROW(gpu->prepare(schedule, bindings)) << to_string(claimed) << ", " << to_string(bound);
      continue;
    }
    try {
      gpu->prepare(schedule, bindings);
      FAIL() << to_string(claimed) << ", " << to_string(bound);
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("buffer x is " + to_string(claimed)), std::string::npos) << e.what();
    }
  }
}

TEST(VirtualDevice, reports_spans_only_when_asked) {
  const auto gpu = device();
  Workload workload = find_workload("saxpy:n=4096", {});
  workload.job.cost = derived_cost(workload.job, planted_profile());
  WorkloadData data(*gpu, workload);
  auto prepared = prepare(*gpu, data.job(), {.chunks = 4}, limits_of(planted_profile()));
  EXPECT_TRUE(prepared.run().timeline.spans.empty());
  EXPECT_EQ(prepared.run({.trace = Trace::best}).timeline.spans.size(), prepared.schedule().ops.size());
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

TEST(VirtualDevice, refuses_to_share_streams_where_that_cannot_be) {
  const auto gpu = device();
  const auto other = device();
  Inverting a(*gpu);
  const auto first = gpu->prepare(a.schedule, a.bindings);
  Schedule graph = a.schedule;
  graph.as_graph = true;
  EXPECT_THROW(gpu->prepare_behind(*first, graph, a.bindings), Unsupported);
  EXPECT_THROW(gpu->prepare_behind(*gpu->prepare(graph, a.bindings), a.schedule, a.bindings), Unsupported);
  EXPECT_THROW(other->prepare_behind(*first, a.schedule, a.bindings), Error) << "of another device";
  Schedule through_the_host = a.schedule;
  through_the_host.peer_access = false;
  EXPECT_EQ(message_of([&] { gpu->prepare_behind(*first, through_the_host, a.bindings); }),
            "of executions in the same streams, one lets GPUs address each other's memory and another does not");
  first->submit();
  EXPECT_THROW(gpu->prepare_behind(*first, a.schedule, a.bindings), Error) << "in flight, and nobody would know";
  first->wait();
  const auto second = gpu->prepare_behind(*first, a.schedule, a.bindings);
  gpu->prepare_behind(*first, a.schedule, a.bindings)->submit();  // goes while it is in flight
  EXPECT_THROW(second->submit({.hold = true}), Unsupported);
  second->submit();
  EXPECT_THROW(second->submit(), Error) << "in flight";
  second->wait();
  EXPECT_THROW(second->wait(), Error) << "not in flight";
}

TEST(VirtualDevice, refuses_bindings_that_do_not_fit_the_schedule) {
  const auto gpu = device();
  const Inverting fits(*gpu);
  const auto message = [&](const Bindings& bindings) {
    return message_of([&] { gpu->prepare(fits.schedule, bindings); });
  };
  Bindings few = fits.bindings;
  few.buffers.pop_back();
  EXPECT_EQ(message(few), "virtual:planted: the schedule has 2 buffers and 1 kernels, the bindings 1 and 1");
  Bindings none = fits.bindings;
  none.kernels.clear();
  EXPECT_EQ(message(none), "virtual:planted: the schedule has 2 buffers and 1 kernels, the bindings 2 and 0");
  const Memory short_memory = gpu->allocate(Place::host(), MemoryKind::pinned, 4_KiB);
  Bindings too_short = fits.bindings;
  too_short.buffers[0] = short_memory.data();
  EXPECT_EQ(message(too_short), "virtual:planted: buffer x of 1 MiB does not fit into the 4 KiB that are bound to it");
  Bindings of_cuda = fits.bindings;
  of_cuda.kernels[0].host = nullptr;
  EXPECT_EQ(message_of<Unsupported>([&] { gpu->prepare(fits.schedule, of_cuda); }),
            "virtual:planted: kernel invert has no host version to run here");
}

TEST(VirtualDevice, does_not_hold_what_the_host_waits_for) {
  const auto gpu = device();
  Schedule schedule;
  const BufferId from = schedule.add_buffer({"from", Place::host(), MemoryKind::pageable, 4_KiB});
  const BufferId to = schedule.add_buffer({"to", Place::gpu(), MemoryKind::device, 4_KiB});
  schedule.add({.what = Copy{{from, 0_B, 4_KiB}, {to, 0_B, 4_KiB}}, .stream = schedule.add_stream("in"), .after = {}});
  const Memory pageable = gpu->allocate(Place::host(), MemoryKind::pageable, 4_KiB);
  const Memory of_gpu = gpu->allocate(Place::gpu(), MemoryKind::device, 4_KiB);
  gpu->fill(pageable, 1);
  gpu->fill(of_gpu, 2);
  const auto execution = gpu->prepare(schedule, {.buffers = {pageable.data(), of_gpu.data()}, .kernels = {}});
  EXPECT_EQ(message_of<Unsupported>([&] { execution->run({.hold = true}); }),
            "a schedule whose host waits for some of its ops cannot be held until it is submitted");
  EXPECT_GT(gpu->mismatches(of_gpu, 0_B, 4_KiB, 1, 0_B), 0u) << "nothing has moved";
  execution->run();
  EXPECT_EQ(gpu->mismatches(of_gpu, 0_B, 4_KiB, 1, 0_B), 0u);
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
