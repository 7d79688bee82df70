#include "shiplap/profile/variation.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

constexpr double half_width = 0.25;  // half the width of every interval, as a share of its value

/// Calls `visit(path, interval)` for every object of the file that is an interval.
void for_each_interval(Json& json, const std::string& path,
                       const std::function<void(const std::string&, Json&)>& visit) {
  if (!json.is_structured()) return;
  if (json.is_object() && json.contains("value") && json.contains("unit")) return visit(path, json);
  for (auto& item : json.items()) for_each_interval(item.value(), path + "/" + item.key(), visit);
}

std::map<std::string, double> values_of(const Profile& profile) {
  Json json = to_json(profile);
  std::map<std::string, double> values;
  for_each_interval(
      json, "", [&](const std::string& path, Json& interval) { values[path] = interval.at("value").get<double>(); });
  return values;
}

/// The planted profile with an interval around every parameter, written by way of its file.
Profile uncertain_profile() {
  Profile profile = planted_profile();
  const auto times = [](double us) { return std::vector<TimeAt>{{1_MiB, Interval<Seconds>::exact(microseconds(us))}}; };
  const std::vector<RateOfThreads> rates{{2, Interval<Bandwidth>::exact(gigabytes_per_second(20))}};
  profile.gpus.push_back(profile.gpus[0]);
  profile.links[0].pageable = PageableModel{.h2d = times(90), .d2h = times(95), .both = times(180)};
  profile.links[0].managed =
      ManagedModel{.prefetch_h2d = times(40), .prefetch_d2h = times(50), .demand_h2d = times(200), .demand_d2h = rates};
  profile.links[0].h2d.batched = {{1_MiB, Interval<Seconds>::exact(microseconds(0.5))}};
  profile.peers = {{.from = 0, .to = 1, .direct = times(10), .staged = times(30)}};
  profile.host = HostModel{.copy = rates,
                           .staging = {{2, 1_MiB, Interval<Bandwidth>::exact(gigabytes_per_second(25))}},
                           .written = {{1_MiB, Interval<Seconds>::exact(microseconds(3))}},
                           .calls = {{"pin", times(100)}}};
  Json json = to_json(profile);
  for_each_interval(json, "", [](const std::string&, Json& interval) {
    const double value = interval.at("value").get<double>();
    interval["low"] = value * (1 - half_width);
    interval["high"] = value * (1 + half_width);
  });
  json["missing"] = Json::array();
  for (Json& link : json["links"])
    for (const char* way : {"h2d", "d2h"})
      if (link[way]["batched"].empty()) link[way]["batched"] = json["links"][0]["h2d"]["batched"];
  return profile_from_json(json, "test");
}

TEST(Moved, moves_every_parameter_of_a_simulation_in_one_group_and_to_its_fast_or_slow_end) {
  const Profile profile = uncertain_profile();
  const Json all = to_json(profile);
  const auto before = values_of(profile);
  std::map<std::string, int> groups_of;
  for (const ParameterGroup group : parameter_groups)
    for (const End end : {End::low, End::high}) {
      for (const auto& [path, value] : values_of(at_interval_end(profile, group, end))) {
        if (value == before.at(path)) continue;
        ++groups_of[path];
        const bool is_rate = all.at(Json::json_pointer(path)).at("unit") == "GB/s";
        const bool is_larger = (end == End::low) == is_rate;
        EXPECT_NEAR(value, before.at(path) * (is_larger ? 1 + half_width : 1 - half_width), 1e-6 * value) << path;
      }
    }
  const std::set<std::string> no_times{"resident_threads", "memory_bandwidth", "flop_rate", "compute", "memory"};
  for (const auto& [path, value] : before) {
    if (value == 0) continue;  // the interval of nothing is nothing
    const bool is_no_time = no_times.contains(path.substr(path.rfind('/') + 1));
    EXPECT_EQ(groups_of[path], is_no_time ? 0 : 2) << path;
  }
  EXPECT_GT(before.size(), 60u);
}

TEST(Slowed, makes_times_longer_and_rates_lower_and_shares_what_both_directions_have) {
  const Profile profile = uncertain_profile();
  const auto before = values_of(profile);
  const auto after = values_of(slowed(profile, CostTerm::h2d_rate, 4));
  for (const auto& [path, value] : before) {
    const bool of_h2d =
        path.find("/h2d/per_byte") != std::string::npos || path.find("/h2d/duplex/per_byte") != std::string::npos;
    const bool shared = path.find("waiting_streams/duplex/per_byte") != std::string::npos;
    EXPECT_NEAR(after.at(path), value * (of_h2d ? 4 : shared ? 2 : 1), 1e-9 * value) << path;
  }
  const auto host = values_of(slowed(profile, CostTerm::host, 2));
  EXPECT_NEAR(host.at("/host/copy/0/rate"), before.at("/host/copy/0/rate") / 2, 1e-9);
  EXPECT_NEAR(host.at("/links/0/pageable/h2d/0/time"), before.at("/links/0/pageable/h2d/0/time") * 2, 1e-9);
}

TEST(Freed, of_a_cause_leaves_nothing_of_its_times) {
  const Profile profile = uncertain_profile();
  EXPECT_EQ(without_cost(profile, Cause::submission).submission.copy->value, Seconds{0});
  EXPECT_EQ(without_cost(profile, Cause::latency).gpus[0].launch_latency->value, Seconds{0});
  EXPECT_EQ(without_cost(profile, Cause::gap).links[0].h2d.costs[0].gap.value, Seconds{0});
  EXPECT_EQ(without_cost(profile, Cause::gap).links[0].h2d.per_byte, profile.links[0].h2d.per_byte);
  const LinkModel alone = without_cost(profile, Cause::duplex_gap).links[0];
  for (const GapAt& gap : alone.h2d.duplex->gaps) EXPECT_LE(gap.gap.value, cost_at(alone.h2d, gap.size).gap);
  const Profile no_host = without_cost(profile, Cause::host);
  EXPECT_GT(no_host.host->copy[0].rate.value.bytes_per_second, 1e5 * profile.host->copy[0].rate.value.bytes_per_second);
  EXPECT_LT(no_host.links[0].pageable->h2d[0].time.value, profile.links[0].pageable->h2d[0].time.value);
}

TEST(CostTerm, has_a_name_where_it_is_a_quantity) {
  EXPECT_EQ(to_string(CostTerm::gaps), "gaps between ops (g)");
  for (const CostTerm term : {CostTerm::both_rates, CostTerm::none}) EXPECT_THROW(to_string(term), Error);
}

}  // namespace
}  // namespace shiplap
