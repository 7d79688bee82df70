// Numbers of each built-in profile at values that no node has: each is refused, or the profile plans and is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/jobs.hpp"

namespace shiplap {
namespace {

/// The "value" of each parameter below `json`.
void collect_values(const Json& json, const Json::json_pointer& at, std::vector<Json::json_pointer>& all) {
  if (json.is_object() && json.contains("unit") && json.contains("value")) return all.push_back(at);
  if (!json.is_structured()) return;
  for (const auto& [key, member] : json.items())
    collect_values(member, json.is_array() ? at / static_cast<std::size_t>(std::stoull(key)) : at / key, all);
}

/// Whether a profile was accepted. It then plans the job, or says why it cannot, and what is written has no null.
bool reads_plans_and_writes(const Json& json, const Job& job, const std::string& what) {
  Profile profile;
  try {
    profile = profile_from_json(json, "changed.json");
  } catch (const Error&) {
    return false;
  }
  try {
    const Ranking ranking = rank(job, profile, {.strategies = {"streams", "hybrid"}, .chunks = {3}, .ramps = {Ramp{}}});
    for (const Candidate& candidate : ranking.candidates)
      EXPECT_TRUE(std::isfinite(candidate.predicted.value.count())) << what;
    EXPECT_LT(to_json(ranking).dump().size(), 1u << 20) << what;
  } catch (const Error&) {
  }
  EXPECT_EQ(to_json(profile_from_json(to_json(profile), "written.json")), to_json(profile)) << what;
  return true;
}

class EveryNumber : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryNumber, at_an_extreme_is_refused_or_plans_in_little_time) {
  const std::string& name = GetParam();
  const Job job = in_out_job(1_MiB, 1_MiB, microseconds(20), 1 << 18);
  const auto begin = std::chrono::steady_clock::now();
  unsigned refused = 0;
  unsigned accepted = 0;
  Json json = to_json(find_profile(name));
  json["measurements"] = Json::array();
  std::vector<Json::json_pointer> values;
  for (const char* part : {"gpus", "links", "host", "submission"})
    collect_values(json[part], Json::json_pointer("/" + std::string(part)), values);
  const std::size_t step = values.size() / 50 + 1;  // each number of small profiles, every n-th of large ones
  for (std::size_t i = 0; i < values.size(); i += step) {
    const Json::json_pointer& at = values[i];
    const Json before = json[at];
    for (const double value : {0.0, 5e-324, 1e-300, 1e300}) {
      json[at] = {{"value", value}, {"unit", before["unit"]}};
      ++(reads_plans_and_writes(json, job, name + at.to_string()) ? accepted : refused);
    }
    json[at] = before;
  }
  EXPECT_TRUE(reads_plans_and_writes(json, job, name)) << name;
  EXPECT_GT(refused + accepted, 0u);
  constexpr unsigned some = 30;
  if (find_profile(name).origin == Origin::measured) {
    EXPECT_GT(refused, some);
    EXPECT_GT(accepted, some);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(4));
}

INSTANTIATE_TEST_SUITE_P(ProfileExtremes, EveryNumber, ::testing::ValuesIn(built_in_profiles()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(ProfileExtremes, a_rate_outside_the_physical_range_is_named_with_the_range) {
  for (const double value : {5e-324, 1e-290, 1e300}) {
    Json json = to_json(find_profile("h200"));
    json["/links/0/zero_copy/read/5/rate"_json_pointer] = {{"value", value}, {"unit", "GB/s"}};
    try {
      profile_from_json(json, "changed.json");
      ADD_FAILURE() << value << " was accepted";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("links[0].zero_copy.read[5].rate.value"), text.npos) << text;
      EXPECT_NE(text.find("a number from 1e-09 to 1e+09 (GB/s)"), text.npos) << text;
    }
  }
}

}  // namespace
}  // namespace shiplap
