// What a plan chooses to move the blocks of a job with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_blocks.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

constexpr Limits plenty{.device_memory = 100_GiB};

/// A job that gathers `count` blocks, and whose kernel takes `work`.
Job gathering(Bytes block, std::uint64_t count, Seconds work) {
  static const std::uint32_t index = 0;  // only whether there is a list matters for planning
  Job job{count, "gathering"};
  job.arrays.push_back({.name = "pages",
                        .role = Role::in,
                        .size = block * count,
                        .element = block,
                        .blocks = Blocks{.indices = {.data = &index, .count = count},
                                         .count = count,
                                         .block = block,
                                         .pitch = block,
                                         .pool = block * (2 * count)}});
  job.arrays.push_back({.name = "out", .role = Role::out, .size = Bytes{8 * count}, .element = 8_B});
  job.cost = {.points = {{count, Interval<Seconds>::exact(work)}}, .limited = {}, .zero_copy = {}, .origin = "stated"};
  return job;
}

Mover chosen_gather(const Job& job, const SearchSpace& space = {}) {
  return rank(job, planted_profile(), plenty, space).best().choice.mover_h2d.value();
}

TEST(JobMovers, of_small_blocks_are_a_kernel_and_of_large_ones_the_copy_engine) {
  // The planted kernel moves at 49 GB/s at most. A batch moves blocks faster than that from b / (0.55 us + b / 55 GB/s)
  // = 49 GB/s on, which is at b = 247 kB.
  for (const Bytes of_block : {1_KiB, 4_KiB, 32_KiB, 128_KiB})
    EXPECT_EQ(chosen_gather(gathering(of_block, 2048, microseconds(10))).kind, Mover::Kind::kernel) << of_block.count;
  for (const Bytes of_block : {512_KiB, 1_MiB, 4_MiB})
    EXPECT_EQ(chosen_gather(gathering(of_block, 256, microseconds(10))).kind, Mover::Kind::batch) << of_block.count;
}

TEST(JobMovers, leave_the_sms_to_a_kernel_that_takes_longer_than_the_blocks_need) {
  // 2,000 blocks of 64 KiB take 3.5 ms in a batch and 2.7 ms by a kernel, which slows the job's kernel of 5 ms down by
  // 1 % or more.
  const Mover mover = chosen_gather(gathering(64_KiB, 2000, milliseconds(5)), {.layouts = {Layout::three}});
  EXPECT_EQ(to_string(mover), "batch");
}

TEST(JobMovers, keep_the_limit_of_what_the_kernel_may_lose) {
  const BlockModel planted = planted_blocks();
  const auto chosen = [](double limit) {
    Profile profile = planted_profile();
    profile.links[0].blocks = with_planted_waits(planted_blocks());
    return rank(gathering(4_KiB, 4096, microseconds(10)), profile, plenty, {.max_slowdown = limit})
        .best()
        .choice.mover_h2d.value();
  };
  for (const double limit : {0.005, 0.02, 0.1, 0.6, 2.0}) {
    const Mover mover = chosen(limit);
    const double loss =
        mover.kind == Mover::Kind::kernel ? beside_at(planted.beside_gather, mover.grid)->memory.value : 0;
    EXPECT_LE(loss, limit) << to_string(mover);
    EXPECT_EQ(mover.kind == Mover::Kind::kernel, limit >= 0.01) << limit;  // the smallest planted loss, of one block
  }
}

TEST(JobMovers, are_within_a_percent_of_the_best_of_all_movers_and_numbers_of_chunks) {
  const Profile profile = planted_profile();
  const Strategy& streams = find_strategy("streams");
  for (const Bytes block : {2_KiB, 16_KiB, 64_KiB, 256_KiB, 1_MiB})
    for (const double ms : {0.1, 1.0, 4.0}) {
      const Job job = gathering(block, (64_MiB).count / block.count, milliseconds(ms));
      Seconds best{1};
      for (const std::uint32_t chunks : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u, 24u, 32u}) {
        if (chunks > job.items) continue;
        std::vector<Mover> movers{{.kind = Mover::Kind::copies}, {.kind = Mover::Kind::batch}};
        for (const std::uint32_t grid : {1u, 2u, 4u, 8u, 32u, 132u}) movers.push_back({Mover::Kind::kernel, grid});
        for (const Mover& mover : movers) {
          const Choice choice{.strategy = "streams", .chunks = chunks, .mover_h2d = mover};
          best = std::min(best, simulate(streams.schedule(job, choice, plenty), profile).timeline.makespan);
        }
      }
      const Ranking ranking = rank(job, profile, plenty, {});
      EXPECT_LE(ranking.candidates.front().predicted.value, best * 1.01) << block.count << " B, " << ms << " ms";
    }
}

TEST(JobMovers, can_be_restricted_and_say_when_none_is_left) {
  const Job job = gathering(4_KiB, 4096, microseconds(10));
  EXPECT_EQ(chosen_gather(job, {.movers = {Mover::Kind::copies}}).kind, Mover::Kind::copies);
  EXPECT_THAT(
      message_of<Unsupported>([&] { rank(job, planted_profile(), plenty, {.movers = {Mover::Kind::strided}}); }),
      HasSubstr("no mover is left for the blocks of array pages"));
  Profile without = planted_profile();
  without.links[0].blocks.reset();
  EXPECT_THAT(message_of<Unsupported>([&] { rank(job, without, plenty, {}); }), HasSubstr("shiplap measure"));
}

TEST(JobMovers, of_a_choice_are_kept_in_its_json) {
  const Choice choice{.strategy = "streams",
                      .chunks = 4,
                      .mover_h2d = Mover{.kind = Mover::Kind::kernel, .grid = 32},
                      .mover_d2h = Mover{.kind = Mover::Kind::batch}};
  const Json json = to_json(choice);
  EXPECT_EQ(json.at("mover_h2d"), Json::parse(R"({"kind": "kernel", "grid": 32})"));
  EXPECT_EQ(json.at("mover_d2h"), Json::parse(R"({"kind": "batch", "grid": null})"));
  EXPECT_EQ(Form<Choice>::read(JsonReader(json, "choice")), choice);
}

TEST(ChoiceWithMovers, is_not_read_with_a_mover_that_does_not_exist) {
  Json json = to_json(Choice{.strategy = "streams", .chunks = 4, .mover_h2d = Mover{.kind = Mover::Kind::copies}});
  json["mover_h2d"]["kind"] = "conveyor";
  const std::string said = message_of([&] { Form<Choice>::read(JsonReader(json, "a choice")); });
  EXPECT_NE(said.find("mover_h2d.kind: expected one of copies, batch, strided, kernel"), std::string::npos) << said;
}

}  // namespace
}  // namespace shiplap
