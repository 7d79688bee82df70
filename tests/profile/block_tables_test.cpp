// The tables of moves of scattered blocks in a profile, as JSON.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/profile/refusals.hpp"
#include "tests/support/intervals.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Interval<double> fraction(double value, double low, double high) { return {.value = value, .low = low, .high = high}; }

/// The planted profile with intervals and with tables of two movers alone.
Profile with_blocks() {
  Profile p = planted_profile();
  p.links[0].blocks = BlockModel{
      .movers = {{"batch pinned h2d",
                  {{.grid = 0, .block = 256_B, .blocks = 1, .time = us(8, 7, 9), .call = us(3)},
                   {.grid = 0, .block = 256_B, .blocks = 64, .time = us(40), .call = us(30, 29, 31)},
                   {.grid = 0, .block = 4_KiB, .blocks = 1, .time = us(9), .call = us(3.5)}}},
                 {"kernel pinned d2h",
                  {{.grid = 1, .block = 256_B, .blocks = 8, .time = us(6), .call = us(2)},
                   {.grid = 8, .block = 64_B, .blocks = 1, .time = us(5), .call = us(2)}}}},
      .beside_gather =
          {{.grid = 1,
            .compute = fraction(0.01, 0, 0.02),
            .memory = fraction(0.03, 0.02, 0.05),
            .added = AddedToMover{}},
           {.grid = 8,
            .compute = fraction(0.02, 0.01, 0.02),
            .memory = fraction(0.3, 0.2, 0.5),
            .added = AddedToMover{.wait = fraction(0.8, 0.5, 1.1),
                                  .compute = {.per_move = us(2, 1, 3), .per_block = us(0.5), .per_mib = us(30, 20, 40)},
                                  .memory = {.per_move = us(1), .per_block = us(0.25), .per_mib = us(7, 6, 9)}}}},
      .beside_scatter = {
          {.grid = 4, .compute = fraction(0, 0, 0), .memory = fraction(0.1, 0.1, 0.2), .added = AddedToMover{}}}};
  return p;
}

void expect_equal_tables(const Interval<double>& a, const Interval<double>& b) {
  EXPECT_DOUBLE_EQ(a.value, b.value);
  EXPECT_DOUBLE_EQ(a.low, b.low);
  EXPECT_DOUBLE_EQ(a.high, b.high);
}
void expect_equal_tables(const Interval<Seconds>& a, const Interval<Seconds>& b) {
  EXPECT_DOUBLE_EQ(a.value.count(), b.value.count());
  EXPECT_DOUBLE_EQ(a.low.count(), b.low.count());
  EXPECT_DOUBLE_EQ(a.high.count(), b.high.count());
}
void expect_equal_tables(const std::vector<MutualSlowdown>& a, const std::vector<MutualSlowdown>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].grid, b[i].grid);
    expect_equal_tables(a[i].compute, b[i].compute);
    expect_equal_tables(a[i].memory, b[i].memory);
    ASSERT_EQ(a[i].added.has_value(), b[i].added.has_value());
    if (!a[i].added) continue;
    expect_equal_tables(a[i].added->wait, b[i].added->wait);
    for (const auto part : {&AddedToMover::compute, &AddedToMover::memory}) {
      const MoveDelay& one = (*a[i].added).*part;
      const MoveDelay& other = (*b[i].added).*part;
      expect_equal_tables(one.per_move, other.per_move);
      expect_equal_tables(one.per_block, other.per_block);
      expect_equal_tables(one.per_mib, other.per_mib);
    }
  }
}
void expect_equal_tables(const BlockModel& a, const BlockModel& b) {
  ASSERT_EQ(a.movers.size(), b.movers.size());
  for (const auto& [name, rows] : a.movers) {
    ASSERT_TRUE(b.movers.contains(name)) << name;
    const std::vector<BlockTime>& others = b.movers.at(name);
    ASSERT_EQ(rows.size(), others.size()) << name;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].grid, others[i].grid);
      EXPECT_EQ(rows[i].block, others[i].block);
      EXPECT_EQ(rows[i].blocks, others[i].blocks);
      expect_equal_tables(rows[i].time, others[i].time);
      expect_equal_tables(rows[i].call, others[i].call);
    }
  }
  expect_equal_tables(a.beside_gather, b.beside_gather);
  expect_equal_tables(a.beside_scatter, b.beside_scatter);
}

TEST(BlockTables, are_read_as_they_were_written) {
  for (const Profile& written : {with_blocks(), planted_profile()}) {
    const Json json = to_json(written);
    const Profile read = profile_from_json(json, "blocks.json");
    ASSERT_TRUE(read.links[0].blocks);
    expect_equal_tables(*read.links[0].blocks, *written.links[0].blocks);
    EXPECT_EQ(to_json(read), json);
    EXPECT_EQ(parameter_hash(read), parameter_hash(written));
  }
}

TEST(BlockTables, may_be_absent_with_a_reason_only) {
  Json json = to_json(with_blocks());
  json["links"][0]["blocks"] = nullptr;
  expect_names(refusal(json), "links[0].blocks:", "\"missing\"");
  json["missing"].push_back({{"parameter", "links[0].blocks"}, {"reason", "left out by the test"}});
  EXPECT_EQ(refusal(json), "");
  EXPECT_FALSE(profile_from_json(json, "").links[0].blocks);
  expect_names(refusal_without(with_blocks(), "/links/0", "blocks"), "links[0].blocks", "missing");
}

TEST(BlockTables, may_have_no_slowdowns_with_a_reason_only) {
  for (const std::string which : {"beside_gather", "beside_scatter"}) {
    Json json = to_json(with_blocks());
    json["links"][0]["blocks"][which] = Json::array();
    const std::string parameter = "links[0].blocks." + which;
    expect_names(refusal(json), parameter, "\"missing\"");
    json["missing"].push_back({{"parameter", parameter}, {"reason", "left out by the test"}});
    EXPECT_EQ(refusal(json), "");
  }
}

TEST(BlockTables, are_refused_where_rows_do_not_increase_by_grid_then_block_then_count) {
  const std::string batch = "/links/0/blocks/movers/batch pinned h2d/";
  const std::string kernel = "/links/0/blocks/movers/kernel pinned d2h/";
  const auto expect_order = [](const std::string& pointer, const Json& value, const std::string& key) {
    expect_names(refusal_with(with_blocks(), pointer, value), "links[0].blocks." + key + ":",
                 "larger than the row before it");
  };
  expect_order(batch + "1/blocks", 1, "movers.batch pinned h2d[1]");
  expect_order(batch + "2/block", 256, "movers.batch pinned h2d[2]");
  expect_order(batch + "2/block", 128, "movers.batch pinned h2d[2]");
  expect_order(kernel + "1/grid", 1, "movers.kernel pinned d2h[1]");
  expect_order(kernel + "0/grid", 9, "movers.kernel pinned d2h[1]");
  expect_order("/links/0/blocks/beside_gather/1/grid", 1, "beside_gather[1]");
}

TEST(BlockTables, are_refused_with_values_that_cannot_be) {
  const std::string batch = "/links/0/blocks/movers/batch pinned h2d/0/";
  const std::string in_batch = "links[0].blocks.movers.batch pinned h2d[0].";
  expect_names(refusal_with(with_blocks(), batch + "blocks", 0), in_batch + "blocks:", "a whole number from 1");
  expect_names(refusal_with(with_blocks(), batch + "block", 0), in_batch + "block:", "a whole number from 1");
  expect_names(refusal_with(with_blocks(), batch + "grid", -1), in_batch + "grid:", "a whole number >= 0");
  expect_names(refusal_with(with_blocks(), batch + "time/value", -1), in_batch + "time.value:", ">= 0");
  expect_names(refusal_with(with_blocks(), batch + "call/low", 3.5), in_batch + "call.low:", "not above \"value\"");
  expect_names(refusal_with(with_blocks(), "/links/0/blocks/beside_gather/0/grid", -1),
               "links[0].blocks.beside_gather[0].grid:", "a whole number >= 0");
  expect_names(refusal_with(with_blocks(), "/links/0/blocks/beside_scatter/0/memory/value", -0.1),
               "links[0].blocks.beside_scatter[0].memory", ">= 0");
  expect_names(refusal_without(with_blocks(), "/links/0/blocks/movers/batch pinned h2d/0", "call"), in_batch + "call",
               "missing");
}

TEST(BlockTables, have_another_hash_when_any_of_their_parameters_differs) {
  const std::string hash = parameter_hash(with_blocks());
  const std::function<void(BlockModel&)> changes[] = {
      [](BlockModel& m) { m.movers["batch pinned h2d"][0].time = us(8.5, 7, 9); },
      [](BlockModel& m) { m.movers["batch pinned h2d"][1].call = us(30, 29, 32); },
      [](BlockModel& m) { m.movers["kernel pinned d2h"][1].grid = 9; },
      [](BlockModel& m) { m.movers["kernel pinned d2h"][0].block = 257_B; },
      [](BlockModel& m) { m.movers["kernel pinned d2h"][0].blocks = 9; },
      [](BlockModel& m) { m.movers.erase("batch pinned h2d"); },
      [](BlockModel& m) { m.beside_gather[1].memory.value = 0.31; },
      [](BlockModel& m) { m.beside_scatter[0].grid = 5; },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    Profile p = with_blocks();
    changes[i](*p.links[0].blocks);
    EXPECT_NE(parameter_hash(p), hash) << "change " << i;
  }
}

TEST(BlockTables, do_not_change_the_hash_of_a_profile_that_lacks_them) {
  Profile without = with_blocks();
  without.links[0].blocks.reset();
  EXPECT_NE(parameter_hash(without), parameter_hash(with_blocks()));
  // Before there were blocks, the hash was that of the parameters without the key.
  Json before = Json::object();
  const Json json = to_json(without);
  for (const char* key : {"gpus", "links", "peers", "host", "submission"}) before[key] = json.at(key);
  for (Json& gpu : before["gpus"]) gpu.erase("name");
  EXPECT_EQ(before["links"][0].erase("blocks"), 1u);
  EXPECT_EQ(parameter_hash(without), content_hash(before.dump()));
}

}  // namespace
}  // namespace shiplap
