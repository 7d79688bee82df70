#include "shiplap/device/virtual/virtual_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/run.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

std::unique_ptr<Device> device() { return open_virtual(planted_profile(), "virtual:planted"); }

std::vector<std::string> workloads() {
  return {"saxpy:n=100003", "scalar-add:in=400012,out=400012,iterations=7", "scalar-add:in=60KiB,out=140KiB",
          "scalar-add:in=140KiB,out=60KiB,iterations=3"};
}

TEST(VirtualDevice, gives_the_right_bytes_under_every_strategy_layout_and_chunk_count) {
  const auto gpu = device();
  for (const std::string& name : workloads()) {
    Workload workload = find_workload(name, {});
    workload.job.cost = derived_cost(workload.job, planted_profile());
    Pipeline pipeline(*gpu, workload);
    const Limits limits = limits_of(planted_profile());
    std::vector<Choice> choices{{.strategy = "explicit"}};
    for (const Layout layout : {Layout::per_chunk, Layout::few, Layout::three})
      for (const IssueOrder order : {IssueOrder::depth, IssueOrder::breadth})
        for (const std::uint32_t chunks : {1u, 2u, 13u, 64u})
          for (const std::uint32_t ring : {0u, 2u})
            choices.push_back({.chunks = chunks, .layout = layout, .order = order, .ring = ring});
    for (const Choice& choice : choices) {
      pipeline.refill();
      pipeline.prepare(choice, limits).run();
      EXPECT_EQ(pipeline.verify(), "") << name << ": " << to_string(choice);
    }
  }
}

TEST(VirtualDevice, fails_verification_when_the_kernel_did_not_run) {
  const auto gpu = device();
  for (const std::string& name : workloads()) {
    Workload workload = find_workload(name, {});
    workload.job.cost = derived_cost(workload.job, planted_profile());
    workload.job.binding.host = [](const Launch&) {};
    Pipeline pipeline(*gpu, workload);
    pipeline.prepare({.chunks = 4}, limits_of(planted_profile())).run();
    EXPECT_NE(pipeline.verify(), "") << name;
  }
}

TEST(VirtualDevice, refuses_a_racy_schedule_before_it_moves_a_byte) {
  Schedule s;
  const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, 64_B});
  const BufferId gpu = s.add_buffer({"gpu", Place::gpu(), MemoryKind::device, 64_B});
  s.add({.what = Copy{{host, {}, 64_B}, {gpu, {}, 64_B}}, .queue = s.add_queue("a"), .after = {}});
  s.add({.what = Copy{{gpu, {}, 64_B}, {host, {}, 64_B}}, .queue = s.add_queue("b"), .after = {}});
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
  Pipeline pipeline(*gpu, workload);
  auto prepared = pipeline.prepare({.chunks = 4}, limits_of(planted_profile()));
  EXPECT_TRUE(prepared.run().timeline.spans.empty());
  EXPECT_EQ(prepared.run({.trace = Trace::best}).timeline.spans.size(), prepared.schedule().ops.size());
}

}  // namespace
}  // namespace shiplap
