// Executions that are submitted and waited for apart, and those that share streams. Needs no GPU: every call is faked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/suite/transfers.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;
using testing::FaultMemory;
using testing::three_streams_inverting;

struct StreamsFixture : ::testing::Test {
  Api api = fake_api();
  std::unique_ptr<Device> device = open_cuda(0, api);
  Schedule schedule = three_streams_inverting();
  FaultMemory a{*device, api, schedule, true};
  FaultMemory b{*device, api, schedule, true};

  std::set<const void*> streams_of(const std::string& call) const {
    std::set<const void*> streams;
    for (const auto& made : fake_cuda().calls)
      if (made.name == call) streams.insert(made.stream);
    return streams;
  }
};
using CudaStreamsFake = StreamsFixture;

TEST_F(CudaStreamsFake, are_those_of_the_execution_that_others_are_prepared_behind) {
  const auto first = device->prepare(schedule, a.bindings);
  const int streams = fake_cuda().live_streams;
  const auto second = device->prepare_behind(*first, schedule, b.bindings);
  EXPECT_EQ(fake_cuda().live_streams, streams);
  fake_cuda().calls.clear();
  first->run();
  const auto used = streams_of("memcpy_async");
  fake_cuda().calls.clear();
  second->run();
  EXPECT_EQ(streams_of("memcpy_async"), used);
  a.expect_output();
  b.expect_output();
}

// The agents are numbered against the order in which they submit.
TEST_F(CudaStreamsFake, stop_the_clock_after_what_is_submitted_last_whichever_agent_submits_it) {
  for (const std::uint32_t last : {0u, 1u}) {
    Schedule s;
    s.agents = {{.name = "main"}, {.name = "helper"}};
    const BufferId from = s.add_buffer({"from", Place::gpu(), MemoryKind::device, 8_KiB});
    const BufferId to = s.add_buffer({"to", Place::host(), MemoryKind::pinned, 8_KiB});
    const StreamId only = s.add_stream("only");
    for (const std::uint32_t agent : {1 - last, last}) {
      const Bytes half = agent == last ? 4_KiB : 0_B;
      s.add(
          {.what = Copy{{from, half, 4_KiB}, {to, half, 4_KiB}}, .stream = only, .agent = AgentId{agent}, .after = {}});
    }
    const Memory on_gpu = device->allocate(Place::gpu(), MemoryKind::device, 8_KiB);
    const Memory on_host = device->allocate(Place::host(), MemoryKind::pinned, 8_KiB);
    const auto execution = device->prepare(s, {.buffers = {on_gpu.data(), on_host.data()}, .kernels = {}});
    fake_cuda().calls.clear();
    execution->submit();
    std::vector<std::string> names;
    for (const auto& call : fake_cuda().calls)
      if (call.name == "memcpy_async" || call.name == "event_record") names.push_back(call.name);
    EXPECT_THAT(names, ::testing::ElementsAre("event_record", "memcpy_async", "memcpy_async", "event_record")) << last;
    execution->wait();
  }
}

TEST_F(CudaStreamsFake, get_what_is_submitted_before_anything_is_waited_for) {
  const auto first = device->prepare(schedule, a.bindings);
  const auto second = device->prepare_behind(*first, schedule, b.bindings);
  fake_cuda().calls.clear();
  first->submit();
  second->submit();
  EXPECT_EQ(fake_cuda().count("event_synchronize"), 0u);
  EXPECT_EQ(fake_cuda().count("stream_synchronize"), 0u);
  EXPECT_EQ(fake_cuda().count("memcpy_async"), 12u);
  EXPECT_GT(first->wait().timeline.makespan, Seconds{0});
  EXPECT_GT(second->wait().timeline.makespan, Seconds{0});
}

TEST_F(CudaStreamsFake, grow_for_a_schedule_that_has_more) {
  Schedule more = schedule;
  more.add_stream("further");
  const auto first = device->prepare(schedule, a.bindings);
  const int streams = fake_cuda().live_streams;
  const auto second = device->prepare_behind(*first, more, b.bindings);
  EXPECT_EQ(fake_cuda().live_streams, streams + 1);
  second->run();
  b.expect_output();
}

TEST_F(CudaStreamsFake, that_are_urgent_have_the_highest_priority_and_are_not_shared_with_others) {
  Schedule urgent = schedule;
  urgent.streams[1].urgent = true;
  EXPECT_TRUE(fake_cuda().priorities.empty());
  const auto first = device->prepare(urgent, a.bindings);
  EXPECT_EQ(fake_cuda().priorities, std::vector<int>{testing::FakeCuda::highest_priority});
  const auto second = device->prepare_behind(*first, urgent, b.bindings);
  EXPECT_EQ(fake_cuda().priorities.size(), 1u);
  EXPECT_THAT(message_of([&] { device->prepare_behind(*first, schedule, b.bindings); }),
              ::testing::HasSubstr("stream 1, which is urgent in one of them only"));
}

TEST_F(CudaStreamsFake, are_waited_for_when_an_execution_goes_whose_run_is_in_flight) {
  auto execution = device->prepare(schedule, a.bindings);
  execution->submit();
  fake_cuda().calls.clear();
  execution.reset();
  EXPECT_EQ(streams_of("stream_synchronize").size(), 3u) << "one for each stream";
}

TEST_F(CudaStreamsFake, a_trace_of_kernels_marks_nothing_else) {
  const auto execution = device->prepare(schedule, a.bindings);
  execution->run();
  fake_cuda().calls.clear();
  execution->run();
  const std::size_t untraced = fake_cuda().count("event_record");
  fake_cuda().calls.clear();
  const RunResult result = execution->run({.trace = Trace::kernels});
  EXPECT_EQ(fake_cuda().count("event_record"), untraced + 6) << "two around each of three kernels";
  EXPECT_EQ(result.trace_source, "events around each kernel");
}

}  // namespace
}  // namespace shiplap
