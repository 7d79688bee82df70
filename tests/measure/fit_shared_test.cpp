// What two real GPUs reach together, from what was measured of them, and plans that use it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/measure/fit.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

const std::string folder = SHIPLAP_SOURCE_DIR "/results/h200-x2/";

/// The rows "all.…" of the committed table, each with its median as the only sample.
std::vector<Measurement> measured_together() {
  std::vector<Measurement> all;
  std::istringstream rows(read_text_file(folder + "measure.csv"));
  for (std::string row; std::getline(rows, row);) {
    if (!row.starts_with("all.")) continue;
    std::vector<std::string> cells;
    std::istringstream line(row);
    for (std::string cell; std::getline(line, cell, ',');) cells.push_back(cell);
    Measurement measurement{
        .primitive = cells.at(0), .arguments = {}, .clock = "events", .samples_us = {}, .verified = true};
    std::istringstream arguments(cells.at(1));
    for (std::string one; arguments >> one;)
      measurement.arguments[one.substr(0, one.find('='))] = std::stod(one.substr(one.find('=') + 1));
    measurement.samples_us.assign(5, std::stod(cells.at(5)));
    all.push_back(std::move(measurement));
  }
  return all;
}

Profile two_h200() {
  Profile profile = with_gpus(load_profile(folder + "profile.json"), 2);
  const std::vector<Measurement> measurements = measured_together();
  profile.shared = fit_shared(Observations(measurements), profile.link(0), 2);
  return profile;
}

/// The observed time of a comparison in the committed runs, in milliseconds.
double observed_ms(const std::string& name) {
  const Json run = read_json_file(folder + "two_gpus.json");
  for (const Json& one : run.at("comparisons"))
    if (one["name"] == name) return one["shiplap_ms"];
  throw Error(name + " was not run");
}

TEST(FitShared, finds_that_two_h200_reach_their_links_in_one_direction_and_the_host_in_both) {
  const Profile two = two_h200();
  ASSERT_EQ(two.shared.size(), 1u);
  // Six copies of 64 MiB more for each GPU and direction: 12 in 7283 and 7292 µs, 24 in 10454 µs.
  EXPECT_GT(two.shared[0].h2d.value.bytes_per_second, 110e9);
  EXPECT_GT(two.shared[0].d2h.value.bytes_per_second, 110e9);
  EXPECT_NEAR(two.shared[0].both.value.bytes_per_second, 24 * 64 * 1048576.0 / 10454e-6, 0.1e9);
}

/// Measurements of four GPUs with these links in GB/s in each direction, which share nothing.
std::vector<Measurement> measured_of(const std::vector<double>& links) {
  std::vector<Measurement> all;
  const auto add = [&](const char* primitive, std::map<std::string, double> arguments, double slowest, double ways) {
    for (const double copies : {2.0, 8.0}) {
      arguments["copies"] = copies;
      arguments["bytes"] = 64 * 1048576.0;
      const double us = 5 + copies * arguments["bytes"] / (slowest * 1e3) * (ways > 1 ? 1.08 : 1);
      all.push_back({.primitive = primitive,
                     .arguments = arguments,
                     .clock = "events",
                     .samples_us = std::vector<double>(5, us),
                     .verified = true});
    }
  };
  for (const auto& [primitive, ways] :
       {std::pair{"all.h2d", 1.0}, std::pair{"all.d2h", 1.0}, std::pair{"all.both", 2.0}}) {
    add(primitive, {{"gpus", 4}}, std::ranges::min(links), ways);
    for (unsigned first = 0; first < links.size(); ++first)
      for (unsigned second = first + 1; second < links.size(); ++second)
        add(primitive, {{"gpus", 2}, {"first", double(first)}, {"second", double(second)}},
            std::min(links[first], links[second]), ways);
  }
  return all;
}

TEST(FitShared, takes_a_gpu_with_a_slower_link_for_nothing_that_the_others_share) {
  const LinkModel link = planted_profile().links.front();
  for (const auto& links : {std::vector{55.0, 55.0, 55.0, 55.0}, std::vector{55.0, 55.0, 55.0, 27.0}}) {
    const std::vector<Measurement> measurements = measured_of(links);
    const std::vector<SharedRates> shared = fit_shared(Observations(measurements), link, 4);
    ASSERT_EQ(shared.size(), 1u);
    EXPECT_EQ(shared[0].gpus.size(), 4u);
    EXPECT_NEAR(shared[0].h2d.value.bytes_per_second, 4 * 55e9, 1e9);
  }
}

TEST(FitShared, predicts_jobs_over_two_gpus_that_were_run_long_before) {
  const Profile two = two_h200();
  const auto predicted_ms = [&](const Profile& profile, Bytes out) {
    const Job job = in_out_job(2_GiB, out, microseconds(900), (2_GiB).count / 64);
    return in_milliseconds(plan(node_of(profile), job, {.space = {.gpus = 2}}).chosen.predicted.value);
  };
  const double to_gpus = observed_ms("to the GPUs, one against all");
  EXPECT_NEAR(predicted_ms(two, 2_GiB / 64) / to_gpus, 1, 0.03);
  const double both = observed_ms("both ways, one against all");
  EXPECT_NEAR(predicted_ms(two, 2_GiB) / both, 1, 0.08);
  RecordProperty("predicted over observed", std::to_string(predicted_ms(two, 2_GiB) / both));
  Profile unknown = two;
  unknown.shared.clear();
  EXPECT_LT(predicted_ms(unknown, 2_GiB) / both, 0.75);  // as if each GPU had the host for itself
}

}  // namespace
}  // namespace shiplap
