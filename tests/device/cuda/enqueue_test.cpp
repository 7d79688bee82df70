// Runs that are enqueued in a stream of the caller. Needs no GPU: every call is faked, and copies are done at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/plan/relays.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;
using ::testing::HasSubstr;

constexpr Bytes size = 64_KiB;

struct EnqueueFixture : ::testing::Test {
  EnqueueFixture() {
    fake_cuda().devices = 2;
    fake_cuda().free_memory = 64u << 20;
    device = open_cuda({0, 1}, api);
    host = device->allocate(Place::host(), MemoryKind::pinned, size);
    gpu = device->allocate(Place::gpu(0), MemoryKind::device, size);
    EXPECT_EQ(api.set_device(1), cudaSuccess);
    stream = make_stream(api, "the caller's");  // of the second GPU
    EXPECT_EQ(api.set_device(0), cudaSuccess);
    for (std::size_t i = 0; i < size.count; ++i) host.data()[i] = static_cast<std::byte>(i * 7);
    const Schedule schedule = schedule_of_copy(size, {.in = true}, {.through = {{1, 0.5}}, .piece = 4_KiB});
    ring = device->allocate(schedule.buffers[2].place, MemoryKind::device, schedule.buffers[2].size);
    execution = device->prepare(schedule, {.buffers = {host.data(), gpu.data(), ring.data()}, .kernels = {}});
    fake_cuda().calls.clear();
  }
  ~EnqueueFixture() override { fake_cuda().devices = 1; }
  bool has_arrived(const Memory& there) const { return std::memcmp(there.data(), host.data(), size.count) == 0; }

  Api api = fake_api();
  std::unique_ptr<MeasurableDevice> device;
  StreamHandle stream;
  Memory host, gpu, ring;
  std::unique_ptr<Execution> execution;
};
using EnqueuedRun = EnqueueFixture;

TEST_F(EnqueuedRun, comes_after_what_is_in_the_stream_and_before_what_follows_without_a_wait_of_the_host) {
  execution->enqueue(stream.get());
  EXPECT_TRUE(has_arrived(gpu));
  const auto& calls = fake_cuda().calls;
  const auto first = [&](const std::string& name, const void* in) {
    return std::ranges::find_if(calls, [&](const auto& one) { return one.name == name && (!in || one.stream == in); });
  };
  const auto fork = first("event_record", stream.get());
  ASSERT_NE(fork, calls.end());
  const auto copy = first("memcpy_async", nullptr);
  ASSERT_NE(copy, calls.end());
  EXPECT_LT(fork - calls.begin(), copy - calls.begin());
  for (auto one = copy; one != calls.end(); ++one) {
    if (one->name != "memcpy_async") continue;
    const auto waits = [&](const auto& other) {
      return other.name == "stream_wait_event" && other.stream == one->stream && other.event == fork->event;
    };
    EXPECT_TRUE(std::any_of(calls.begin(), one, waits)) << "a copy may begin before its turn";
  }
  EXPECT_EQ(calls.back().name, "stream_wait_event");
  EXPECT_TRUE(std::ranges::any_of(calls, [&](const auto& one) {
    return one.name == "stream_wait_event" && one.stream == stream.get();
  })) << "what follows in the stream waits for the end";
  EXPECT_EQ(fake_cuda().count("stream_synchronize") + fake_cuda().count("event_synchronize"), 0u);
}

TEST_F(EnqueuedRun, goes_to_other_memory_when_it_is_bound_anew) {
  const Memory other = device->allocate(Place::gpu(0), MemoryKind::device, size);
  execution->rebind({.buffers = {host.data(), other.data(), ring.data()}, .kernels = {}});
  execution->enqueue(stream.get());
  EXPECT_TRUE(has_arrived(other));
  EXPECT_FALSE(has_arrived(gpu));
}

TEST_F(EnqueuedRun, leaves_the_callers_gpu_as_it_was_and_nothing_behind) {
  execution->enqueue(stream.get());
  const int before = fake_cuda().live();
  ASSERT_EQ(api.set_device(1), cudaSuccess);
  execution->enqueue(stream.get());
  execution->enqueue(nullptr);
  EXPECT_EQ(fake_cuda().live(), before);
  void* context = nullptr;
  ASSERT_EQ(api.current_context(&context), cudaSuccess);
  EXPECT_EQ(context, reinterpret_cast<void*>(std::intptr_t{2})) << "that of GPU 1";
}

// A default stream is that of the GPU that is current when it is used, and relaying makes others current meanwhile.
TEST_F(EnqueuedRun, is_between_work_of_the_default_stream_of_the_callers_gpu) {
  for (const int gpu_of_caller : {0, 1}) {
    fake_cuda().calls.clear();
    ASSERT_EQ(api.set_device(gpu_of_caller), cudaSuccess);
    execution->enqueue(nullptr);
    unsigned joins = 0;
    for (const auto& one : fake_cuda().calls)
      if (one.stream == nullptr && (one.name == "stream_wait_event" || one.name == "event_record")) {
        EXPECT_EQ(one.gpu, gpu_of_caller) << one.name;
        ++joins;
      }
    EXPECT_GE(joins, 2u);
  }
}

TEST_F(EnqueuedRun, waits_for_what_it_has_enqueued_when_a_call_fails_and_before_it_goes) {
  fake_cuda().fail_name = "memcpy_async";
  fake_cuda().fail_at = 3;
  EXPECT_THROW(execution->enqueue(stream.get()), Error);
  fake_cuda().fail_name.clear();
  fake_cuda().fail_at = -1;
  EXPECT_GT(fake_cuda().count("stream_synchronize"), 0u);
  execution->enqueue(stream.get());
  fake_cuda().calls.clear();
  execution = nullptr;
  EXPECT_GT(fake_cuda().count("stream_synchronize"), 0u);
}

TEST_F(EnqueuedRun, names_the_call_that_failed_and_can_be_enqueued_again) {
  for (const char* name : {"select_gpu_of", "event_record", "stream_wait_event", "memcpy_async"}) {
    fake_cuda().fail_name = name;
    fake_cuda().fail_at = 0;
    EXPECT_THROW(execution->enqueue(stream.get()), Error) << name;
    fake_cuda().fail_at = -1;
    std::memset(gpu.data(), 0, size.count);
    execution->enqueue(stream.get());
    EXPECT_TRUE(has_arrived(gpu)) << name;
  }
  fake_cuda().fail_name.clear();
}

TEST_F(EnqueuedRun, is_refused_in_a_stream_that_is_captured_and_for_work_of_the_host) {
  ASSERT_EQ(api.stream_begin_capture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_THAT(message_of<Unsupported>([&] { execution->enqueue(stream.get()); }), HasSubstr("being captured"));
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(api.stream_end_capture(stream.get(), &graph), cudaSuccess) << "the capture goes on";
  const Graph owned(graph, Graph::deleter_type(api));

  Schedule schedule;
  const BufferId from = schedule.add_buffer({"from", Place::host(), MemoryKind::pageable, size});
  const BufferId there = schedule.add_buffer({"there", Place::gpu(), MemoryKind::device, size});
  schedule.add({.what = Copy{{from, 0_B, size}, {there, 0_B, size}},
                .stream = schedule.add_stream("in"),
                .agent = AgentId{0},
                .after = {}});
  std::vector<std::byte> pageable(size.count);
  const auto waiting = device->prepare(schedule, {.buffers = {pageable.data(), gpu.data()}, .kernels = {}});
  EXPECT_THAT(message_of<Unsupported>([&] { waiting->enqueue(stream.get()); }), HasSubstr("the host takes part"));
}

}  // namespace
}  // namespace shiplap
