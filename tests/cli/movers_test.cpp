// shiplap movers on a planted profile and a simulated device with that profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/profile/profile.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/planted_blocks.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Movers : public Cli {
 protected:
  void SetUp() override {
    file = (folder / "planted.json").string();
    save_profile(planted_profile(), file);
  }
  std::string file;
};

/// The row of a direction and size.
Json row_of(const Json& table, const std::string& direction, std::uint64_t block) {
  for (const Json& row : table.at("rows"))
    if (row.at("direction") == direction && row.at("block").at("value") == block) return row;
  return nullptr;
}

TEST_F(Movers, prints_the_best_mover_by_size_and_the_crossovers) {
  const Outcome brief = shiplap("movers --profile " + file);
  EXPECT_THAT(brief.out, StartsWith("1,024 blocks to the GPU: kernel of 8 blocks up to "));
  EXPECT_THAT(brief.out, Not(HasSubstr("neighbour loses\n")));
  const Outcome shown = shiplap("movers --all --profile " + file);
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("H2D, 1,024 blocks\n"), HasSubstr("D2H, 1,024 blocks\n"), HasSubstr("256 B"),
                               HasSubstr("4 MiB"), HasSubstr("kernel of 8 blocks"), HasSubstr("neighbour loses")));
  // The planted batch takes 0.55 us for each block, so a kernel is faster while blocks are small.
  EXPECT_THAT(shown.out, HasSubstr("H2D, 1,024 blocks: kernel of 8 blocks below "));
  EXPECT_THAT(shown.out, HasSubstr(", batch above\n"));
  EXPECT_THAT(shown.out, HasSubstr("D2H, 65,536 blocks: "));
}

TEST_F(Movers, a_simulated_device_shows_its_own_profile_and_says_so) {
  const Outcome shown = shiplap("movers --device virtual:" + file);
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("Simulated"), HasSubstr("1,024 blocks back")));
}

TEST_F(Movers, json_holds_what_the_schema_says_and_the_planted_times) {
  const Json table = parsed(shiplap("movers --json --count 64,1Ki --profile " + file));
  EXPECT_EQ(JsonSchema(Json::parse(read(SHIPLAP_SOURCE_DIR "/docs/schema/movers.schema.json"))).problems(table),
            std::vector<std::string>{});
  EXPECT_EQ(table.at("schema"), "shiplap/movers");
  EXPECT_EQ(table.at("version"), 1);
  EXPECT_EQ(table.at("rows").size(), 2u * 2u * 15u);
  EXPECT_EQ(table.at("crossovers").size(), 4u);
  const Json row = row_of(table, "D2H", 65536);
  ASSERT_TRUE(row.is_object());
  for (const Json& m : row.at("movers")) {
    if (m.at("mover").at("kind") != "batch") continue;
    const Seconds planted = planted_block_cost({.kind = Mover::Kind::batch}, false, 64_KiB, 64).time;
    EXPECT_NEAR(m.at("time").at("value").get<double>(), in_milliseconds(planted), 1e-9);
    EXPECT_EQ(m.at("slowdown").at("value"), 0.0);
    EXPECT_TRUE(m.at("mover").at("grid").is_null());
  }
}

TEST_F(Movers, a_limit_leaves_out_large_grids) {
  const Json table = parsed(shiplap("movers --json --max-slowdown 2% --profile " + file));
  EXPECT_NEAR(table.at("max_slowdown").at("value").get<double>(), 0.02, 1e-12);
  for (const Json& row : table.at("rows"))
    for (const Json& m : row.at("movers")) EXPECT_LE(m.at("slowdown").at("value").get<double>(), 0.02);
  EXPECT_THAT(shiplap("movers --max-slowdown 2% --profile " + file).out, ContainsRegex("may lose at most\\s2.0 %"));
}

TEST_F(Movers, a_neighbour_is_named_with_its_thread_blocks) {
  const Json alone = parsed(shiplap("movers --json --profile " + file));
  EXPECT_TRUE(alone.at("neighbour").is_null());
  const Json beside = parsed(shiplap("movers --json --memory-bound 0.5 --thread-block 40us --profile " + file));
  EXPECT_EQ(beside.at("neighbour").at("memory_bound").at("value"), 0.5);
  EXPECT_NEAR(beside.at("neighbour").at("thread_block").at("value").get<double>(), 0.04, 1e-12);
  EXPECT_THAT(shiplap("movers --memory-bound 0.5 --thread-block 40us --profile " + file).out,
              AllOf(HasSubstr("50.0 %"), HasSubstr("40.00 µs")));
  EXPECT_THAT(shiplap("movers --profile " + file).out, HasSubstr("idle GPU"));
}

TEST_F(Movers, draws_the_rates_into_a_file) {
  const std::string picture = file + ".svg";
  EXPECT_THAT(shiplap("movers --count 64 --svg " + picture + " --profile " + file).out,
              HasSubstr("picture written to"));
  EXPECT_THAT(read(picture), HasSubstr("Rate of moving 64 scattered blocks"));
  expect_refused(shiplap("movers --svg /no/such/folder/x.svg --profile " + file), 1, {"/no/such/folder"});
}

TEST_F(Movers, regular_blocks_have_a_strided_copy_too) {
  EXPECT_THAT(shiplap("movers --all --regular --count 64 --profile " + file).out, HasSubstr("strided copy"));
  EXPECT_THAT(shiplap("movers --count 64 --profile " + file).out, Not(HasSubstr("strided copy")));
}

TEST_F(Movers, a_profile_without_figures_is_refused_with_what_to_do) {
  expect_refused(shiplap("movers --profile gtx-titan-2014"), 1,
                 {"no figures for moves of scattered blocks", "shiplap measure"});
  expect_refused(shiplap("movers --pool managed --profile " + file), 1, {"managed memory", "shiplap measure"});
}

TEST_F(Movers, wrong_usage_is_refused) {
  expect_refused(shiplap("movers --count 0 --profile " + file), 64, {"--count 0"});
  expect_refused(shiplap("movers --max-slowdown fast --profile " + file), 64, {"--max-slowdown"});
  EXPECT_EQ(shiplap("movers --pool device --profile " + file).code, 64);
  EXPECT_EQ(shiplap("movers --memory-bound 2 --profile " + file).code, 64);
  expect_refused(shiplap("movers --thread-block soon --profile " + file), 64, {"--thread-block"});
}

}  // namespace
}  // namespace shiplap
