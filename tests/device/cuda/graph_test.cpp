// Graphs, batches of copies and the gate that executions share. Needs no GPU: every call is faked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using testing::fake_api;
using testing::fake_cuda;
using ::testing::HasSubstr;

constexpr Bytes piece{256};
constexpr std::uint32_t pieces = 4;

/// Copies piece `i` of a buffer to where piece `i` of the other one is.
Op copy_op(BufferId from, BufferId to, std::uint32_t i, StreamId stream, std::vector<OpId> after = {}) {
  return {.what = Copy{{from, piece * i, piece}, {to, piece * i, piece}},
          .stream = stream,
          .agent = AgentId{0},
          .after = std::move(after),
          .chunk = i};
}

/// `pieces` pieces of host memory that are filled, and as many on the GPU and on the host that are not.
struct GraphFixture : ::testing::Test {
  GraphFixture() : device(open_cuda(0, api)) {
    host = device->allocate(Place::host(), MemoryKind::pinned, piece * pieces);
    back = device->allocate(Place::host(), MemoryKind::pinned, piece * pieces);
    gpu = device->allocate(Place::gpu(), MemoryKind::device, piece * pieces);
    for (std::size_t i = 0; i < host.bytes().size(); ++i) host.bytes()[i] = static_cast<std::byte>(i * 7 + 1);
    std::memset(back.data(), 0, back.size().count);
    std::memset(gpu.data(), 0, gpu.size().count);
    before = fake_cuda().live();
    fake_cuda().calls.clear();
  }

  Bindings bindings() const { return {.buffers = {host.data(), gpu.data(), back.data()}, .kernels = {}}; }
  std::unique_ptr<Execution> prepare(const Schedule& schedule) { return device->prepare(schedule, bindings()); }
  bool came_back() const { return std::memcmp(back.data(), host.data(), host.size().count) == 0; }

  Api api = fake_api();
  std::unique_ptr<Device> device;
  Memory host, back, gpu;
  int before = 0;
};
using CudaGraphFake = GraphFixture;
using CudaBatchFake = GraphFixture;
using CudaGateFake = GraphFixture;

struct Buffers {
  BufferId host, gpu, back;
};
Buffers add_buffers(Schedule& s) {
  return {s.add_buffer({"host", Place::host(), MemoryKind::pinned, piece * pieces}),
          s.add_buffer({"GPU", Place::gpu(), MemoryKind::device, piece * pieces}),
          s.add_buffer({"back", Place::host(), MemoryKind::pinned, piece * pieces})};
}

/// Copies to the GPU in one stream, copies from it in another, each behind the one that brings its piece.
Schedule there_and_back() {
  Schedule s;
  const Buffers b = add_buffers(s);
  const StreamId in = s.add_stream("in");
  const StreamId out = s.add_stream("out");
  for (std::uint32_t i = 0; i < pieces; ++i) {
    const OpId there = s.add(copy_op(b.host, b.gpu, i, in));
    s.add(copy_op(b.gpu, b.back, i, out, {there}));
  }
  return s;
}
Schedule graph() {
  Schedule s = there_and_back();
  s.as_graph = true;
  return s;
}

/// A batch to the GPU, and a batch back behind its last copy.
Schedule batches() {
  Schedule s;
  const Buffers b = add_buffers(s);
  const StreamId in = s.add_stream("in");
  const StreamId out = s.add_stream("out");
  for (std::uint32_t i = 0; i < pieces; ++i) s.add(copy_op(b.host, b.gpu, i, in));
  for (std::uint32_t i = 0; i < pieces; ++i) s.add(copy_op(b.gpu, b.back, i, out));
  for (std::uint32_t i = 0; i < 2 * pieces; ++i) s.ops[i].batched = i % pieces != 0;
  s.ops[pieces].after = {OpId{pieces - 1}};
  return s;
}

TEST_F(CudaGraphFake, is_captured_once_and_launched_by_each_run) {
  const auto execution = prepare(graph());
  EXPECT_EQ(fake_cuda().count("stream_begin_capture"), 1u);
  EXPECT_EQ(fake_cuda().count("stream_end_capture"), 1u);
  EXPECT_EQ(fake_cuda().count("graph_instantiate"), 1u);
  EXPECT_EQ(fake_cuda().count("graph_upload"), 1u);
  EXPECT_EQ(fake_cuda().count("stream_synchronize"), 1u) << "behind the upload";
  EXPECT_EQ(fake_cuda().count("graph_launch"), 0u);
  EXPECT_EQ(fake_cuda().count("memcpy_async"), 2u * pieces) << "while it is captured";
  EXPECT_TRUE(came_back());
  for (int run = 0; run < 3; ++run) {
    fake_cuda().calls.clear();
    execution->run();
    EXPECT_EQ(fake_cuda().count("graph_launch"), 1u);
    EXPECT_EQ(fake_cuda().count("event_record"), 2u) << "the start mark and the stop mark";
    EXPECT_EQ(fake_cuda().count("event_synchronize"), 1u);
    for (const char* none : {"memcpy_async", "stream_wait_event", "stream_begin_capture", "graph_instantiate"})
      EXPECT_EQ(fake_cuda().count(none), 0u) << none;
  }
}

TEST_F(CudaGraphFake, lets_its_streams_branch_off_from_the_first_and_come_back_to_it) {
  // The fake refuses to end a capture to which something in another stream has not come back.
  prepare(graph());
  ASSERT_EQ(fake_cuda().captured_streams.size(), 1u);
  EXPECT_EQ(fake_cuda().captured_streams[0], 2u);
  // Streams that nothing ties to each other.
  Schedule apart;
  const Buffers b = add_buffers(apart);
  for (std::uint32_t i = 0; i < pieces; ++i) apart.add(copy_op(b.host, b.gpu, i, apart.add_stream("q")));
  apart.add_stream("in which nothing is");
  apart.as_graph = true;
  prepare(apart);
  ASSERT_EQ(fake_cuda().captured_streams.size(), 2u);
  EXPECT_EQ(fake_cuda().captured_streams[1], std::size_t{pieces});
}

TEST_F(CudaGraphFake, is_held_in_the_stream_that_it_is_launched_in) {
  const auto execution = prepare(graph());
  fake_cuda().calls.clear();
  fake_cuda().gate_open_at_wait.clear();
  const RunResult result = execution->run({.hold = true});
  EXPECT_EQ(fake_cuda().count("stream_wait_event"), 1u) << "that stream behind the gate";
  EXPECT_EQ(fake_cuda().count("graph_launch"), 1u);
  for (const bool open : fake_cuda().gate_open_at_wait) EXPECT_TRUE(open) << "the host waits behind a closed gate";
  // The gate's event, then start mark and stop mark, 1 ms apart.
  EXPECT_NEAR(in_milliseconds(result.timeline.makespan), 1.0, 1e-9);
}

TEST_F(CudaGraphFake, of_no_ops_is_not_captured) {
  Schedule s;
  s.as_graph = true;
  device->prepare(s, {})->run();
  EXPECT_EQ(fake_cuda().count("stream_begin_capture"), 0u);
  EXPECT_EQ(fake_cuda().count("graph_launch"), 0u);
}

TEST_F(CudaGraphFake, is_gone_with_its_execution) {
  auto execution = prepare(graph());
  EXPECT_EQ(fake_cuda().live_graphs, 1) << "the executable one; the captured one is needed no more";
  execution->run();
  execution.reset();
  EXPECT_EQ(fake_cuda().live(), before);
}

TEST_F(CudaGraphFake, names_the_op_whose_call_fails_while_it_is_captured) {
  fake_cuda().fail(5, cudaErrorInvalidValue, "memcpy_async");  // there, back, there, back, there, back
  EXPECT_THAT(message_of([&] { prepare(graph()); }),
              AllOf(HasSubstr("cudaMemcpyAsync"), HasSubstr("D2H of chunk 2 (op 5)")));
  EXPECT_EQ(fake_cuda().count("stream_end_capture"), 1u) << "a stream that stays in capture could not be used again";
}

TEST_F(CudaGraphFake, says_of_how_many_ops_a_graph_is_whose_launch_fails) {
  const auto execution = prepare(graph());
  fake_cuda().fail(0, cudaErrorUnknown, "graph_launch");
  EXPECT_THAT(message_of([&] { execution->run(); }), AllOf(HasSubstr("cudaGraphLaunch"), HasSubstr("8 ops")));
}

TEST_F(CudaGraphFake, is_neither_traced_nor_timed_in_parts) {
  const auto execution = prepare(graph());
  EXPECT_THAT(message_of<Unsupported>([&] { execution->run({.timed = StreamId{1}}); }),
              AllOf(HasSubstr("timed as a whole"), HasSubstr("op by op")));
  for (const Trace trace : {Trace::best, Trace::events})
    EXPECT_THAT(message_of<Unsupported>([&] { execution->run({.trace = trace}); }),
                AllOf(HasSubstr("cannot be told apart"), HasSubstr("op by op")));
  EXPECT_EQ(fake_cuda().count("graph_launch"), 0u);
}

TEST_F(CudaBatchFake, is_one_call_for_all_of_its_copies) {
  const auto execution = prepare(batches());
  fake_cuda().calls.clear();
  execution->run();
  EXPECT_TRUE(came_back());
  EXPECT_EQ(fake_cuda().batches, (std::vector<std::size_t>{pieces, pieces}));
  EXPECT_EQ(fake_cuda().count("memcpy_batch_async"), 2u);
  EXPECT_EQ(fake_cuda().count("memcpy_async"), 0u);
  // Between the batches one event and one wait, in front the start mark and behind the stop mark.
  EXPECT_EQ(fake_cuda().count("event_record"), 3u);
  EXPECT_EQ(fake_cuda().count("stream_wait_event"), 1u);
}

TEST_F(CudaBatchFake, stands_between_single_copies_in_the_order_of_the_schedule) {
  Schedule s;
  const Buffers b = add_buffers(s);
  const StreamId q = s.add_stream("q");
  for (std::uint32_t i = 0; i < pieces; ++i) s.add(copy_op(b.host, b.gpu, i, q));
  s.ops[2].batched = true;
  prepare(s)->run();
  EXPECT_EQ(fake_cuda().batches, std::vector<std::size_t>{2});
  std::vector<std::string> copies;
  for (const auto& call : fake_cuda().calls)
    if (call.name.starts_with("memcpy")) copies.push_back(call.name);
  EXPECT_EQ(copies, (std::vector<std::string>{"memcpy_async", "memcpy_batch_async", "memcpy_async"}));
  EXPECT_EQ(std::memcmp(gpu.data(), host.data(), host.size().count), 0);
}

TEST_F(CudaBatchFake, ends_with_the_stop_mark_when_it_is_the_last_of_the_stream_that_is_timed) {
  const auto execution = prepare(batches());
  // Stream "in": start mark, event behind its batch or stop mark, in either order.
  EXPECT_NEAR(in_milliseconds(execution->run({.timed = StreamId{0}}).timeline.makespan), 1.0, 1e-9);
}

TEST_F(CudaBatchFake, is_named_by_its_first_copy_when_its_call_fails) {
  const auto execution = prepare(batches());
  fake_cuda().fail(1, cudaErrorInvalidValue, "memcpy_batch_async");
  EXPECT_THAT(message_of([&] { execution->run(); }),
              AllOf(HasSubstr("cudaMemcpyBatchAsync"), HasSubstr("D2H of chunk 0 (op 4)")));
  EXPECT_NO_THROW(execution->run());
}

TEST_F(CudaBatchFake, is_not_traced) {
  const auto execution = prepare(batches());
  fake_cuda().calls.clear();
  for (const Trace trace : {Trace::best, Trace::events})
    EXPECT_THAT(message_of<Unsupported>([&] { execution->run({.trace = trace}); }),
                AllOf(HasSubstr("batch cannot be told apart"), HasSubstr("one by one")));
  EXPECT_EQ(fake_cuda().count("memcpy_batch_async"), 0u);
}

TEST_F(CudaBatchFake, is_unsupported_where_the_runtime_does_not_have_it) {
  const auto execution = prepare(batches());
  fake_cuda().fail(0, cudaErrorNotSupported, "memcpy_batch_async");
  EXPECT_THAT(message_of<Unsupported>([&] { execution->run(); }), HasSubstr("cudaMemcpyBatchAsync"));
}

TEST_F(CudaGateFake, is_made_by_the_first_run_that_is_held_and_shared_by_all_executions) {
  auto first = prepare(there_and_back());
  auto second = prepare(there_and_back());
  auto third = prepare(graph());
  EXPECT_EQ(fake_cuda().count("host_alloc"), 0u);
  first->run();
  EXPECT_EQ(fake_cuda().count("host_alloc"), 0u);
  for (int i = 0; i < 2; ++i)
    for (const auto* execution : {&first, &second, &third}) (*execution)->run({.hold = true});
  EXPECT_EQ(fake_cuda().count("host_alloc"), 1u);
  EXPECT_EQ(fake_cuda().count("launch_kernel"), 6u) << "closed for each run";
  for (auto* execution : {&first, &second, &third}) execution->reset();
  EXPECT_EQ(fake_cuda().live(), before + 3) << "its flags, its event and its stream";
  host = {};
  back = {};
  gpu = {};
  device.reset();
  EXPECT_EQ(fake_cuda().live(), 0);
}

}  // namespace
}  // namespace shiplap
