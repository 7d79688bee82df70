#include "shiplap/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "tests/schedule/builder.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing_schedules::buffer;

// x on the host, d on the GPU, one stream each for copies and kernels; a copy in, a kernel and a copy out.
struct Small {
  Schedule schedule;
  BufferId x = schedule.add_buffer(buffer("x", Place::host(), MemoryKind::pinned, 64_B));
  BufferId d = schedule.add_buffer(buffer("d", Place::gpu(), MemoryKind::device, 64_B));
  KernelId saxpy = schedule.add_kernel("saxpy");
  StreamId copies = schedule.add_stream("copies");
  StreamId compute = schedule.add_stream("compute");

  OpId copy(BufferId from, BufferId to, std::vector<OpId> after, std::uint32_t chunk) {
    return schedule.add({.what = Copy{.from = {from, 0_B, 64_B}, .to = {to, 0_B, 64_B}},
                         .stream = copies,
                         .agent = {0},
                         .after = std::move(after),
                         .chunk = chunk});
  }
  OpId kernel(std::vector<OpId> after, std::uint32_t chunk) {
    Kernel k;
    k.kernel = saxpy;
    k.operands = {{.region = {d, 0_B, 64_B}, .mode = AccessMode::write}};
    return schedule.add({.what = k, .stream = compute, .agent = {0}, .after = std::move(after), .chunk = chunk});
  }
  Small() {
    const OpId in = copy(x, d, {}, 3);
    const OpId run = kernel({in}, 3);
    copy(d, x, {run}, 3);
  }
};

TEST(Schedule, ids_count_from_zero_in_the_order_of_adding) {
  const Small s;
  EXPECT_EQ(s.x, BufferId{0});
  EXPECT_EQ(s.d, BufferId{1});
  EXPECT_EQ(s.saxpy, KernelId{0});
  EXPECT_EQ(s.compute, StreamId{1});
  EXPECT_EQ(s.schedule.ops.size(), 3u);
  EXPECT_EQ(s.schedule.streams[1].name, "compute");
  EXPECT_EQ(s.schedule.streams[1].place, Place::gpu(0));
}

TEST(Schedule, an_op_is_described_by_kind_direction_chunk_and_number) {
  Small s;
  EXPECT_EQ(describe(s.schedule, {0}), "copy H2D of chunk 3 (op 0)");
  EXPECT_EQ(describe(s.schedule, {1}), "kernel saxpy of chunk 3 (op 1)");
  EXPECT_EQ(describe(s.schedule, {2}), "copy D2H of chunk 3 (op 2)");
  s.copy(s.d, s.d, {}, 4);
  s.schedule.add({.what = HostCopy{.from = {s.x, 0_B, 8_B}, .to = {s.x, 8_B, 8_B}},
                  .stream = {},
                  .agent = {0},
                  .after = {},
                  .chunk = 5});
  s.schedule.add({.what = Prefetch{.region = {s.x, 0_B, 8_B}, .to = Place::gpu(1)},
                  .stream = s.copies,
                  .agent = {0},
                  .after = {},
                  .chunk = 6});
  EXPECT_EQ(describe(s.schedule, {3}), "copy D2D of chunk 4 (op 3)");
  EXPECT_EQ(describe(s.schedule, {4}), "host copy of chunk 5 (op 4)");
  EXPECT_EQ(describe(s.schedule, {5}), "prefetch to gpu 1 of chunk 6 (op 5)");
}

TEST(Schedule, faulty_ops_can_be_described_too) {
  Small s;
  std::get<Copy>(s.schedule.ops[0].what).to.buffer = BufferId{77};
  std::get<Kernel>(s.schedule.ops[1].what).kernel = KernelId{};
  EXPECT_EQ(describe(s.schedule, {0}), "copy of chunk 3 (op 0)");
  EXPECT_EQ(describe(s.schedule, {1}), "kernel of chunk 3 (op 1)");
  EXPECT_EQ(describe(s.schedule, {9}), "op 9 (which does not exist)");
}

TEST(Schedule, direction_follows_from_the_places_of_the_buffers) {
  const Small s;
  const auto between = [&](BufferId from, BufferId to) {
    return direction(s.schedule, {.from = {from, 0_B, 1_B}, .to = {to, 0_B, 1_B}});
  };
  EXPECT_EQ(between(s.x, s.d), CopyDirection::host_to_device);
  EXPECT_EQ(between(s.d, s.x), CopyDirection::device_to_host);
  EXPECT_EQ(between(s.d, s.d), CopyDirection::device_to_device);
  EXPECT_EQ(between(s.x, s.x), CopyDirection::host_to_host);
  EXPECT_EQ(message_of([&] { between(s.x, BufferId{5}); }), "buffer 5 does not exist: the schedule has 2 buffers");
}

TEST(Schedule, concatenation_appends_the_ops_and_shifts_their_dependencies) {
  const Small s;
  const Schedule twice = concatenate(s.schedule, s.schedule);
  ASSERT_EQ(twice.ops.size(), 6u);
  EXPECT_EQ(twice.buffers.size(), 2u);
  EXPECT_EQ(twice.streams.size(), 2u);
  EXPECT_TRUE(twice.ops[3].after.empty());
  EXPECT_EQ(twice.ops[4].after, std::vector<OpId>{{3}});
  EXPECT_EQ(twice.ops[5].after, std::vector<OpId>{{4}});
  EXPECT_EQ(twice.ops[1].after, std::vector<OpId>{{0}});
  const Schedule thrice = concatenate(twice, s.schedule);
  EXPECT_EQ(thrice.ops[8].after, std::vector<OpId>{{7}});
}

TEST(Schedule, concatenation_refuses_other_tables_and_says_which) {
  const Small s;
  Schedule other = s.schedule;
  other.buffers[1].size = 128_B;
  EXPECT_EQ(
      message_of([&] { concatenate(s.schedule, other); }),
      "cannot concatenate schedules: buffer 1 is d (64 B, device, gpu 0) in the first and d (128 B, device, gpu 0) "
      "in the second; both must have the same buffers");
  other = s.schedule;
  other.add_stream("third");
  EXPECT_EQ(message_of([&] { concatenate(s.schedule, other); }),
            "cannot concatenate schedules: the first has 2 streams, the second 3; both must have the same");
  for (auto change :
       {+[](Schedule& t) { t.buffers[0].memory = MemoryKind::pageable; },
        +[](Schedule& t) { t.buffers[0].place = Place::host(1); }, +[](Schedule& t) { t.buffers[0].name = "y"; },
        +[](Schedule& t) { t.kernels[0] = "other"; }, +[](Schedule& t) { t.streams[0].name = "other"; },
        +[](Schedule& t) { t.streams[0].place = Place::gpu(1); }, +[](Schedule& t) { t.agents[0].name = "other"; }}) {
    other = s.schedule;
    change(other);
    EXPECT_THROW(concatenate(s.schedule, other), Error);
    EXPECT_THROW(concatenate(other, s.schedule), Error);
  }
}

TEST(Schedule, memory_is_summed_over_the_buffers_of_one_place) {
  Schedule s;
  s.add_buffer(buffer("a", Place::gpu(0), MemoryKind::device, 3_MiB));
  s.add_buffer(buffer("b", Place::gpu(1), MemoryKind::device, 5_MiB));
  s.add_buffer(buffer("c", Place::gpu(0), MemoryKind::device, 1_MiB));
  s.add_buffer(buffer("d", Place::host(0), MemoryKind::pinned, 7_MiB));
  EXPECT_EQ(memory_at(s, Place::gpu(0)), 4_MiB);
  EXPECT_EQ(memory_at(s, Place::gpu(1)), 5_MiB);
  EXPECT_EQ(memory_at(s, Place::host(0)), 7_MiB);
  EXPECT_EQ(memory_at(s, Place::host(1)), 0_B);
  // Two buffers of 2^63 bytes must not add up to nothing.
  s.add_buffer(buffer("e", Place::gpu(2), MemoryKind::device, Bytes{1ull << 63}));
  s.add_buffer(buffer("f", Place::gpu(2), MemoryKind::device, Bytes{1ull << 63}));
  EXPECT_GE(memory_at(s, Place::gpu(2)), Bytes{1ull << 63});
}

TEST(Schedule, accesses_are_visited_in_the_order_they_are_written_down) {
  const Small s;
  std::string seen;
  for (const Op& op : s.schedule.ops)
    for_each_access(op, [&](const Region& region, AccessMode mode) {
      seen += s.schedule.buffers[region.buffer.index()].name + (mode == AccessMode::read ? "r " : "w ");
    });
  EXPECT_EQ(seen, "xr dw dw dr xw ");
}

TEST(Concatenate, refuses_schedules_of_which_only_one_has_peer_access) {
  Schedule staged;
  staged.peer_access = false;
  EXPECT_THROW(concatenate(Schedule{}, staged), Error);
  EXPECT_THROW(concatenate(staged, Schedule{}), Error);
  EXPECT_FALSE(concatenate(staged, staged).peer_access);
}

TEST(Schedule, kinds_that_do_not_exist_have_no_name) {
  EXPECT_THROW(to_string(static_cast<MemoryKind>(99)), Error);
  const auto no_call = static_cast<HostCall::Kind>(99);
  EXPECT_THROW(to_string(no_call), Error);
  EXPECT_THROW(name_in_profile(no_call, MemoryKind::pinned), Error);
}

}  // namespace
}  // namespace shiplap
