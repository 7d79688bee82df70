#include "shiplap/strategy/relayed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/strategy/shapes.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

/// How often each byte of the job's arrays crosses a link, by the GPU of the link and the direction.
struct Crossings {
  std::map<std::uint16_t, std::uint64_t> in, out;                         // bytes by GPU
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> sent, received;  // times by array and byte

  explicit Crossings(const Schedule& schedule) {
    for (const Op& op : schedule.ops) {
      const auto* copy = std::get_if<Copy>(&op.what);
      if (copy == nullptr) continue;
      const Buffer& from = schedule.buffers[copy->from.buffer.index()];
      const Buffer& to = schedule.buffers[copy->to.buffer.index()];
      if (from.place.is_host()) note(*copy, copy->from, in[to.place.index], sent);
      if (to.place.is_host()) note(*copy, copy->to, out[from.place.index], received);
    }
  }
  static void note(const Copy& copy, const Region& host, std::uint64_t& bytes, auto& times) {
    bytes += copy.from.length.count;
    for (std::uint64_t i = 0; i < host.length.count; ++i) ++times[{host.buffer.value, host.offset.count + i}];
  }
};

Relay random_relay(std::mt19937& random) {
  Relay relay{.through = {}, .piece = Bytes{1 + random() % 24}};
  const std::uint16_t gpus = static_cast<std::uint16_t>(1 + random() % 3);
  for (std::uint16_t gpu = 1; gpu <= gpus; ++gpu)
    relay.through.push_back({gpu, std::uniform_real_distribution(0.02, 0.95 / gpus)(random)});
  return relay;
}

TEST(Relay, of_schedules_in_every_shape_is_sound_and_moves_every_byte_as_often_as_before) {
  std::mt19937 random(1);
  unsigned divided = 0;
  for (const auto& roles : pinned_roles)
    for (Choice choice : all_shapes()) {
      for (const char* strategy : {"streams", "hybrid", "hybrid-mirror", "explicit"}) {
        if (random() % (std::string_view(strategy) == "streams" ? 4 : 16) != 0) continue;
        choice.strategy = strategy;
        choice.relay = {};
        const Job job = job_with(roles);
        const auto schedule_of = [&] { return find_strategy(strategy).schedule(job, choice, roomy); };
        const Schedule before = schedule_of();
        choice.relay = random_relay(random);
        SCOPED_TRACE(to_string(choice) + ", ring " + std::to_string(choice.ring));
        const Schedule after = schedule_of();
        const auto found = problems(after);
        ASSERT_TRUE(found.empty()) << found.front();
        const Crossings direct(before);
        const Crossings relayed(after);
        ASSERT_EQ(relayed.sent, direct.sent);
        ASSERT_EQ(relayed.received, direct.received);
        if (after.ops.size() > before.ops.size()) ++divided;
      }
    }
  EXPECT_GT(divided, 100u);
}

TEST(Relay, divides_the_bytes_by_the_shares_and_holds_four_pieces_in_each_direction) {
  const Job job = in_out_job(128_KiB, 64_KiB, milliseconds(1), 64);
  const Relay relay{.through = {{1, 0.25}, {3, 0.125}}, .piece = 1_KiB};
  const Schedule schedule =
      find_strategy("streams").schedule(job, {.chunks = 4, .layout = Layout::three, .relay = relay}, roomy);
  const Crossings bytes(schedule);
  EXPECT_EQ(bytes.in.at(1), (32_KiB).count);
  EXPECT_EQ(bytes.in.at(3), (16_KiB).count);
  EXPECT_EQ(bytes.in.at(0), (80_KiB).count);
  EXPECT_EQ(bytes.out.at(1), (16_KiB).count);
  EXPECT_EQ(bytes.out.at(3), (8_KiB).count);
  EXPECT_EQ(bytes.out.at(0), (40_KiB).count);
  for (const Place gpu : {Place::gpu(1), Place::gpu(3)}) EXPECT_EQ(memory_at(schedule, gpu), 1_KiB * 4 * 2);
}

TEST(Relay, leaves_a_copy_whose_share_is_no_whole_piece_to_its_own_link) {
  const Job job = in_out_job(64_KiB, 1000_B, milliseconds(1), 64);
  const Relay relay{.through = {{1, 0.5}}, .piece = 512_B};
  const Crossings bytes(find_strategy("explicit").schedule(job, {.strategy = "explicit", .relay = relay}, roomy));
  EXPECT_EQ(bytes.in.at(1), (32_KiB).count);
  EXPECT_FALSE(bytes.out.contains(1));
  EXPECT_EQ(bytes.out.at(0), 1000u);
}

TEST(Relay, refuses_shares_that_leave_nothing_and_what_cannot_be_divided) {
  const Job job = in_out_job(8_MiB, 4_MiB, milliseconds(1), 64);
  const auto relayed_by = [&](Relay relay, Choice choice = {.chunks = 4}) {
    choice.relay = std::move(relay);
    return find_strategy("streams").schedule(job, choice, roomy);
  };
  EXPECT_THROW(relayed_by({.through = {{1, 0.5}, {2, 0.5}}, .piece = 1_MiB}), UsageError);
  EXPECT_THROW(relayed_by({.through = {{1, 0}}, .piece = 1_MiB}), UsageError);
  EXPECT_THROW(relayed_by({.through = {{1, 0.2}, {1, 0.2}}, .piece = 1_MiB}), UsageError);
  EXPECT_THROW(relayed_by({.through = {{1, 0.5}}, .piece = 0_B}), UsageError);
  EXPECT_THROW(relayed_by({.through = {{1, 0.5}}, .piece = 1_MiB}, {.chunks = 4, .graph = true}), Unsupported);
  EXPECT_NO_THROW(relayed_by({.through = {{1, 0.5}}, .piece = 1_MiB}));
}

}  // namespace
}  // namespace shiplap
