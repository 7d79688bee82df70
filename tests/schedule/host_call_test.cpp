// What agents perform themselves, and which ops they wait in.
#include <gtest/gtest.h>

#include <set>

#include "tests/schedule/builder.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;
using Call = HostCall::Kind;

constexpr Call all_calls[] = {Call::touch, Call::flush, Call::pin, Call::unpin, Call::allocate, Call::release};
constexpr MemoryKind host_kinds[] = {MemoryKind::pageable,      MemoryKind::pinned,         MemoryKind::mapped,
                                     MemoryKind::driver_pinned, MemoryKind::write_combined, MemoryKind::managed};

// Two agents, a stream, and a buffer of 8 B of each kind of memory; no op.
struct EachKind : Builder {
  StreamId q = schedule.add_stream("q");
  BufferId d = device("d", 8_B);
  BufferId pinned = host("x", 8_B);
  BufferId pageable = memory("p", MemoryKind::pageable);
  BufferId managed = memory("m", MemoryKind::managed);
  EachKind() {
    schedule.agents = {{"main"}, {"worker"}};
    schedule.add_kernel("k");
  }
  BufferId memory(const char* name, MemoryKind kind, Place place = Place::host()) {
    return schedule.add_buffer(buffer(name, place, kind, 8_B));
  }
  static Region all(BufferId b) { return {b, 0_B, 8_B}; }
  OpId call(Call kind, Region region, std::vector<OpId> after = {}, AgentId agent = {0}) {
    const OpId id = add(HostCall{.kind = kind, .region = region}, {}, std::move(after), 0);
    schedule.ops.back().agent = agent;
    return id;
  }
  bool last_blocks() const { return blocks_agent(schedule, schedule.ops.back()); }
};

TEST(BlocksAgent, what_an_agent_performs_itself_does) {
  EachKind s;
  s.host_copy({0}, EachKind::all(s.pageable), EachKind::all(s.pinned));
  EXPECT_TRUE(s.last_blocks());
  for (const Call kind : all_calls) {
    s.call(kind, EachKind::all(s.pageable));
    EXPECT_TRUE(s.last_blocks()) << to_string(kind);
  }
}

TEST(BlocksAgent, a_copy_does_from_or_to_pageable_memory_only) {
  EachKind s;
  for (const MemoryKind kind : host_kinds) {
    const BufferId b = s.memory("b", kind);
    s.copy(s.q, EachKind::all(b), EachKind::all(s.d));
    EXPECT_EQ(s.last_blocks(), kind == MemoryKind::pageable) << "from " << to_string(kind);
    s.copy(s.q, EachKind::all(s.d), EachKind::all(b));
    EXPECT_EQ(s.last_blocks(), kind == MemoryKind::pageable) << "to " << to_string(kind);
  }
  s.copy(s.q, EachKind::all(s.d), EachKind::all(s.memory("e", MemoryKind::device, Place::gpu())));
  EXPECT_FALSE(s.last_blocks());
}

TEST(BlocksAgent, kernels_and_prefetches_do_not) {
  EachKind s;
  s.kernel(s.q, {read(EachKind::all(s.managed))});
  EXPECT_FALSE(s.last_blocks());
  s.add(Prefetch{.region = EachKind::all(s.managed), .to = Place::gpu()}, s.q, {}, 0);
  EXPECT_FALSE(s.last_blocks());
}

TEST(FirstBlocking, is_the_first_op_that_its_agent_waits_in) {
  EachKind s;
  EXPECT_TRUE(first_blocking(s.schedule).is_none());
  s.copy(s.q, EachKind::all(s.pinned), EachKind::all(s.d));
  s.kernel(s.q, {});
  EXPECT_TRUE(first_blocking(s.schedule).is_none());
  s.copy(s.q, EachKind::all(s.d), EachKind::all(s.pageable));
  s.call(Call::flush, EachKind::all(s.pinned));
  EXPECT_EQ(first_blocking(s.schedule), OpId{2});
}

TEST(CanBeHeld, everything_without_blocking_ops_and_managed_memory_can) {
  Builder empty;
  EXPECT_TRUE(can_be_held(empty.schedule));
  Builder b;
  const BufferId x = b.host("x", 8_B);
  const BufferId d = b.device("d", 8_B);
  const StreamId q = b.schedule.add_stream("q");
  b.copy(q, {x, 0_B, 8_B}, {d, 0_B, 8_B});
  EXPECT_TRUE(can_be_held(b.schedule));
  // A buffer of pageable memory that nothing waits for does not matter, one of managed memory does.
  b.schedule.add_buffer(buffer("p", Place::host(), MemoryKind::pageable, 8_B));
  EXPECT_TRUE(can_be_held(b.schedule));
  Builder managed = b;
  managed.schedule.add_buffer(buffer("m", Place::gpu(), MemoryKind::managed, 8_B));
  EXPECT_FALSE(can_be_held(managed.schedule));
  b.add(HostCall{.kind = Call::flush, .region = {x, 0_B, 8_B}}, {}, {}, 0);
  EXPECT_FALSE(can_be_held(b.schedule));
}

TEST(AllocatedByOp, is_a_buffer_that_an_op_allocates_and_no_other) {
  EachKind s;
  s.call(Call::allocate, EachKind::all(s.pinned));
  s.call(Call::release, EachKind::all(s.pinned), {OpId{0}});
  s.call(Call::release, EachKind::all(s.d));
  s.call(Call::pin, EachKind::all(s.pageable));
  s.call(Call::touch, EachKind::all(s.managed));
  EXPECT_TRUE(is_allocated_by_op(s.schedule, s.pinned));
  for (const BufferId other : {s.d, s.pageable, s.managed}) EXPECT_FALSE(is_allocated_by_op(s.schedule, other));
}

TEST(HostCallAccess, orders_like_a_write_of_its_region) {
  EachKind s;
  for (const Call kind : all_calls) {
    s.call(kind, {s.pageable, 2_B, 5_B});
    int visits = 0;
    for_each_access(s.schedule.ops.back(), [&](const Region& region, AccessMode mode) {
      EXPECT_EQ(region, (Region{s.pageable, 2_B, 5_B}));
      EXPECT_EQ(mode, AccessMode::write);
      ++visits;
    });
    EXPECT_EQ(visits, 1) << to_string(kind);
  }
}

TEST(HostCallNames, say_what_is_done) {
  EachKind s;
  std::set<std::string> names;
  for (const Call kind : all_calls) {
    names.insert(to_string(kind));
    const OpId id = s.call(kind, EachKind::all(s.pageable));
    EXPECT_EQ(describe(s.schedule, id), to_string(kind) + " of chunk 0 (op " + std::to_string(id.value) + ")");
  }
  EXPECT_EQ(names.size(), std::size(all_calls));
  EXPECT_TRUE(names.contains("pin"));
  EXPECT_TRUE(names.contains("touch by the host"));
}

TEST(MemoryKinds, have_a_name_each) {
  std::set<std::string> names{to_string(MemoryKind::device)};
  for (const MemoryKind kind : host_kinds) names.insert(to_string(kind));
  EXPECT_EQ(names, (std::set<std::string>{"device", "pageable", "pinned", "mapped", "driver-pinned", "write-combined",
                                          "managed"}));
}

TEST(ValidateHostCalls, accepts_each_of_them_where_it_makes_sense) {
  EachKind s;
  const OpId pinned = s.call(Call::pin, {s.pageable, 2_B, 4_B});
  s.call(Call::unpin, {s.pageable, 2_B, 4_B}, {pinned});
  for (const MemoryKind kind : host_kinds) {
    const BufferId b = s.memory("b", kind);
    const OpId touched = s.call(Call::touch, {b, 3_B, 1_B});
    s.call(Call::flush, {b, 0_B, 7_B}, {touched});
    const BufferId own = s.memory("own", kind);
    const OpId allocated = s.call(Call::allocate, EachKind::all(own));
    s.call(Call::release, EachKind::all(own), {allocated});
    s.call(Call::allocate, EachKind::all(own), {allocated});
  }
  const OpId on_gpu = s.call(Call::allocate, EachKind::all(s.d));
  s.call(Call::release, EachKind::all(s.d), {on_gpu});
  EXPECT_EQ(joined(problems(s.schedule)), "");
}

TEST(ValidateHostCalls, refuses_a_stream) {
  EachKind s;
  s.call(Call::touch, EachKind::all(s.pinned));
  s.schedule.ops[0].stream = s.q;
  EXPECT_REFUSED(s.schedule, "touch by the host of chunk 0 (op 0) has a stream, but its agent performs it");
}

TEST(ValidateHostCalls, pins_pageable_memory_only) {
  for (const Call kind : {Call::pin, Call::unpin})
    for (const MemoryKind memory : host_kinds) {
      EachKind s;
      const BufferId b = s.memory("b", memory);
      if (kind == Call::unpin) s.call(Call::pin, EachKind::all(b));
      s.call(kind, EachKind::all(b));
      if (memory == MemoryKind::pageable) {
        EXPECT_EQ(joined(problems(s.schedule)), "");
      } else {
        const std::string op = kind == Call::unpin ? "1" : "0";
        EXPECT_REFUSED(s.schedule, to_string(kind) + " of chunk 0 (op " + op + ") concerns buffer b, which is " +
                                       to_string(memory) + " memory; only pageable memory can be pinned");
      }
    }
}

TEST(ValidateHostCalls, reaches_no_memory_on_a_gpu_unless_it_is_managed) {
  for (const Call kind : {Call::touch, Call::flush}) {
    EachKind s;
    s.call(kind, EachKind::all(s.d));
    EXPECT_REFUSED(s.schedule, to_string(kind) + " of chunk 0 (op 0) accesses buffer d on a GPU");
    EachKind managed;
    managed.call(kind, EachKind::all(managed.memory("b", MemoryKind::managed, Place::gpu())));
    EXPECT_EQ(joined(problems(managed.schedule)), "");
  }
}

TEST(ValidateHostCalls, allocates_and_releases_whole_buffers) {
  for (const Call kind : {Call::allocate, Call::release}) {
    EachKind s;
    s.call(kind, {s.pinned, 0_B, 7_B});
    EXPECT_REFUSED(s.schedule, to_string(kind) + " of chunk 0 (op 0) concerns 7 B of buffer x, which has 8 B");
  }
}

TEST(ValidateHostCalls, refuses_memory_that_is_allocated_twice_or_released_without) {
  EachKind twice;
  twice.call(Call::allocate, EachKind::all(twice.pinned));
  twice.call(Call::allocate, EachKind::all(twice.pinned));
  EXPECT_REFUSED(twice.schedule, "allocation of chunk 0 (op 1) concerns buffer x, which is allocated already");
  EachKind never;
  never.call(Call::release, EachKind::all(never.pinned));
  EXPECT_REFUSED(never.schedule, "release of chunk 0 (op 0) concerns buffer x, which is not allocated");
}

TEST(ValidateHostCalls, refuses_what_is_pinned_twice_or_unpinned_without) {
  EachKind s;
  s.call(Call::pin, {s.pageable, 0_B, 4_B});
  s.call(Call::pin, {s.pageable, 4_B, 4_B});
  s.call(Call::unpin, {s.pageable, 0_B, 4_B});
  s.call(Call::pin, {s.pageable, 2_B, 2_B});
  s.call(Call::unpin, {s.pageable, 4_B, 4_B});
  EXPECT_EQ(joined(problems(s.schedule)), "");
  EachKind twice;
  twice.call(Call::pin, {twice.pageable, 0_B, 4_B});
  twice.call(Call::pin, {twice.pageable, 3_B, 5_B});
  EXPECT_REFUSED(twice.schedule, "pin of chunk 0 (op 1) concerns bytes of buffer p that an op has pinned");
  EachKind never;
  never.call(Call::pin, {never.pageable, 0_B, 4_B});
  never.call(Call::unpin, {never.pageable, 0_B, 8_B});
  EXPECT_REFUSED(never.schedule, "unpin of chunk 0 (op 1) concerns a region of buffer p that no op has pinned");
}

TEST(ValidateHostCalls, refuses_other_ops_on_what_an_op_allocates) {
  EachKind s;
  const OpId allocated = s.call(Call::allocate, EachKind::all(s.pinned));
  s.copy(s.q, EachKind::all(s.pinned), EachKind::all(s.d));
  s.schedule.ops[1].after = {allocated};
  EXPECT_REFUSED(s.schedule, "copy H2D of chunk 0 (op 1) uses buffer x, which an op of the schedule allocates");
}

TEST(ValidateHostCalls, refuses_regions_that_leave_their_buffer_or_have_no_bytes) {
  for (const Call kind : all_calls) {
    EachKind s;
    s.call(kind, {s.pageable, 4_B, 5_B});
    EXPECT_REFUSED(s.schedule, "accesses 5 B at offset 4 of buffer p, which has only 8 B");
    EachKind none;
    none.call(kind, {none.pageable, 4_B, 0_B});
    EXPECT_REFUSED(none.schedule, "accesses a region of no bytes in buffer p");
    EachKind no_buffer;
    no_buffer.call(kind, {{99}, 0_B, 8_B});
    EXPECT_REFUSED(no_buffer.schedule, "refers to buffer 99");
  }
}

TEST(ValidateHostCalls, must_be_ordered_with_copies_of_the_same_bytes) {
  for (const Call kind : {Call::touch, Call::flush}) {
    EachKind s;
    const OpId call = s.call(kind, EachKind::all(s.pinned));
    s.copy(s.q, EachKind::all(s.pinned), EachKind::all(s.d));
    // The same agent makes both calls, one after the other; but the order of calls is not that of execution.
    EXPECT_REFUSED(s.schedule, "nothing orders the two; let op 1 wait for op 0");
    s.schedule.ops[1].after = {call};
    EXPECT_EQ(joined(problems(s.schedule)), "");
  }
}

TEST(ValidateHostCalls, of_one_agent_are_ordered_and_those_of_two_are_not) {
  EachKind s;
  s.call(Call::touch, EachKind::all(s.pinned));
  s.call(Call::flush, EachKind::all(s.pinned));
  s.host_copy({0}, EachKind::all(s.pinned), EachKind::all(s.pageable));
  EXPECT_EQ(joined(problems(s.schedule)), "");
  s.schedule.ops[1].agent = {1};
  EXPECT_REFUSED(s.schedule, "op 1 wait for op 0");
  s.schedule.ops[1].after = {{0}};
  s.schedule.ops[2].after = {{1}};
  EXPECT_EQ(joined(problems(s.schedule)), "");
}

}  // namespace
}  // namespace shiplap
