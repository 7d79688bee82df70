// The CUDA device on a real GPU.
#include "shiplap/device/cuda/cuda_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/activity.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/device/cuda/probe_kernels.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"

namespace shiplap {
namespace {

using testing::bindings_of;
using testing::memory_for;
using testing::schedule_for;
using CudaDevice = testing::OnGpu;

/// `count` copies of `size` bytes one after the other, to and fro between host and GPU buffers of that size each.
Schedule copies(std::uint32_t count, Bytes size) {
  Schedule s;
  const BufferId host = s.add_buffer({"host", Place::host(), MemoryKind::pinned, size});
  const BufferId gpu = s.add_buffer({"GPU", Place::gpu(), MemoryKind::device, size});
  const BufferId back = s.add_buffer({"back", Place::host(), MemoryKind::pinned, size});
  const StreamId stream = s.add_stream("copies");
  for (std::uint32_t i = 0; i < count; ++i) {
    const Region from{i % 2 == 0 ? host : gpu, 0_B, size};
    const Region to{i % 2 == 0 ? gpu : back, 0_B, size};
    s.add({.what = Copy{from, to}, .stream = stream, .agent = AgentId{0}, .after = {}, .chunk = i});
  }
  return s;
}

Api slow_copies;

TEST_F(CudaDevice, keeps_submission_out_of_a_held_makespan) {
  slow_copies = real_api();
  slow_copies.memcpy_async = [](void* to, const void* from, std::size_t size, cudaMemcpyKind kind, cudaStream_t s) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return cudaMemcpyAsync(to, from, size, kind, s);
  };
  const auto slow = open_cuda(0, slow_copies);
  const Schedule schedule = copies(8, 1_B);
  const auto memory = memory_for(*slow, schedule);
  const auto execution = slow->prepare(schedule, bindings_of(memory, {}));
  execution->run();
  const RunResult free = execution->run();
  const RunResult held = execution->run({.hold = true});
  // Eight times 2 ms of submission; the copies themselves take microseconds.
  EXPECT_GT(in_milliseconds(free.timeline.makespan), 14.0);
  EXPECT_LT(in_milliseconds(held.timeline.makespan), 2.0);
  EXPECT_GT(in_milliseconds(held.submission), 16.0);
  EXPECT_GE(held.host_total, held.submission);
}

TEST_F(CudaDevice, opens_a_gate_that_is_forgotten_and_says_so) {
  Gate gate(api, milliseconds(20));
  gate.close();
  const StreamHandle held = make_stream(api, "a stream that is held");
  check(api, api.stream_wait_event(held.get(), gate.closed(), 0), "cudaStreamWaitEvent");
  const auto start = std::chrono::steady_clock::now();
  check(api, api.stream_synchronize(held.get()), "cudaStreamSynchronize");
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(15));
  EXPECT_TRUE(gate.timed_out());
  gate.close();
  gate.release();
  check(api, api.stream_wait_event(held.get(), gate.closed(), 0), "cudaStreamWaitEvent");
  check(api, api.stream_synchronize(held.get()), "cudaStreamSynchronize");
  EXPECT_FALSE(gate.timed_out());
}

// --- Facts and probes ---

TEST_F(CudaDevice, describes_itself) {
  const DeviceInfo info = device->info();
  EXPECT_EQ(info.id, "cuda:0");
  EXPECT_FALSE(info.is_virtual);
  EXPECT_GT(info.memory, 1_GiB);
  EXPECT_LE(info.free_memory, info.memory);
  EXPECT_GT(info.sm_count, 0u);
  EXPECT_GT(info.copy_engines, 0u);
  EXPECT_EQ(info.resident_threads % info.sm_count, 0u);
  EXPECT_TRUE(info.conditions.contains("gpu.driver"));
  EXPECT_TRUE(info.conditions.contains("host.cpu"));
}

RunResult run_probe(MeasurableDevice& device, const ProbeKernel& probe, Memory& memory, RunOptions options) {
  Schedule s;
  const BufferId buffer = s.add_buffer({"data", Place::gpu(), MemoryKind::device, memory.size()});
  const KernelId kernel = s.add_kernel("probe");
  s.add({.what = Kernel{.kernel = kernel,
                        .items = 1,
                        .blocks = probe.blocks,
                        .resident_blocks = probe.resident_blocks,
                        .operands = {{{buffer, 0_B, memory.size()}, AccessMode::write}},
                        .flows = {}},
         .stream = s.add_stream("compute"),
         .agent = AgentId{0},
         .after = {},
         .chunk = 0});
  Bindings bindings;
  bindings.buffers = {memory.data()};
  bindings.kernels = {probe.binding};
  const auto execution = device.prepare(s, bindings);
  execution->run(options);
  return execution->run(options);
}

TEST_F(CudaDevice, reads_and_writes_with_the_stream_probe) {
  constexpr std::size_t bytes = 1 << 20;
  Memory gpu = device->allocate(Place::gpu(), MemoryKind::device, Bytes{bytes});
  device->fill(gpu, 9);
  run_probe(*device, device->probe_kernel(ProbeKind::stream, 0, bytes), gpu, {});
  std::vector<std::uint32_t> words(bytes / 4);
  ASSERT_EQ(cudaMemcpy(words.data(), gpu.data(), bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  for (std::size_t i = 0; i < words.size() / 2; ++i) ASSERT_EQ(words[words.size() / 2 + i], words[i] + 1) << i;
  EXPECT_EQ(device->mismatches(gpu, 0_B, Bytes{bytes / 2}, 9, 0_B), 0u);
}

TEST_F(CudaDevice, takes_one_more_wave_for_one_block_more_than_it_holds) {
  Memory none = device->allocate(Place::gpu(), MemoryKind::device, 256_B);
  const auto time = [&](std::uint64_t blocks) {
    const auto probe = device->probe_kernel(ProbeKind::spin, blocks, 0);
    std::vector<double> samples;
    for (int i = 0; i < 9; ++i)
      samples.push_back(run_probe(*device, probe, none, {.hold = true}).timeline.makespan.count());
    std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
    return samples[4];
  };
  const std::uint64_t wave = device->probe_kernel(ProbeKind::spin, 1, 0).resident_blocks;
  EXPECT_EQ(wave, device->info().resident_threads / spin_probe_threads);
  time(wave);  // the clock rises first
  const double one = time(wave);
  const double two = time(wave + 1);
  EXPECT_LT(time(1), 1.5 * one);
  EXPECT_GT(two, 1.4 * one);
  EXPECT_LT(two, 2.5 * one);
}

TEST_F(CudaDevice, does_multiply_adds_in_proportion_to_the_amount) {
  Memory none = device->allocate(Place::gpu(), MemoryKind::device, 256_B);
  const auto time = [&](double amount) {
    const auto probe = device->probe_kernel(ProbeKind::multiply_add, 0, amount);
    run_probe(*device, probe, none, {.hold = true});
    return run_probe(*device, probe, none, {.hold = true}).timeline.makespan.count();
  };
  const double some = time(2e11);
  const double more = time(8e11);
  EXPECT_GT(more / some, 3.4);
  EXPECT_LT(more / some, 4.6);
}

// --- Activity records ---

TEST_F(CudaDevice, sees_the_same_times_by_activity_records_as_by_events) {
  std::string why;
  if (!activity_available(why)) GTEST_SKIP() << why;
  // One copy each way by itself: events around it hold its latency too, 3 to 4 µs.
  for (const CopyDirection way : {CopyDirection::host_to_device, CopyDirection::device_to_host}) {
    Schedule one;
    const BufferId host = one.add_buffer({"host", Place::host(), MemoryKind::pinned, 32_MiB});
    const BufferId gpu = one.add_buffer({"GPU", Place::gpu(), MemoryKind::device, 32_MiB});
    const bool to_device = way == CopyDirection::host_to_device;
    one.add({.what = Copy{{to_device ? host : gpu, 0_B, 32_MiB}, {to_device ? gpu : host, 0_B, 32_MiB}},
             .stream = one.add_stream("q"),
             .after = {}});
    const auto memory = memory_for(*device, one);
    const auto execution = device->prepare(one, bindings_of(memory, {}));
    std::vector<double> by_events, by_records;
    for (int i = 0; i < 11; ++i) {
      by_events.push_back(in_microseconds(execution->run({.hold = true}).timeline.makespan));
      const RunResult traced = execution->run({.hold = true, .trace = Trace::best});
      ASSERT_NE(traced.trace_source.find("CUPTI"), std::string::npos) << traced.trace_source;
      const Span& span = traced.timeline.spans.at(0);
      EXPECT_GE(span.start.count(), 0);
      EXPECT_NEAR((span.end - traced.timeline.makespan).count(), 0, 1e-9);
      by_records.push_back(in_microseconds(span.end - span.start));
    }
    // Of two runs, of which either may have been disturbed: the least of each.
    const double events = std::ranges::min(by_events);
    const double records = std::ranges::min(by_records);
    std::printf("32 MiB %s: %.2f us by events, %.2f us by activity records\n", to_device ? "H2D" : "D2H", events,
                records);
    EXPECT_NEAR(records, events, 5);
  }
}

TEST_F(CudaDevice, costs_a_pipeline_little_to_record_activity) {
  std::string why;
  if (!activity_available(why)) GTEST_SKIP() << why;
  const Workload workload = find_workload("scalar-add:in=256MiB,out=256MiB,iterations=1");
  const Schedule schedule = schedule_for(workload, {.strategy = "streams", .chunks = 32});
  const auto memory = memory_for(*device, schedule);
  const auto execution = device->prepare(schedule, bindings_of(memory, {workload.job.binding}));
  std::vector<double> plain, traced;
  for (int i = 0; i < 15; ++i) {
    const double without = execution->run().timeline.makespan.count();
    const double with = execution->run({.trace = Trace::best}).timeline.makespan.count();
    if (i < 3) continue;
    plain.push_back(without);
    traced.push_back(with);
  }
  std::ranges::sort(plain);
  std::ranges::sort(traced);
  const double cost = traced[traced.size() / 2] / plain[plain.size() / 2] - 1;
  RecordProperty("cost_percent", std::to_string(100 * cost));
  std::printf("recording activity costs %.2f %%\n", 100 * cost);
  // CUPTI marks every copy and kernel itself, which costs 3 to 4 % with chunks of 8 MiB.
  EXPECT_LT(cost, 0.06);
}

}  // namespace
}  // namespace shiplap
