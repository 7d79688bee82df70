#include "shiplap/schedule/succession.hpp"

#include <gtest/gtest.h>

#include <array>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/submission.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/schedule/builder.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

/// Brings `size` in on one stream, inverts it on a second one and brings it back on a third.
Schedule in_and_out(Bytes size, Seconds work = microseconds(5)) {
  Builder b;
  const BufferId x = b.host("x", size);
  const BufferId d = b.device("d", size);
  b.schedule.add_kernel("invert");
  const StreamId in = b.schedule.add_stream("in");
  const StreamId compute = b.schedule.add_stream("compute");
  const StreamId out = b.schedule.add_stream("out");
  const OpId brought = b.copy(in, {x, 0_B, size}, {d, 0_B, size});
  const OpId run = b.kernel(compute, {write({d, 0_B, size})}, {brought});
  std::get<Kernel>(b.schedule.ops.back().what).work = work;
  b.copy(out, {d, 0_B, size}, {x, 0_B, size}, {run});
  return b.schedule;
}

Timeline simulated(const Succession& all) { return simulate(all.schedule, planted_profile()).timeline; }

TEST(Succession, of_slots_of_their_own_shares_streams_and_no_memory) {
  const Schedule one = in_and_out(1_MiB);
  const Succession two = succession(std::array{Successor{&one, 0}, Successor{&one, 1}});
  EXPECT_EQ(two.schedule.streams.size(), 3u);
  EXPECT_EQ(two.schedule.buffers.size(), 4u);
  ASSERT_EQ(two.schedule.ops.size(), 6u);
  EXPECT_EQ(two.first, (std::vector<std::uint32_t>{0, 3, 6}));
  EXPECT_TRUE(two.schedule.ops[3].after.empty()) << "nothing but its stream orders it";
  EXPECT_EQ(two.schedule.ops[4].after, std::vector<OpId>{{3}});
  EXPECT_EQ(std::get<Copy>(two.schedule.ops[3].what).to.buffer, BufferId{3});
  EXPECT_EQ(joined(problems(two.schedule)), "");
}

TEST(Succession, links_of_one_slot_share_memory_as_large_as_the_largest_needs_and_are_ordered_by_the_host) {
  const Schedule small = in_and_out(1_MiB);
  const Schedule large = in_and_out(2_MiB);
  const Succession two = succession(std::array{Successor{&small, 0}, Successor{&large, 0, 0}});
  ASSERT_EQ(two.schedule.buffers.size(), 2u);
  EXPECT_EQ(two.schedule.buffers[1].size, 2_MiB);
  ASSERT_EQ(two.schedule.ops.size(), 7u);
  const auto* wait = std::get_if<HostCall>(&two.schedule.ops[3].what);
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->kind, HostCall::Kind::wait);
  EXPECT_EQ(two.first, (std::vector<std::uint32_t>{0, 4, 7}));
  EXPECT_EQ(joined(problems(two.schedule)), "");
  Succession unordered = succession(std::array{Successor{&small, 0}, Successor{&large, 0}});
  EXPECT_REFUSED(unordered.schedule, "nothing orders the two");
}

TEST(Succession, the_host_waits_by_synchronizing_with_the_ends_of_every_stream) {
  const Schedule one = in_and_out(1_MiB);
  const Succession two = succession(std::array{Successor{&one, 0}, Successor{&one, 0, 0}});
  const Submission calls = submission(two.schedule);
  int synchronized = 0;
  for (const SubmissionStep& step : calls.agents.front())
    synchronized += step.kind == SubmissionStep::Kind::synchronize;
  EXPECT_EQ(synchronized, 3) << "streams of copies in, kernels and copies out";
}

TEST(Succession, keeps_the_kernels_of_each_apart_by_name) {
  const Schedule one = in_and_out(1_MiB);
  Schedule other = one;
  other.kernels[0] = "another";
  const Succession all = succession(std::array{Successor{&one, 0}, Successor{&other, 1}, Successor{&one, 2}});
  EXPECT_EQ(all.schedule.kernels, (std::vector<std::string>{"invert", "another"}));
  EXPECT_EQ(std::get<Kernel>(all.schedule.ops[1].what).kernel, KernelId{0});
  EXPECT_EQ(std::get<Kernel>(all.schedule.ops[4].what).kernel, KernelId{1});
  EXPECT_EQ(std::get<Kernel>(all.schedule.ops[7].what).kernel, KernelId{0});
}

TEST(Succession, overlaps_what_follows_and_does_not_where_the_host_waits) {
  const Schedule one = in_and_out(4_MiB, microseconds(50));
  const double alone = simulate(one, planted_profile()).timeline.makespan.count();
  const double overlapped =
      simulated(succession(std::array{Successor{&one, 0}, Successor{&one, 1}, Successor{&one, 2}})).makespan.count();
  const double waited =
      simulated(succession(std::array{Successor{&one, 0}, Successor{&one, 0, 0}, Successor{&one, 0, 1}}))
          .makespan.count();
  EXPECT_LT(overlapped, 2.2 * alone);
  EXPECT_GT(waited, 2.99 * alone);
}

TEST(Succession, the_span_of_a_link_begins_where_its_first_stream_gets_to_it) {
  const Schedule one = in_and_out(4_MiB, microseconds(50));
  const Succession two = succession(std::array{Successor{&one, 0}, Successor{&one, 1}});
  const Timeline timeline = simulated(two);
  EXPECT_EQ(two.span(timeline, 0).start, Seconds{0});
  EXPECT_EQ(two.span(timeline, 0).end, timeline.spans[2].end);
  EXPECT_EQ(two.span(timeline, 1).start, timeline.spans[0].end) << "behind the copy in of the one before";
  EXPECT_EQ(two.span(timeline, 1).end, timeline.spans[5].end);
  const Succession waited = succession(std::array{Successor{&one, 0}, Successor{&one, 0, 0}});
  const Timeline later = simulated(waited);
  EXPECT_EQ(waited.span(later, 1).start, later.spans[3].end) << "when the host goes on";
  EXPECT_GE(later.spans[3].end, later.spans[2].end);
}

TEST(Succession, refuses_what_cannot_be_submitted_behind_others_and_says_why) {
  const Schedule one = in_and_out(1_MiB);
  Schedule graph = one;
  graph.as_graph = true;
  EXPECT_EQ(
      message_of([&] {
        succession(std::array{Successor{&graph, 0}});
      }),
      "a schedule cannot be submitted after others to the same streams, because it is a graph; run it on its own");
  Schedule agents = one;
  agents.agents.push_back({"second"});
  EXPECT_THROW(succession(std::array{Successor{&agents, 0}}), Unsupported);
  Schedule pageable = one;
  pageable.buffers[0].memory = MemoryKind::pageable;
  EXPECT_THROW(succession(std::array{Successor{&pageable, 0}}), Unsupported);
  Schedule elsewhere = one;
  elsewhere.streams[1].place = Place::gpu(1);
  EXPECT_EQ(message_of([&] {
              succession(std::array{Successor{&one, 0}, Successor{&elsewhere, 1}});
            }),
            "schedules cannot share stream 1, which is on gpu 0 in one and on gpu 1 in another");
  Schedule managed = one;
  managed.buffers[0].memory = MemoryKind::managed;
  EXPECT_EQ(message_of([&] {
              succession(std::array{Successor{&one, 0}, Successor{&managed, 0, 0}});
            }),
            "schedules of one slot share buffer 0, which is pinned memory on host in one and managed memory on host "
            "in another");
  EXPECT_THROW(succession(std::array{Successor{&one, 0, 0}}), Error);
}

TEST(Succession, refuses_schedules_of_which_only_one_lets_gpus_address_each_other) {
  const Schedule one = in_and_out(1_MiB);
  Schedule other = one;
  other.peer_access = !one.peer_access;
  const std::string message = message_of([&] { succession(std::array{Successor{&one, 0}, Successor{&other, 1}}); });
  EXPECT_NE(message.find("differ in `peer_access`"), std::string::npos) << message;
  EXPECT_NO_THROW(succession(std::array{Successor{&other, 0}, Successor{&other, 1}}));
}

}  // namespace
}  // namespace shiplap
