// What ops of a recording wait for: graphs of several copies, streams of several GPUs, and chains of events.
#include "shiplap/advise/placed_ops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/advise/advice.hpp"
#include "shiplap/advise/program_step.hpp"
#include "shiplap/advise/rules.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/advise/made_recording.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Kind = RecordedOrder::Kind;

/// The names of the ops that an op waits for.
std::vector<std::string> awaited(const PlacedOps& placed, std::size_t op) {
  std::vector<std::string> names;
  for (const std::size_t before : placed.ops[op].after) names.push_back(placed.ops[before].op.name);
  return names;
}

/// Steps of one graph with these directions, in which copies take most time, and a wait for its stream.
MadeRecording graphs_of(const std::vector<bool>& copies_to_gpu, bool with_kernel) {
  MadeRecording made;
  for (int step = 0; step < 8; ++step) {
    const std::uint64_t launch = made.call("cudaGraphLaunch", 0, 5);
    double at = 10;
    for (const bool to_gpu : copies_to_gpu) {
      RecordedCopy& copy = made.copy(launch, at, at + 300);
      copy.size = 16_MiB;
      copy.from = to_gpu ? MemoryKind::pinned : MemoryKind::device;
      copy.to = to_gpu ? MemoryKind::device : MemoryKind::pinned;
      at += 302;
      if (with_kernel && to_gpu) made.kernel(launch, at, at + 40, 1, "small");
      if (with_kernel && to_gpu) at += 42;
    }
    made.order(made.call("cudaStreamSynchronize", 6, at + 5), Kind::host_wait, 1);
    made.offset += at + 20;
  }
  return made;
}

TEST(PlacedOps, take_a_graph_that_begins_with_a_copy_for_a_graph) {
  for (const bool with_kernel : {false, true}) {
    const MadeRecording made = graphs_of({true, false}, with_kernel);
    const PlacedOps placed = placed_ops(made.recording);
    EXPECT_EQ(placed.ops[0].op.kind, StepOp::Kind::kernel);
    EXPECT_EQ(placed.ops[0].op.name, with_kernel ? "graph of 3 ops" : "graph of 2 ops");
    EXPECT_EQ(placed.ops[0].op.size, 0_B);
    EXPECT_TRUE(placed.ops[0].op.copies_to_host);
  }
}

TEST(PlacedOps, take_copies_in_one_direction_for_one_copy) {
  const PlacedOps placed = placed_ops(graphs_of({true, true, true}, false).recording);
  EXPECT_EQ(placed.ops[0].op.kind, StepOp::Kind::copy);
  EXPECT_EQ(placed.ops[0].op.size, 48_MiB);
  EXPECT_TRUE(placed.ops[0].op.to_device);
}

TEST(PlacedOps, know_no_content_of_several_copies_of_one_call) {
  MadeRecording made;
  const std::uint64_t batch = made.call("cudaMemcpyBatchAsync", 0, 2);
  for (int i = 0; i < 2; ++i) {
    RecordedCopy& copy = made.copy(batch, 10 + i, 11 + i);
    copy.from = MemoryKind::pinned;
    copy.content = 17;
  }
  made.copy(made.call("cudaMemcpyAsync", 4, 6), 20, 21).content = 17;
  const PlacedOps placed = placed_ops(made.recording);
  EXPECT_EQ(placed.ops[0].content, 0u);
  EXPECT_EQ(placed.ops[1].content, 17u);
}

TEST(PlacedOps, order_a_graph_with_what_came_before_and_comes_next_in_each_of_its_streams) {
  MadeRecording made;
  made.launch(0, 10, 20, 1);
  made.launch(2, 10, 20, 2);
  made.launch(4, 10, 20, 3);
  const std::uint64_t graph = made.call("cudaGraphLaunch", 6, 8);
  made.kernel(graph, 30, 40, 1);
  made.kernel(graph, 30, 90, 2);
  made.order(made.call("cudaEventRecord", 10, 11), Kind::record, 2, 5);
  made.order(made.call("cudaEventSynchronize", 12, 95), Kind::event_wait, 0, 5);
  const PlacedOps placed = placed_ops(made.recording);
  ASSERT_EQ(placed.ops.size(), 5u);
  EXPECT_EQ(placed.ops[3].after, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(placed.ops[4].after, (std::vector<std::size_t>{3}))
      << "the wait is for the graph, whose last op is in stream 2";
}

// A graph stands in the stream of its first work, so the order of that stream says nothing about the others.
TEST(PlacedOps, have_what_follows_a_graph_in_any_of_its_streams_wait_for_the_graph) {
  MadeRecording made;
  const std::uint64_t graph = made.call("cudaGraphLaunch", 0, 2);
  made.kernel(graph, 10, 20, 1);
  made.kernel(graph, 10, 90, 2);
  made.launch(3, 100, 110, 2, "in the second");
  made.launch(6, 100, 110, 1, "in the first");
  made.launch(9, 120, 130, 2, "later in the second");
  made.order(made.call("cudaEventRecord", 12, 13), Kind::record, 2, 5);
  made.order(made.call("cudaStreamWaitEvent", 14, 15), Kind::stream_wait, 3, 5);
  made.launch(16, 140, 150, 3, "in a third");
  const PlacedOps placed = placed_ops(made.recording);
  ASSERT_EQ(placed.ops.size(), 5u);
  EXPECT_THAT(awaited(placed, 1), ElementsAre("graph of 2 ops"));
  EXPECT_THAT(awaited(placed, 2), IsEmpty()) << "the graph stands in this stream";
  EXPECT_THAT(awaited(placed, 3), IsEmpty()) << "an op of this stream has waited for the graph";
  EXPECT_THAT(awaited(placed, 4), ElementsAre("later in the second"));
}

// Whoever drops the wait reads results too early.
TEST(Advice, keeps_the_wait_for_results_that_a_graph_brings) {
  for (const std::vector<bool>& directions : {std::vector{true, false}, {false, true}, {false, false}}) {
    const MadeRecording made = graphs_of(directions, true);
    const auto steps = find_steps(made.recording, "");
    ASSERT_TRUE(steps);
    const ProgramStep step = program_step(made.recording, *steps);
    EXPECT_FALSE(drop_waits(step, find_profile("h200")));
    EXPECT_FALSE(copy_asynchronously(step, find_profile("h200")));
  }
}

TEST(Advice, keeps_the_wait_for_results_that_a_copy_to_the_gpu_follows) {
  MadeRecording made;
  for (int step = 0; step < 8; ++step) {
    RecordedCopy& results = made.copy(made.call("cudaMemcpyAsync", 0, 2), 10, 310);
    results.from = MemoryKind::device;
    results.to = MemoryKind::pinned;
    made.launch(3, 312, 352);
    RecordedCopy& input = made.copy(made.call("cudaMemcpyAsync", 6, 8), 354, 654);
    input.from = MemoryKind::pinned;
    made.order(made.call("cudaStreamSynchronize", 9, 660), Kind::host_wait, 1);
    made.offset += 700;
  }
  const auto steps = find_steps(made.recording, "");
  ASSERT_TRUE(steps);
  EXPECT_FALSE(copy_asynchronously(program_step(made.recording, *steps), find_profile("h200")));
}

TEST(PlacedOps, keep_apart_streams_of_the_same_number_on_several_gpus) {
  for (const std::uint32_t stream : {0u, 13u}) {
    MadeRecording made;
    for (const std::uint32_t gpu : {0u, 1u}) made.kernel_on(gpu, stream, 5 * gpu, 10, 2010, gpu == 0 ? "on 0" : "on 1");
    for (const std::uint32_t gpu : {0u, 1u})
      made.order(made.call("cudaStreamSynchronize", 12 + gpu, 2020 + gpu), Kind::host_wait, stream, 0, gpu);
    for (const std::uint32_t gpu : {1u, 0u})
      made.order(made.call("cudaDeviceSynchronize", 2030 - gpu, 2040 - gpu), Kind::device_wait, 0, 0, gpu);
    const PlacedOps placed = placed_ops(made.recording);
    EXPECT_THAT(awaited(placed, 0), IsEmpty());
    EXPECT_THAT(awaited(placed, 1), IsEmpty()) << "another GPU has other streams";
    EXPECT_THAT(awaited(placed, 2), ElementsAre("on 0"));
    EXPECT_THAT(awaited(placed, 3), ElementsAre("on 1"));
    EXPECT_THAT(awaited(placed, 4), ElementsAre("on 1"));
    EXPECT_THAT(awaited(placed, 5), ElementsAre("on 0"));
  }
}

// Recordings of older versions do not say on which GPU a stream is that is waited for.
TEST(PlacedOps, wait_for_a_stream_of_an_unknown_gpu_as_far_as_it_had_ended) {
  MadeRecording made;
  made.kernel_on(0, 7, 0, 10, 5010, "long");
  made.kernel_on(1, 7, 5, 15, 1015, "short");
  made.order(made.call("cudaStreamSynchronize", 12, 1020), Kind::host_wait, 7);
  made.order(made.call("cudaStreamSynchronize", 1021, 5020), Kind::host_wait, 7);
  const PlacedOps placed = placed_ops(made.recording);
  EXPECT_THAT(awaited(placed, 2), ElementsAre("short"));
  EXPECT_THAT(awaited(placed, 3), UnorderedElementsAre("long", "short"));
}

TEST(PlacedOps, wait_through_events_that_are_recorded_in_streams_without_work) {
  MadeRecording made;
  made.launch(0, 10, 1010, 1, "A");
  double at = 3;
  for (std::uint32_t stream = 1; stream < 5; ++stream, at += 4) {
    made.order(made.call("cudaEventRecord", at, at + 1), Kind::record, stream, 100 * stream);
    made.order(made.call("cudaStreamWaitEvent", at + 2, at + 3), Kind::stream_wait, stream + 1, 100 * stream);
  }
  made.order(made.call("cudaStreamSynchronize", at, 1011), Kind::host_wait, 4);
  made.order(made.call("cudaEventSynchronize", 1012, 1013), Kind::event_wait, 0, 400);
  made.launch(1014, 1020, 2000, 5, "C");
  const PlacedOps placed = placed_ops(made.recording);
  EXPECT_THAT(awaited(placed, 1), ElementsAre("A")) << "the host waits for a stream that waits";
  EXPECT_THAT(awaited(placed, 2), ElementsAre("A")) << "the host waits for an event";
  EXPECT_THAT(awaited(placed, 3), ElementsAre("A"));
}

// Exports of nsys number the events of each GPU alike.
/// A long kernel in stream 3, which the default stream overlaps, and its event. Stream 2 was never seen to overlap with
/// the default stream.
MadeRecording kernel_beside_default_stream() {
  MadeRecording made;
  made.launch(0, 10, 20, 2);
  made.launch(3, 25, 30, 0);
  made.launch(6, 31, 90, 3, "long");
  made.launch(7, 40, 50, 0, "default");
  made.order(made.call("cudaEventRecord", 10, 11), Kind::record, 3, 5);
  return made;
}

TEST(PlacedOps, wait_through_the_default_stream_and_through_streams_that_are_ordered_with_it) {
  for (const std::uint32_t waiting : {0u, 2u}) {
    const std::uint32_t next = 2 - waiting;
    for (const bool by_host : {false, true}) {
      MadeRecording made = kernel_beside_default_stream();
      made.order(made.call("cudaStreamWaitEvent", 12, 13), Kind::stream_wait, waiting, 5);
      if (by_host)
        made.order(made.call("cudaStreamSynchronize", 14, 95), Kind::host_wait, next);
      else
        made.launch(16, 100, 110, next);
      const PlacedOps placed = placed_ops(made.recording);
      EXPECT_THAT(awaited(placed, 4), ::testing::Contains("long")) << "stream " << next;
    }
    MadeRecording made = kernel_beside_default_stream();
    made.order(made.call("cudaStreamWaitEvent", 12, 13), Kind::stream_wait, waiting, 5);
    made.launch(16, 60, 70, next);
    EXPECT_THAT(awaited(placed_ops(made.recording), 4), ::testing::Not(::testing::Contains("long")))
        << "it ran while the long one did";
  }
}

TEST(PlacedOps, wait_for_the_last_op_of_each_stream_however_often_an_idle_stream_has_waited) {
  MadeRecording made;
  for (int i = 0; i < 3000; ++i) {
    const double at = 40.0 * i;
    made.launch(at, at + 10, at + 20, 1, std::to_string(i));
    made.order(made.call("cudaEventRecord", at + 3, at + 4), Kind::record, 1, 5);
    made.order(made.call("cudaStreamWaitEvent", at + 5, at + 6), Kind::stream_wait, 2, 5);
    made.order(made.call("cudaStreamSynchronize", at + 7, at + 21), Kind::host_wait, 2);
  }
  const PlacedOps placed = placed_ops(made.recording);
  EXPECT_THAT(awaited(placed, placed.ops.size() - 1), ElementsAre("2999"));
}

TEST(PlacedOps, wait_for_an_event_whose_number_several_gpus_have_as_far_as_it_had_ended) {
  MadeRecording made;
  made.kernel_on(0, 7, 0, 10, 5010, "long");
  made.order(made.call("cudaEventRecord", 3, 4), Kind::record, 7, 3, 0);
  made.kernel_on(1, 7, 5, 15, 1015, "short");
  made.order(made.call("cudaEventRecord", 8, 9), Kind::record, 7, 3, 1);
  made.order(made.call("cudaEventSynchronize", 12, 1020), Kind::event_wait, 0, 3);
  made.order(made.call("cudaStreamWaitEvent", 1021, 1022), Kind::stream_wait, 9, 3, 0);
  made.kernel_on(0, 9, 1023, 5020, 5030, "after");
  made.order(made.call("cudaEventSynchronize", 1030, 5040), Kind::event_wait, 0, 3, 0);
  const PlacedOps placed = placed_ops(made.recording);
  ASSERT_EQ(placed.ops.size(), 5u);
  EXPECT_THAT(awaited(placed, 2), ElementsAre("short")) << "the long one had not ended";
  EXPECT_THAT(awaited(placed, 3), UnorderedElementsAre("long", "short")) << "which event a stream waits for is unknown";
  EXPECT_THAT(awaited(placed, 4), UnorderedElementsAre("long", "short"));
}

TEST(PlacedOps, began_after_all_that_they_wait_for_also_where_several_gpus_have_an_event_of_that_number) {
  MadeRecording made;
  made.kernel_on(0, 7, 0, 10, 5010, "long");
  made.order(made.call("cudaEventRecord", 3, 4), Kind::record, 7, 3, 0);
  made.kernel_on(1, 7, 5, 15, 1015, "short");
  made.order(made.call("cudaEventRecord", 8, 9), Kind::record, 7, 3, 1);
  made.order(made.call("cudaStreamWaitEvent", 10, 11), Kind::stream_wait, 9, 3, 1);
  made.kernel_on(1, 9, 12, 1020, 1030, "after");
  EXPECT_THAT(awaited(placed_ops(made.recording), 2), ElementsAre("short")) << "the long one ended later";
}

TEST(PlacedOps, forget_what_was_before_an_event_that_is_recorded_again) {
  MadeRecording made;
  made.launch(0, 10, 1010, 1, "A");
  made.order(made.call("cudaEventRecord", 3, 4), Kind::record, 1, 100);
  made.order(made.call("cudaEventRecord", 5, 6), Kind::record, 2, 100);  // in a stream without work
  made.order(made.call("cudaStreamWaitEvent", 7, 8), Kind::stream_wait, 3, 100);
  made.launch(9, 12, 500, 3, "C");
  EXPECT_THAT(awaited(placed_ops(made.recording), 1), IsEmpty());
}

}  // namespace
}  // namespace shiplap
