// Runs and streams that do not end in time. Needs no GPU: every call is faked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/run_async.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/suite/transfers.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using testing::fake_api;
using testing::fake_cuda;
using testing::FaultMemory;
using ::testing::HasSubstr;
using testing::three_streams_inverting;

const RunOptions limited{.limit = milliseconds(5)};

struct TimeLimitFixture : ::testing::Test {
  void SetUp() override { testing::FakeCuda::busy = true; }
  std::size_t waits() const { return fake_cuda().count("stream_synchronize") + fake_cuda().count("event_synchronize"); }

  Api api = fake_api();
  std::unique_ptr<Device> device = open_cuda(0, api);
};
using TimeLimit = TimeLimitFixture;

// A wait of CUDA would not return.
TEST_F(TimeLimit, ends_a_run_an_error_and_a_stop_without_a_wait_of_cuda) {
  const Schedule schedule = three_streams_inverting();
  for (const char* way_out : {"time limit", "cudaErrorInvalidValue", "was stopped before"}) {
    const FaultMemory memory(*device, api, schedule, true);
    const auto execution = device->prepare(schedule, memory.bindings);
    fake_cuda().calls.clear();
    const bool stops = std::string(way_out).starts_with("was");
    if (std::string(way_out).starts_with("cuda")) fake_cuda().fail(1, cudaErrorInvalidValue, "memcpy_async");
    EXPECT_THAT(message_of([&] {
                  execution->run(
                      {.stop = [&] { return stops && fake_cuda().count("memcpy_async") > 1; }, .limit = limited.limit});
                }),
                AllOf(HasSubstr(way_out), HasSubstr("the GPU still works on it")));
    EXPECT_EQ(waits(), 0u);
    testing::FakeCuda::busy = false;
    execution->run(limited);
    testing::FakeCuda::busy = true;
  }
}

TEST_F(TimeLimit, of_the_gate_that_passes_is_told_with_the_ops_and_ends_with_its_run) {
  testing::FakeCuda::busy = false;
  static Api below;
  static bool opens_by_itself;
  below = api;
  opens_by_itself = true;
  api.launch_kernel = [](const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                         cudaStream_t stream) {
    if (kernel == gate_kernel() && opens_by_itself) **static_cast<volatile std::uint32_t**>(arguments[1]) = 1;
    return below.launch_kernel(kernel, grid, block, arguments, shared, stream);
  };
  const Schedule schedule = three_streams_inverting();
  const FaultMemory memory(*device, api, schedule, true);
  const auto execution = device->prepare(schedule, memory.bindings);
  EXPECT_THAT(message_of([&] { execution->run({.hold = true}); }),
              AllOf(HasSubstr("the 9 ops could not all be submitted within the 10.00 s for which they can be held"),
                    HasSubstr("hold fewer ops at once or run without holding")));
  EXPECT_THROW(execution->wait(), Error) << "nothing is in flight";
  execution->run();
  opens_by_itself = false;
  EXPECT_GT(execution->run({.hold = true}).timeline.makespan, Seconds{0});
  memory.expect_output();
}

/// The schedule's first buffer is the caller's, the others are those of the prepared job.
Prepared prepared_of(Device& device, const Api& api, const Memory& given) {
  return {device, three_streams_inverting(), {given.data()}, testing::inverting_kernel(api)};
}

TEST_F(TimeLimit, of_a_prepared_job_leaves_its_memory_with_the_process_while_the_gpu_uses_it) {
  const Schedule schedule = three_streams_inverting();
  const Buffer& first = schedule.buffers.front();
  const Memory given = device->allocate(first.place, first.memory, first.size);
  const int before = fake_cuda().live();
  {
    Prepared ends = prepared_of(*device, api, given);
    testing::FakeCuda::busy = false;
    ends.run(limited);
  }
  EXPECT_EQ(fake_cuda().live(), before) << "a run that ended in time keeps nothing";
  testing::FakeCuda::busy = true;
  {
    Prepared endless = prepared_of(*device, api, given);
    fake_cuda().calls.clear();
    EXPECT_THROW(endless.run(limited), TimedOut);
    EXPECT_TRUE(endless.overdue());
  }
  EXPECT_EQ(waits(), 0u) << "the destructor returned without waiting";
  EXPECT_GT(fake_cuda().live_device_memory, 0);
  EXPECT_GT(fake_cuda().live(), before);
}

TEST_F(TimeLimit, holds_for_a_stream_of_the_caller_that_never_ends) {
  const Schedule schedule = three_streams_inverting();
  const Buffer& first = schedule.buffers.front();
  const Memory given = device->allocate(first.place, first.memory, first.size);
  Prepared prepared = prepared_of(*device, api, given);
  int stream = 0;
  fake_cuda().calls.clear();
  Running running = run_async(*device, prepared, &stream, limited);
  EXPECT_THAT(message_of([&] { running.wait(); }),
              AllOf(HasSubstr("the caller's stream"), HasSubstr("within the time limit of 5.000 ms"),
                    HasSubstr("the run has not begun")));
  EXPECT_EQ(fake_cuda().count("memcpy_async"), 0u);
  EXPECT_FALSE(prepared.overdue());
}

// Each copy ends 30 ms after its call, within the limit for all of them.
TEST_F(TimeLimit, holds_for_all_arrays_that_are_fetched_together) {
  using Clock = std::chrono::steady_clock;
  static Api below;
  static Clock::time_point recorded;
  static std::chrono::milliseconds copy_time;
  below = api;
  copy_time = {};
  api.event_record = [](cudaEvent_t event, cudaStream_t stream) {
    recorded = Clock::now();
    return below.event_record(event, stream);
  };
  api.event_query = [](cudaEvent_t event) {
    return Clock::now() - recorded < copy_time ? cudaErrorNotReady : below.event_query(event);
  };
  testing::FakeCuda::busy = false;
  std::vector<float> a(64);
  std::vector<float> b(64);
  Job job = Job{64, "states"}
                .kept_state("a", a)
                .kept_state("b", b)
                .kernel_time(milliseconds(1))
                .kernel([](CUstream_st*, Chunk, auto, auto) {});
  for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
  Prepared prepared =
      prepare(*device, job, {.strategy = "pageable", .chunks = 1}, {.device_memory = Bytes{fake_cuda().free_memory}});
  prepared.run();
  copy_time = std::chrono::milliseconds(30);
  EXPECT_THROW(prepared.fetch({.limit = milliseconds(45)}), TimedOut);
}

TEST_F(TimeLimit, is_not_needed_to_cancel_a_run_that_waits_for_the_callers_stream) {
  const Schedule schedule = three_streams_inverting();
  const Buffer& first = schedule.buffers.front();
  const Memory given = device->allocate(first.place, first.memory, first.size);
  Prepared prepared = prepared_of(*device, api, given);
  int stream = 0;
  Running running = run_async(*device, prepared, &stream);
  running.cancel();
  EXPECT_THROW(running.wait(), Cancelled);
  testing::FakeCuda::busy = false;
  EXPECT_NO_THROW(run_async(*device, prepared, &stream, {.limit = Seconds{10}}).wait());
}

}  // namespace
}  // namespace shiplap
