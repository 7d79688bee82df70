// Faults put into the table of CUDA functions. Needs no GPU: every call is faked.
#include "shiplap/device/cuda/api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/cuda/gpu_set.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using testing::fake_api;
using testing::fake_cuda;
using testing::FakeCuda;
using testing::FaultMemory;
using ::testing::HasSubstr;

struct Fixture : ::testing::Test {
  std::unique_ptr<Execution> prepare() { return device->prepare(schedule, memory.bindings); }

  Api api = fake_api();
  std::unique_ptr<Device> device = open_cuda(0, api);
  Schedule schedule = testing::three_streams_inverting();
  FaultMemory memory{*device, api, schedule, true};
};
using CudaExecutionFake = Fixture;

TEST_F(CudaExecutionFake, makes_the_calls_of_the_submission_and_no_others) {
  const auto execution = prepare();
  fake_cuda().calls.clear();
  execution->run();
  // Chunk by chunk: copy, record, wait, kernel, record, wait, copy. One start mark and one end mark more: the other two
  // streams' last ops are waited for.
  EXPECT_EQ(fake_cuda().count("memcpy_async"), 6u);
  EXPECT_EQ(fake_cuda().count("stream_wait_event"), 6u);
  EXPECT_EQ(fake_cuda().count("event_record"), 8u);
  EXPECT_EQ(fake_cuda().count("event_synchronize"), 1u);
}

TEST_F(CudaExecutionFake, takes_the_makespan_from_the_start_mark_to_the_end_mark) {
  // The fake's clock advances by 1 ms with every record: 8 of them, the first is the start and the last the end.
  EXPECT_NEAR(in_milliseconds(prepare()->run().timeline.makespan), 7.0, 1e-9);
}

TEST_F(CudaExecutionFake, starts_the_clock_of_held_streams_at_the_gate) {
  // Records: start mark behind the gate, the gate's event, 3 × (event, event), stop mark.
  EXPECT_NEAR(in_milliseconds(prepare()->run({.hold = true}).timeline.makespan), 8.0, 1e-9);
}

TEST_F(CudaExecutionFake, times_one_stream_from_its_start_to_its_last_op_and_waits_for_all) {
  const auto execution = prepare();
  fake_cuda().calls.clear();
  // Stream "compute": start mark, then in, compute, in, compute, in, and the stop mark behind its last kernel.
  const RunResult result = execution->run({.hold = true, .timed = StreamId{1}});
  EXPECT_NEAR(in_milliseconds(result.timeline.makespan), 6.0, 1e-9);
  EXPECT_EQ(fake_cuda().count("event_synchronize"), 2u) << "the stop mark and the end of stream \"out\"";
  EXPECT_THAT(message_of([&] { execution->run({.timed = StreamId{7}}); }), HasSubstr("stream 7"));
}

TEST_F(CudaExecutionFake, takes_the_time_with_two_events_however_many_streams_end) {
  const auto execution = device->prepare(testing::stream_per_chunk_inverting(), memory.bindings);
  fake_cuda().calls.clear();
  execution->run();
  // Start, an end mark for each stream, stop; a further stream waits for all of them and the host for that one.
  EXPECT_EQ(fake_cuda().count("event_record"), testing::transfer_chunks + 2u);
  EXPECT_EQ(fake_cuda().count("stream_wait_event"), std::size_t{testing::transfer_chunks});
  EXPECT_EQ(fake_cuda().count("event_synchronize"), 1u);
}

TEST_F(CudaExecutionFake, holds_every_stream_behind_the_gate_before_its_first_op) {
  const auto execution = prepare();
  fake_cuda().calls.clear();
  execution->run({.hold = true});
  const void* gate_stream = nullptr;
  const void* gate_event = nullptr;
  std::set<const void*> held;
  for (const FakeCuda::Call& c : fake_cuda().calls) {
    if (c.name == "launch_kernel" && gate_stream == nullptr) gate_stream = c.stream;
    if (c.name == "event_record" && c.stream == gate_stream) gate_event = c.event;
    if (c.name == "stream_wait_event" && c.event == gate_event) held.insert(c.stream);
    const bool is_work = c.name == "memcpy_async" || (c.name == "event_record" && c.stream != gate_stream);
    EXPECT_TRUE(!is_work || held.contains(c.stream)) << c.name;
  }
  EXPECT_EQ(held.size(), 3u);
  EXPECT_FALSE(held.contains(gate_stream));
}

TEST_F(CudaExecutionFake, names_call_op_chunk_and_error_when_a_copy_fails) {
  const auto execution = prepare();
  fake_cuda().fail(3, cudaErrorInvalidValue, "memcpy_async");
  // Copies alternate in, out: the fourth is the copy out of chunk 1, op 5.
  EXPECT_THAT(message_of([&] { execution->run(); }),
              AllOf(HasSubstr("cudaMemcpyAsync"), HasSubstr("D2H of chunk 1 (op 5)"),
                    HasSubstr("cudaErrorInvalidValue (invalid argument)")));
  EXPECT_EQ(fake_cuda().last_error, cudaSuccess);
}

TEST_F(CudaExecutionFake, does_not_blame_its_ops_for_an_error_that_was_pending) {
  const auto execution = prepare();
  fake_cuda().last_error = cudaErrorInvalidValue;
  EXPECT_THAT(message_of([&] { execution->run(); }), HasSubstr("before this run"));
}

TEST_F(CudaExecutionFake, refuses_to_hold_copies_of_pageable_memory_with_the_remedy) {
  schedule.buffers[0].memory = MemoryKind::pageable;
  const auto execution = prepare();
  EXPECT_THAT(message_of<Unsupported>([&] { execution->run({.hold = true}); }),
              AllOf(HasSubstr("op 0"), HasSubstr("pageable"), HasSubstr("pin the memory")));
}

TEST_F(CudaExecutionFake, refuses_what_it_does_not_run_naming_the_op) {
  schedule.streams[0].place = Place::gpu(3);
  EXPECT_THAT(message_of<Unsupported>([&] { prepare(); }), AllOf(HasSubstr("op 0"), HasSubstr("gpu 3")));
}

TEST_F(CudaExecutionFake, takes_the_makespan_of_host_threads_from_their_clock) {
  const Schedule by_agents = testing::host_agents_inverting();
  const FaultMemory other(*device, api, by_agents, true);
  const RunResult result = device->prepare(by_agents, other.bindings)->run();
  EXPECT_EQ(result.timeline.makespan, result.host_total);
}

TEST_F(CudaExecutionFake, switches_peer_access_pair_by_pair_and_leaves_it_as_it_was) {
  fake_cuda().devices = 2;
  // Somebody else has switched it on from cuda:0 to cuda:1.
  static std::set<std::pair<int, int>> on;
  static int selected = 0;
  on = {{0, 1}};
  api.set_device = [](int number) { return selected = number, cudaSuccess; };
  api.device_enable_peer_access = [](int to, unsigned) {
    if (fake_cuda().failure == cudaErrorMemoryAllocation && selected == 1) return cudaErrorMemoryAllocation;
    return on.insert({selected, to}).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  };
  api.device_disable_peer_access = [](int to) {
    return on.erase({selected, to}) > 0 ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  };
  {
    const auto peers = std::make_shared<PeerAccess>(api, std::vector{0, 1});
    ASSERT_TRUE(peers->possible());
    fake_cuda().failure = cudaErrorMemoryAllocation;
    EXPECT_THAT(message_of([&] { PeerAccess::set(peers, true); }), HasSubstr("cuda:1 to the memory of cuda:0"));
    fake_cuda().failure = cudaErrorUnknown;
    PeerAccess::set(peers, true);
    EXPECT_EQ(on.size(), 2u);
    PeerAccess::set(peers, false);
    EXPECT_TRUE(on.empty());
  }
  EXPECT_EQ(on, (std::set<std::pair<int, int>>{{0, 1}}));
}

}  // namespace
}  // namespace shiplap
