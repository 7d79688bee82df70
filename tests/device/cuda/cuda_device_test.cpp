// The CUDA device on a real GPU.
#include "shiplap/device/cuda/cuda_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/activity.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/device/cuda/probe_kernels.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using testing::bindings_of;
using ::testing::HasSubstr;
using testing::memory_for;
using testing::schedule_for;
using CudaDevice = testing::OnGpu;

/// `count` copies of `size` bytes one after the other, to and fro between host and GPU buffers of that size each.
Schedule copies(std::uint32_t count, Bytes size, MemoryKind host_memory = MemoryKind::pinned) {
  Schedule s;
  const BufferId host = s.add_buffer({"host", Place::host(), host_memory, size});
  const BufferId gpu = s.add_buffer({"GPU", Place::gpu(), MemoryKind::device, size});
  const BufferId back = s.add_buffer({"back", Place::host(), host_memory, size});
  const StreamId stream = s.add_stream("copies");
  for (std::uint32_t i = 0; i < count; ++i) {
    const Region from{i % 2 == 0 ? host : gpu, 0_B, size};
    const Region to{i % 2 == 0 ? gpu : back, 0_B, size};
    s.add({.what = Copy{from, to}, .stream = stream, .agent = AgentId{0}, .after = {}, .chunk = i});
  }
  return s;
}

TEST_F(CudaDevice, brings_the_pattern_to_the_gpu_and_back_at_odd_sizes) {
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::mapped, MemoryKind::pageable}) {
    for (const std::uint64_t size : {1ull, 7ull, 8ull, 4097ull, 65'537ull, (3ull << 20) + 5, (64ull << 20) + 1}) {
      const Schedule schedule = copies(2, Bytes{size}, kind);
      const auto memory = memory_for(*device, schedule);
      device->fill(memory[0], size);
      device->fill(memory[1], size + 1);
      device->fill(memory[2], size + 2);
      device->prepare(schedule, bindings_of(memory, {}))->run();
      EXPECT_EQ(device->mismatches(memory[1], 0_B, Bytes{size}, size, 0_B), 0u) << to_string(kind) << " " << size;
      EXPECT_EQ(device->mismatches(memory[2], 0_B, Bytes{size}, size, 0_B), 0u) << to_string(kind) << " " << size;
    }
  }
}

TEST_F(CudaDevice, counts_as_many_mismatches_on_the_gpu_as_on_the_host) {
  const Schedule schedule = copies(2, Bytes{100'003});
  const auto memory = memory_for(*device, schedule);
  device->fill(memory[0], 1);
  for (const std::size_t at : {0, 9, 50'000, 100'000, 100'002}) memory[0].data()[at] ^= std::byte{1};
  device->prepare(schedule, bindings_of(memory, {}))->run();
  for (const Memory& m : memory) EXPECT_EQ(device->mismatches(m, 0_B, m.size(), 1, 0_B), 5u);
  EXPECT_EQ(device->mismatches(memory[1], 49'992_B, 17_B, 1, 49'992_B), 1u);
  EXPECT_GT(device->mismatches(memory[1], 49'992_B, 17_B, 1, 0_B), 10u);
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

// --- A long delay in front of one op: if an order that the result needs is missing, it goes wrong. ---

struct Delay {
  int submitted = 0;
  int target = -1;
  void before_submission(cudaStream_t stream) {
    if (submitted++ != target) return;
    long long cycles = 4'000'000;  // about 2 ms; every chunk takes microseconds
    void* arguments[] = {&cycles};
    check(real_api(), cudaLaunchKernel(spin_kernel(), dim3(1), dim3(32), arguments, 0, stream), "cudaLaunchKernel");
  }
};
Delay delay;
Api delaying;

TEST_F(CudaDevice, gives_the_right_result_with_a_delay_before_each_op_in_turn) {
  delaying = real_api();
  delaying.memcpy_async = [](void* to, const void* from, std::size_t size, cudaMemcpyKind kind, cudaStream_t s) {
    delay.before_submission(s);
    return cudaMemcpyAsync(to, from, size, kind, s);
  };
  const auto delayed = open_cuda(0, delaying);
  const Workload workload = find_workload("saxpy:n=100003");
  KernelBinding kernel = workload.job.binding;
  kernel.cuda = [launch = workload.job.binding.cuda](const Launch& l) {
    delay.before_submission(static_cast<cudaStream_t>(l.stream));
    launch(l);
  };

  std::vector<Choice> choices{{.strategy = "explicit"}, {.strategy = "implicit"}};
  for (const char* strategy : {"streams", "hybrid", "hybrid-mirror"})
    for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk})
      for (const std::uint32_t ring : {4u, 2u, 1u})
        choices.push_back({.strategy = strategy, .chunks = 4, .layout = layout, .streams = 2, .ring = ring});
  for (const Choice& choice : choices) {
    const Schedule schedule = schedule_for(workload, choice);
    const auto memory = memory_for(*delayed, schedule);
    std::vector<std::span<std::byte>> arrays;
    for (std::size_t a = 0; a < array_buffers(workload.job); ++a) arrays.push_back(memory[a].bytes());
    const auto execution = delayed->prepare(schedule, bindings_of(memory, {kernel}));
    for (int op = 0; op < static_cast<int>(schedule.ops.size()); ++op) {
      workload.fill(arrays);
      // What an earlier run left on the GPU must not be able to pass for this run's.
      for (std::size_t b = arrays.size(); b < memory.size(); ++b) delayed->fill(memory[b], 1000 + op);
      delay = {.submitted = 0, .target = op};
      execution->run();
      EXPECT_EQ(delay.submitted, static_cast<int>(schedule.ops.size()));
      EXPECT_EQ(workload.verify(arrays), "") << to_string(choice) << ", ring " << choice.ring << ", delay before "
                                             << describe(schedule, OpId{static_cast<std::uint32_t>(op)});
    }
  }
}

// --- Faults on a real device ---

struct Count {
  int copies = 0;
  int fail_at = -1;
  int streams = 0;
  int events = 0;
};
Count counted;
Api failing_copies;

TEST_F(CudaDevice, stays_usable_and_leaks_nothing_when_a_copy_fails) {
  failing_copies = real_api();
  failing_copies.memcpy_async = [](void* to, const void* from, std::size_t size, cudaMemcpyKind kind, cudaStream_t s) {
    // A real failure of the runtime, so that its pending error is real too: nothing can be copied to address 0 of a
    // GPU.
    const bool fails = counted.copies++ == counted.fail_at;
    return cudaMemcpyAsync(fails ? nullptr : to, from, size, kind, s);
  };
  failing_copies.stream_create_with_flags = [](cudaStream_t* s, unsigned flags) {
    ++counted.streams;
    return cudaStreamCreateWithFlags(s, flags);
  };
  failing_copies.stream_destroy = [](cudaStream_t s) {
    --counted.streams;
    return cudaStreamDestroy(s);
  };
  failing_copies.event_create_with_flags = [](cudaEvent_t* e, unsigned flags) {
    ++counted.events;
    return cudaEventCreateWithFlags(e, flags);
  };
  failing_copies.event_destroy = [](cudaEvent_t e) {
    --counted.events;
    return cudaEventDestroy(e);
  };
  const auto failing = open_cuda(0, failing_copies);
  const Schedule schedule = copies(4, 1_MiB);
  const auto memory = memory_for(*failing, schedule);
  // The device keeps its gate.
  counted.fail_at = -1;
  failing->prepare(schedule, bindings_of(memory, {}))->run({.hold = true});
  const Count before = counted;
  for (const RunOptions& options :
       {RunOptions{}, RunOptions{.hold = true}, RunOptions{.trace = Trace::events}, RunOptions{.trace = Trace::best}}) {
    const auto execution = failing->prepare(schedule, bindings_of(memory, {}));
    counted.copies = 0;
    execution->run(options);
    const int of_the_set_up = counted.copies - 4;  // copies with which a recording gets going, where there is one
    counted.copies = 0;
    counted.fail_at = of_the_set_up + 2;
    try {
      execution->run(options);
      ADD_FAILURE() << "the copy did not fail";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("cudaMemcpyAsync"), HasSubstr("chunk 2 (op 2)"), HasSubstr("cudaErrorInvalidValue")));
    }
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    counted.fail_at = -1;
    failing->fill(memory[0], 5);
    execution->run(options);
    EXPECT_EQ(failing->mismatches(memory[2], 0_B, 1_MiB, 5, 0_B), 0u);
  }
  EXPECT_EQ(counted.streams, before.streams);
  EXPECT_EQ(counted.events, before.events);
}

TEST_F(CudaDevice, refuses_more_memory_than_is_free_with_the_numbers) {
  const DeviceInfo info = device->info();
  try {
    device->allocate(Place::gpu(), MemoryKind::device, info.memory + 1_GiB);
    ADD_FAILURE() << "the memory was granted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(to_string(info.memory)), HasSubstr("free")));
  }
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
  run_probe(*device, device->probe_kernel(ProbeKernel::Kind::stream, 0, bytes), gpu, {});
  std::vector<std::uint32_t> words(bytes / 4);
  ASSERT_EQ(cudaMemcpy(words.data(), gpu.data(), bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  for (std::size_t i = 0; i < words.size() / 2; ++i) ASSERT_EQ(words[words.size() / 2 + i], words[i] + 1) << i;
  EXPECT_EQ(device->mismatches(gpu, 0_B, Bytes{bytes / 2}, 9, 0_B), 0u);
}

TEST_F(CudaDevice, takes_one_more_wave_for_one_block_more_than_it_holds) {
  Memory none = device->allocate(Place::gpu(), MemoryKind::device, 256_B);
  const auto time = [&](std::uint64_t blocks) {
    const auto probe = device->probe_kernel(ProbeKernel::Kind::spin, blocks, 0);
    std::vector<double> samples;
    for (int i = 0; i < 9; ++i)
      samples.push_back(run_probe(*device, probe, none, {.hold = true}).timeline.makespan.count());
    std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
    return samples[4];
  };
  const std::uint64_t wave = device->probe_kernel(ProbeKernel::Kind::spin, 1, 0).resident_blocks;
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
    const auto probe = device->probe_kernel(ProbeKernel::Kind::multiply_add, 0, amount);
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
