#include "shiplap/schedule/join.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/validate.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Buffer host_memory{.name = "x", .place = Place::host(), .memory = MemoryKind::pinned, .size = 64_B};
const Buffer gpu_memory{.name = "rings", .place = Place::gpu(), .memory = MemoryKind::device, .size = 64_B};

/// A copy of 16 bytes from x to the GPU, and a kernel that reads them.
Schedule brought_and_read(Bytes from) {
  Schedule part;
  const BufferId x = part.add_buffer(host_memory);
  const BufferId ring =
      part.add_buffer({.name = "ring", .place = Place::gpu(), .memory = MemoryKind::device, .size = 16_B});
  const KernelId kernel = part.add_kernel("read");
  const StreamId in = part.add_stream("in");
  const StreamId compute = part.add_stream("compute");
  const OpId copy = part.add({.what = Copy{{x, from, 16_B}, {ring, 0_B, 16_B}}, .stream = in, .after = {}});
  part.add({.what = Kernel{.kernel = kernel, .operands = {{{ring, 0_B, 16_B}}}, .flows = {}},
            .stream = compute,
            .after = {copy}});
  return part;
}

JoinedSchedule two_buffers() { return {{host_memory, gpu_memory}, {"first", "second", "on the host"}}; }
const std::vector<JoinedBuffer> shared_ring{{BufferId{0}}, {BufferId{1}, 0_B}};
const std::vector<JoinedBuffer> other_ring{{BufferId{0}}, {BufferId{1}, 32_B}};
Kernel host_part(Bytes offset, AccessMode mode) {
  return {.kernel = KernelId{2}, .operands = {{.region = {BufferId{0}, offset, 16_B}, .mode = mode}}, .flows = {}};
}

TEST(Join, orders_what_shares_memory_and_nothing_else) {
  JoinedSchedule whole = two_buffers();
  whole.append(brought_and_read(0_B), shared_ring, 0);
  whole.append(brought_and_read(16_B), shared_ring, 1);
  const Schedule once = whole.finish();
  EXPECT_THAT(problems(once), IsEmpty());
  ASSERT_EQ(once.ops.size(), 4u);
  EXPECT_THAT(once.ops[2].after, ElementsAre(OpId{1})) << "the ring is free when the first kernel has read it";
  EXPECT_EQ(std::get<Kernel>(once.ops[3].what).kernel, KernelId{1});

  JoinedSchedule apart = two_buffers();
  apart.append(brought_and_read(0_B), shared_ring, 0);
  apart.append(brought_and_read(16_B), other_ring, 1);
  EXPECT_THAT(apart.finish().ops[2].after, IsEmpty());
}

TEST(Join, submits_what_a_part_of_the_host_does_not_concern_before_it) {
  JoinedSchedule whole = two_buffers();
  whole.append(brought_and_read(0_B), shared_ring, 0);
  whole.append_host(host_part(32_B, AccessMode::write));
  whole.append(brought_and_read(16_B), other_ring, 1);
  whole.append(brought_and_read(32_B), shared_ring, 0);
  const Schedule all = whole.finish();
  EXPECT_THAT(problems(all), IsEmpty());
  ASSERT_EQ(all.ops.size(), 7u);
  EXPECT_TRUE(all.ops[4].stream.is_none()) << "behind the part that does not read what the host writes";
  EXPECT_THAT(all.ops[5].after, ::testing::Contains(OpId{4}));
}

TEST(Join, ends_with_parts_of_the_host_that_nothing_waits_for) {
  JoinedSchedule whole = two_buffers();
  whole.append_host(host_part(48_B, AccessMode::read));
  whole.append(brought_and_read(0_B), shared_ring, 0);
  EXPECT_TRUE(whole.finish().ops.back().stream.is_none());
}

TEST(Join, refuses_graphs_and_streams_of_other_gpus) {
  Schedule graph = brought_and_read(0_B);
  graph.as_graph = true;
  JoinedSchedule whole = two_buffers();
  EXPECT_THROW(whole.append(graph, shared_ring, 0), Unsupported);
  whole.append(brought_and_read(0_B), shared_ring, 0);
  Schedule other = brought_and_read(0_B);
  other.streams[1].place = Place::gpu(1);
  EXPECT_THROW(whole.append(other, shared_ring, 0), Unsupported);
}

}  // namespace
}  // namespace shiplap
