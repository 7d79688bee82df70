#include "shiplap/fleet/history.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "tests/fleet/planted_fleet.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

class HistoryFile : public ::testing::Test {
 protected:
  void SetUp() override { file = (folder / "history.json").string(); }
  TemporaryFolder temporary;
  fs::path folder = temporary.path();
  std::string file;
};

NodeResult with(double value) {
  return {.node = "n",
          .gpu = "cuda:0",
          .figures = {{.what = "x", .measured = "", .limit = "", .measured_value = value, .causes = {}}}};
}

TEST(EarlierValues, keep_the_first_and_the_newest) {
  EarlierValues values;
  for (int i = 1; i <= 100; ++i) values.add(i);
  ASSERT_EQ(values.first.size(), EarlierValues::most_kept);
  ASSERT_EQ(values.last.size(), EarlierValues::most_kept);
  EXPECT_EQ(values.first.front(), 1);
  EXPECT_EQ(values.first.back(), 16);
  EXPECT_EQ(values.last.front(), 85);
  EXPECT_EQ(values.last.back(), 100);
}

TEST(History, a_slow_decline_is_compared_with_the_beginning_and_an_upgrade_with_the_time_after) {
  History falls;
  for (int i = 0; i < 100; ++i) falls.add(with(100 - 0.3 * i));
  EXPECT_GT(falls.earlier("n cuda:0", "x").median, 97);
  History rises;
  for (int i = 0; i < 100; ++i) rises.add(with(i < 50 ? 50 : 100));
  EXPECT_EQ(rises.earlier("n cuda:0", "x").median, 100);
  EXPECT_EQ(rises.earlier("n cuda:0", "y").checks, 0u);
  History begins;
  for (int i = 0; i < 17; ++i) begins.add(with(i < 16 ? 100 : 101));
  EXPECT_EQ(begins.earlier("n cuda:0", "x", 5).checks, 16u) << "one newer value is too few to count";
  EXPECT_EQ(rises.earlier("m cuda:0", "x").checks, 0u);
}

TEST(History, ignores_what_was_busy_or_not_measured) {
  History history;
  NodeResult result = with(7);
  result.figures.front().verdict = Verdict::busy;
  history.add(result);
  history.add(with(0));
  EXPECT_EQ(history.earlier("n cuda:0", "x").checks, 0u);
}

TEST_F(HistoryFile, is_made_grows_and_is_read_back) {
  EXPECT_EQ(read_history(file).earlier("n0 cuda:0", "device memory").checks, 0u);
  PlantedFleet fleet(1);
  std::vector<double> values;
  for (unsigned i = 0; i < 5; ++i) {
    const NodeResult result = fleet.healthy("n0");
    values.push_back(std::ranges::find(result.figures, "device memory", &CheckedFigure::what)->measured_value);
    add_to_history(file, std::vector{result});
  }
  std::ranges::sort(values);
  const EarlierFigure earlier = read_history(file).earlier("n0 cuda:0", "device memory");
  EXPECT_EQ(earlier.checks, 5u);
  EXPECT_DOUBLE_EQ(earlier.median, values[2]);
}

TEST_F(HistoryFile, of_a_thousand_gpus_stays_below_10_mb_however_old) {
  PlantedFleet fleet(1);
  History history;
  for (unsigned day = 0; day < 40; ++day)
    for (const NodeResult& result : fleet.healthy_fleet(100)) history.add(result);
  EXPECT_LT(history.to_json().dump().size() * 10, 10e6);
}

TEST_F(HistoryFile, loses_nothing_when_processes_add_at_the_same_time) {
  constexpr int processes = 8;
  constexpr int checks = 4;
  for (int i = 0; i < processes; ++i)
    if (fork() == 0) {
      for (int k = 0; k < checks; ++k) {
        NodeResult result = with(1 + k);
        result.node = "n" + std::to_string(i);
        add_to_history(file, std::vector{result});
      }
      _exit(0);
    }
  for (int i = 0; i < processes; ++i) {
    int status = 0;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  const History history = read_history(file);
  for (int i = 0; i < processes; ++i)
    EXPECT_EQ(history.earlier("n" + std::to_string(i) + " cuda:0", "x").checks, static_cast<std::size_t>(checks));
}

NodeResult of(const std::string& node, std::size_t figures, std::size_t length_of_names = 1) {
  NodeResult result{.node = node, .gpu = "cuda:0", .figures = {}};
  for (std::size_t i = 0; i < figures; ++i)
    result.figures.push_back({.what = std::to_string(i) + std::string(length_of_names, 'x'),
                              .measured = "",
                              .limit = "",
                              .measured_value = 12345.678901234567 + static_cast<double>(i),
                              .causes = {}});
  return result;
}

TEST(History, that_is_too_long_loses_the_gpus_that_are_gone_longest) {
  History history;
  for (const char* node : {"a", "b", "c"}) {
    history.begin_update();
    history.add(of(node, 10));
    history.add(of("always", 10));
  }
  const std::size_t all = history.to_json().dump().size();
  history.shorten_to(all + 1);
  EXPECT_EQ(history.earlier("a cuda:0", "0x").checks, 1u) << "it fits";
  history.shorten_to(all - 100);
  EXPECT_LE(history.to_json().dump().size(), all - 100);
  EXPECT_EQ(history.earlier("a cuda:0", "0x").checks, 0u);
  for (const char* kept : {"b cuda:0", "c cuda:0", "always cuda:0"})
    EXPECT_GT(history.earlier(kept, "0x").checks, 0u) << kept;
  history.shorten_to(1);
  EXPECT_EQ(history.earlier("b cuda:0", "0x").checks, 0u);
  EXPECT_EQ(history.earlier("c cuda:0", "0x").checks, 1u) << "it was there in the last check";
}

TEST(History, of_very_many_gpus_keeps_what_a_judgement_needs) {
  History history;
  for (int check = 0; check < 40; ++check) {
    history.begin_update();
    history.add(of("n", 10));
  }
  const std::size_t all = history.to_json().dump().size();
  const double before = history.earlier("n cuda:0", "0x").median;
  history.shorten_to(all / 4);
  EXPECT_LE(history.to_json().dump().size(), all / 4);
  const EarlierFigure earlier = history.earlier("n cuda:0", "0x", 5);
  EXPECT_GE(earlier.checks, 5u);
  EXPECT_NEAR(earlier.median, before, 1e-4 * before);
}

TEST_F(HistoryFile, stays_one_that_is_read_however_many_gpus_come_and_go) {
  // Long names make the file long with few checks.
  constexpr std::size_t name = limits::document_bytes * 6 / 10;
  for (const char* node : {"n0", "n1"}) add_to_history(file, std::vector{of(node, 1, name)});
  EXPECT_LE(fs::file_size(file), limits::document_bytes);
  const std::string what = "0" + std::string(name, 'x');
  const History history = read_history(file);
  EXPECT_EQ(history.earlier("n1 cuda:0", what).checks, 1u);
  EXPECT_EQ(history.earlier("n0 cuda:0", what).checks, 0u);
}

TEST_F(HistoryFile, of_an_earlier_version_is_read) {
  std::ofstream(file) << R"({"schema": "shiplap/fleet-history", "version": 1,
                             "gpus": {"n cuda:0": {"x": {"first": [7], "last": []}}}})";
  add_to_history(file, std::vector{with(7)});
  EXPECT_EQ(read_history(file).earlier("n cuda:0", "x").checks, 2u);
}

TEST_F(HistoryFile, that_is_no_history_is_refused_and_kept) {
  std::ofstream(file) << R"({"schema": "shiplap/profile", "version": 1})";
  EXPECT_NE(message_of([&] { add_to_history(file, std::vector{with(1)}); }).find(file), std::string::npos);
  EXPECT_EQ(read_json_file(file).at("schema"), "shiplap/profile");
}

TEST(History, with_more_values_than_it_keeps_is_refused) {
  Json json = History().to_json();
  json["gpus"]["n cuda:0"]["x"] = {{"first", std::vector<double>(17, 1.0)}, {"last", Json::array()}};
  EXPECT_NE(message_of([&] { History::from_json(JsonReader(json, "h")); }).find("at most 16"), std::string::npos);
  json["gpus"]["n cuda:0"]["x"] = {{"first", {-1.0}}, {"last", Json::array()}};
  EXPECT_THROW(History::from_json(JsonReader(json, "h")), Error);
}

// A search for each GPU among all others would take minutes.
TEST(History, of_a_large_cluster_is_written_and_read_in_time_proportional_to_its_size) {
  History history;
  constexpr int nodes = 40'000;
  for (int i = 0; i < nodes; ++i) {
    NodeResult result = with(i + 1);
    result.node = "n" + std::to_string(i);
    history.add(result);
  }
  const auto start = std::chrono::steady_clock::now();
  const std::string text = history.to_json().dump();
  const Json json = parse_json(text, "h");
  const History again = History::from_json(JsonReader(json, "h"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_EQ(again.earlier("n39999 cuda:0", "x").median, 40'000);
}

}  // namespace
}  // namespace shiplap
