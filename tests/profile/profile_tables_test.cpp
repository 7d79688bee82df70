// The tables of a profile beyond the link: host threads, pageable and managed memory, copies between and inside GPUs.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/profile/refusals.hpp"
#include "tests/support/intervals.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

// Two GPUs, and every table filled with figures of its own.
Profile full() {
  Profile p = planted_profile();
  p.missing.clear();
  p.gpus[0].copy_bandwidth = gbs(2000, 1900, 2100);
  p.gpus.push_back(p.gpus[0]);
  p.gpus[1].copy_bandwidth = gbs(1234);
  p.links[0].pageable = PageableModel{
      .h2d = {{4_KiB, us(3, 2, 4)}, {1_MiB, us(80)}}, .d2h = {{8_KiB, us(9)}}, .both = {{16_KiB, us(17)}}};
  p.links[0].managed = ManagedModel{.prefetch_h2d = {{64_KiB, us(71)}},
                                    .prefetch_d2h = {{128_KiB, us(82)}},
                                    .demand_h2d = {{256_KiB, us(44, 43, 46)}, {512_KiB, us(45)}},
                                    .demand_d2h = {{1, gbs(4)}, {4, gbs(9, 8, 10)}}};
  p.host = HostModel{.copy = {{1, gbs(10)}, {8, gbs(34, 33, 35)}},
                     .staging = {{1, 8_MiB, gbs(11)}, {8, 16_MiB, gbs(40, 39, 42)}, {8, 64_MiB, gbs(30)}},
                     .written = {{64_KiB, us(3)}, {256_KiB, us(14, 13, 16)}},
                     .calls = {{"pin", {{64_KiB, us(50)}, {64_MiB, us(2000, 1900, 2100)}}},
                               {"allocate driver-pinned", {{32_KiB, us(60)}}}}};
  p.peers = {{.from = 0, .to = 1, .direct = {{1_MiB, us(5)}}, .staged = {{1_MiB, us(90)}, {2_MiB, us(150)}}},
             {.from = 1, .to = 0, .direct = {{1_MiB, us(6)}}, .staged = {{1_MiB, us(95)}}}};
  p.measurements = {{.primitive = "copy.pinned.h2d",
                     .arguments = {{"bytes", 4096}},
                     .clock = "events",
                     .samples_us = {4.6},
                     .verified = true,
                     .held_by = "power cap, \"thermal\""},
                    {.primitive = "copy.pinned.d2h",
                     .arguments = {{"bytes", 4096}},
                     .clock = "events",
                     .samples_us = {4.7},
                     .verified = true}};
  return p;
}

void expect_same(const std::vector<TimeAt>& a, const std::vector<TimeAt>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].size, b[i].size);
    EXPECT_DOUBLE_EQ(a[i].time.value.count(), b[i].time.value.count());
    EXPECT_DOUBLE_EQ(a[i].time.low.count(), b[i].time.low.count());
    EXPECT_DOUBLE_EQ(a[i].time.high.count(), b[i].time.high.count());
  }
}
void expect_same(const Interval<Bandwidth>& a, const Interval<Bandwidth>& b) {
  EXPECT_DOUBLE_EQ(a.value.bytes_per_second, b.value.bytes_per_second);
  EXPECT_DOUBLE_EQ(a.low.bytes_per_second, b.low.bytes_per_second);
  EXPECT_DOUBLE_EQ(a.high.bytes_per_second, b.high.bytes_per_second);
}
void expect_same(const std::vector<RateOfThreads>& a, const std::vector<RateOfThreads>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].threads, b[i].threads);
    expect_same(a[i].rate, b[i].rate);
  }
}

Json& at(Json& json, const std::string& pointer) { return json[Json::json_pointer(pointer)]; }
void explain(Json& json, const std::string& parameter) {
  json["missing"].push_back({{"parameter", parameter}, {"reason", "left out by the test"}});
}
std::string refusal_with_explained(const std::string& pointer, const Json& value, const std::string& parameter) {
  Json json = to_json(full());
  at(json, pointer) = value;
  explain(json, parameter);
  return refusal(json);
}

void expect_complaint(const std::string& message, const std::string& key, const std::string& expectation) {
  expect_names(message, key + ":", expectation);
}

TEST(ProfileTables, reads_what_it_wrote) {
  const Profile written = full();
  const Json json = to_json(written);
  const Profile p = profile_from_json(json, "full.json");
  ASSERT_EQ(p.gpus.size(), 2u);
  for (std::size_t g = 0; g < 2; ++g) {
    ASSERT_TRUE(p.gpus[g].copy_bandwidth);
    expect_same(*p.gpus[g].copy_bandwidth, *written.gpus[g].copy_bandwidth);
  }
  ASSERT_TRUE(p.links[0].pageable);
  expect_same(p.links[0].pageable->h2d, written.links[0].pageable->h2d);
  expect_same(p.links[0].pageable->d2h, written.links[0].pageable->d2h);
  expect_same(p.links[0].pageable->both, written.links[0].pageable->both);
  ASSERT_TRUE(p.links[0].managed);
  expect_same(p.links[0].managed->prefetch_h2d, written.links[0].managed->prefetch_h2d);
  expect_same(p.links[0].managed->prefetch_d2h, written.links[0].managed->prefetch_d2h);
  expect_same(p.links[0].managed->demand_h2d, written.links[0].managed->demand_h2d);
  expect_same(p.links[0].managed->demand_d2h, written.links[0].managed->demand_d2h);
  ASSERT_TRUE(p.host);
  expect_same(p.host->copy, written.host->copy);
  ASSERT_EQ(written.host->written.size(), 2u);
  EXPECT_DOUBLE_EQ(in_microseconds(written.host->written[1].gap.high), 16);
  ASSERT_EQ(written.host->staging.size(), p.host->staging.size());
  for (std::size_t i = 0; i < p.host->staging.size(); ++i) {
    EXPECT_EQ(written.host->staging[i].threads, p.host->staging[i].threads);
    EXPECT_EQ(written.host->staging[i].rings, p.host->staging[i].rings);
    EXPECT_DOUBLE_EQ(written.host->staging[i].rate.low.bytes_per_second, p.host->staging[i].rate.low.bytes_per_second);
  }
  ASSERT_EQ(p.host->calls.size(), 2u);
  for (const char* name : {"pin", "allocate driver-pinned"})
    expect_same(p.host->calls.at(name), written.host->calls.at(name));
  ASSERT_EQ(p.peers.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(p.peers[i].from, written.peers[i].from);
    EXPECT_EQ(p.peers[i].to, written.peers[i].to);
    expect_same(p.peers[i].direct, written.peers[i].direct);
    expect_same(p.peers[i].staged, written.peers[i].staged);
  }
  ASSERT_EQ(p.measurements.size(), 2u);
  EXPECT_EQ(p.measurements[0].held_by, "power cap, \"thermal\"");
  EXPECT_EQ(p.measurements[1].held_by, "");
  EXPECT_EQ(to_json(p), json);
}

void expect_same(const std::vector<GapAt>& a, const std::vector<GapAt>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].size, b[i].size);
    EXPECT_DOUBLE_EQ(a[i].gap.value.count(), b[i].gap.value.count());
    EXPECT_DOUBLE_EQ(a[i].gap.low.count(), b[i].gap.low.count());
    EXPECT_DOUBLE_EQ(a[i].gap.high.count(), b[i].gap.high.count());
  }
}

constexpr auto submission_in_one_call = {
    std::pair{"batched_copy", &SubmissionModel::batched_copy},
    {"graph_launch", &SubmissionModel::graph_launch},
    {"graph_op", &SubmissionModel::graph_op},
};

// With what copies in batches and graphs take, and a point that was visited twice.
Profile with_batches() {
  Profile p = full();
  p.links[0].h2d.batched = {{4_KiB, us(0.2, 0.1, 0.3)}, {1_MiB, us(0.4)}};
  p.links[0].d2h.batched = {{8_KiB, us(0.6, 0.5, 0.7)}};
  p.submission.batched_copy = us(0.16, 0.15, 0.18);
  p.submission.graph_launch = us(4.4, 4.2, 4.5);
  p.submission.graph_op = us(0.47);
  p.measurements[0].visits = 2;
  p.measurements[0].samples_us = {4.6, 4.7};
  return p;
}
Json changed(const std::string& pointer, const Json& value) {
  Json json = to_json(with_batches());
  at(json, pointer) = value;
  return json;
}

TEST(ProfileBatches, are_read_as_they_were_written) {
  const Profile written = with_batches();
  const Json json = to_json(written);
  const Profile p = profile_from_json(json, "batches.json");
  expect_same(p.links[0].h2d.batched, written.links[0].h2d.batched);
  expect_same(p.links[0].d2h.batched, written.links[0].d2h.batched);
  for (const auto& [name, member] : submission_in_one_call) {
    ASSERT_TRUE(p.submission.*member) << name;
    EXPECT_DOUBLE_EQ((p.submission.*member)->value.count(), (written.submission.*member)->value.count()) << name;
    EXPECT_DOUBLE_EQ((p.submission.*member)->low.count(), (written.submission.*member)->low.count()) << name;
    EXPECT_DOUBLE_EQ((p.submission.*member)->high.count(), (written.submission.*member)->high.count()) << name;
  }
  EXPECT_EQ(p.measurements[0].visits, 2u);
  EXPECT_EQ(p.measurements[1].visits, 1u);
  EXPECT_EQ(to_json(p), json);
}

TEST(ProfileBatches, may_be_absent_with_a_reason_only) {
  for (const char* direction : {"h2d", "d2h"}) {
    Json json = changed(std::string("/links/0/") + direction + "/batched", Json::array());
    const std::string parameter = std::string("links[0].") + direction + ".batched";
    expect_complaint(refusal(json), parameter, "\"missing\"");
    explain(json, parameter);
    EXPECT_EQ(refusal(json), "");
    EXPECT_TRUE((direction == std::string("h2d") ? profile_from_json(json, "").links[0].h2d
                                                 : profile_from_json(json, "").links[0].d2h)
                    .batched.empty());
  }
  for (const auto& [name, member] : submission_in_one_call) {
    Json json = changed(std::string("/submission/") + name, nullptr);
    const std::string parameter = std::string("submission.") + name;
    expect_complaint(refusal(json), parameter, "\"missing\"");
    explain(json, parameter);
    EXPECT_EQ(refusal(json), "");
    EXPECT_FALSE(profile_from_json(json, "").submission.*member) << name;
  }
}

TEST(ProfileBatches, are_refused_where_their_keys_are_missing_or_their_rows_do_not_increase) {
  for (const auto& [parent, key, name] : {std::tuple{"/links/0/h2d", "batched", "links[0].h2d.batched"},
                                          {"/submission", "graph_op", "submission.graph_op"},
                                          {"/measurements/0", "visits", "measurements[0].visits"}}) {
    Json json = to_json(with_batches());
    at(json, parent).erase(key);
    expect_complaint(refusal(json), name, "missing");
  }
  expect_complaint(refusal(changed("/links/0/h2d/batched/1/size", 4096)), "links[0].h2d.batched[1]",
                   "larger than the row before it");
  expect_complaint(refusal(changed("/links/0/h2d/batched/0/gap/value", -1)), "links[0].h2d.batched[0].gap.value",
                   ">= 0");
}

TEST(ProfileBatches, have_another_hash_when_any_of_them_differs) {
  const std::string hash = parameter_hash(with_batches());
  const std::function<void(Profile&)> changes[] = {
      [](Profile& p) { p.links[0].h2d.batched[1].gap = us(0.5); },
      [](Profile& p) { p.links[0].d2h.batched.clear(); },
      [](Profile& p) { p.submission.batched_copy = us(0.17); },
      [](Profile& p) { p.submission.graph_launch = us(4.5); },
      [](Profile& p) { p.submission.graph_op.reset(); },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    Profile p = with_batches();
    changes[i](p);
    EXPECT_NE(parameter_hash(p), hash) << "change " << i;
  }
}

TEST(MeasurementVisits, are_one_or_two) {
  for (const int visits : {0, 3})
    expect_complaint(refusal(changed("/measurements/0/visits", visits)), "measurements[0].visits",
                     "a whole number from 1");
  for (const Json& visits : {Json(-1), Json(1.5), Json("2")})
    expect_complaint(refusal(changed("/measurements/0/visits", visits)), "measurements[0].visits",
                     "expected a whole number");
  for (const int visits : {1, 2}) EXPECT_EQ(refusal(changed("/measurements/0/visits", visits)), "");
}

TEST(ProfileTables, says_nothing_about_clocks_that_nothing_held_down) {
  const Json json = to_json(full());
  EXPECT_TRUE(json["measurements"][0].contains("held_by"));
  EXPECT_FALSE(json["measurements"][1].contains("held_by"));
  expect_complaint(refusal_with(full(), "/measurements/0/held_by", ""), "measurements[0].held_by",
                   "a text that is not empty");
  expect_complaint(refusal_with(full(), "/measurements/0/held_by", 3), "measurements[0].held_by", "a text");
}

TEST(ProfileTables, requires_all_keys) {
  expect_complaint(refusal_without(full(), "", "peers"), "peers", "missing");
  expect_complaint(refusal_without(full(), "", "host"), "host", "missing");
  expect_complaint(refusal_without(full(), "/gpus/1", "copy_bandwidth"), "gpus[1].copy_bandwidth", "missing");
  expect_complaint(refusal_without(full(), "/links/0", "pageable"), "links[0].pageable", "missing");
  expect_complaint(refusal_without(full(), "/links/0", "managed"), "links[0].managed", "missing");
  expect_complaint(refusal_without(full(), "/links/0/pageable", "both"), "links[0].pageable.both", "missing");
  expect_complaint(refusal_without(full(), "/links/0/managed", "demand_d2h"), "links[0].managed.demand_d2h", "missing");
  expect_complaint(refusal_without(full(), "/host", "copy"), "host.copy", "missing");
  expect_complaint(refusal_without(full(), "/host", "calls"), "host.calls", "missing");
  expect_complaint(refusal_without(full(), "/peers/0", "staged"), "peers[0].staged", "missing");
}

TEST(ProfileTables, refuses_keys_that_it_does_not_know) {
  for (const char* parent : {"/links/0/pageable", "/links/0/managed", "/links/0/pageable/h2d/0",
                             "/links/0/managed/demand_d2h/0", "/host", "/host/copy/0", "/peers/0"}) {
    Json json = to_json(full());
    at(json, parent)["threds"] = 1;
    EXPECT_NE(refusal(json).find("threds"), std::string::npos) << parent;
  }
}

TEST(ProfileTables, takes_what_is_absent_only_with_a_reason) {
  struct Hole {
    const char* pointer;
    Json nothing;
    const char* parameter;
  };
  const Hole holes[] = {{"/gpus/1/copy_bandwidth", nullptr, "gpus[1].copy_bandwidth"},
                        {"/links/0/pageable", nullptr, "links[0].pageable"},
                        {"/links/0/managed", nullptr, "links[0].managed"},
                        {"/host", nullptr, "host"},
                        {"/links/0/pageable/both", Json::array(), "links[0].pageable.both"},
                        {"/links/0/managed/demand_d2h", Json::array(), "links[0].managed.demand_d2h"},
                        {"/host/copy", Json::array(), "host.copy"},
                        {"/peers/0/direct", Json::array(), "peers[0].direct"}};
  for (const Hole& hole : holes) {
    expect_complaint(refusal_with(full(), hole.pointer, hole.nothing), hole.parameter, "\"missing\"");
    EXPECT_EQ(refusal_with_explained(hole.pointer, hole.nothing, hole.parameter), "");
    // And no reason for what is there.
    Json json = to_json(full());
    explain(json, hole.parameter);
    expect_complaint(refusal(json), hole.parameter, "nothing here");
  }
}

TEST(ProfileTables, of_one_gpu_needs_no_peers_and_no_reason) {
  Json json = to_json(full());
  json["peers"] = Json::array();
  EXPECT_EQ(refusal(json), "");
}

TEST(ProfileTables, refuses_no_threads_and_rows_that_do_not_increase) {
  expect_complaint(refusal_with(full(), "/host/copy/0/threads", 0), "host.copy[0].threads", "a whole number from 1");
  expect_complaint(refusal_with(full(), "/host/copy/1/threads", 1), "host.copy[1]", "larger than the row before it");
  expect_complaint(refusal_with(full(), "/host/staging/0/threads", 0), "host.staging[0].threads",
                   "a whole number from 1");
  expect_complaint(refusal_with(full(), "/host/staging/2/rings", 1 << 20), "host.staging[2]",
                   "larger than the row before it");
  expect_complaint(refusal_with(full(), "/host/staging/2/threads", 4), "host.staging[2]",
                   "larger than the row before it");
  expect_complaint(refusal_with(full(), "/links/0/managed/demand_d2h/0/threads", 0),
                   "links[0].managed.demand_d2h[0].threads", "a whole number from 1");
  expect_complaint(refusal_with(full(), "/links/0/managed/demand_d2h/0/threads", 4), "links[0].managed.demand_d2h[1]",
                   "larger than the row before it");
  expect_complaint(refusal_with(full(), "/links/0/pageable/h2d/1/size", 4096), "links[0].pageable.h2d[1]",
                   "larger than the row before it");
  expect_complaint(refusal_with(full(), "/links/0/managed/demand_h2d/1/size", 1), "links[0].managed.demand_h2d[1]",
                   "larger than the row before it");
  expect_complaint(refusal_with(full(), "/host/calls/pin/1/size", 65536), "host.calls.pin[1]",
                   "larger than the row before it");
  expect_complaint(refusal_with(full(), "/peers/0/staged/1/size", 1048576), "peers[0].staged[1]",
                   "larger than the row before it");
  expect_complaint(refusal_with(full(), "/links/0/pageable/d2h/0/size", 0), "links[0].pageable.d2h[0].size",
                   "a whole number from 1");
}

TEST(ProfileTables, refuses_times_and_rates_that_cannot_be) {
  expect_complaint(refusal_with(full(), "/links/0/pageable/h2d/0/time/value", -1),
                   "links[0].pageable.h2d[0].time.value", ">= 0");
  expect_complaint(refusal_with(full(), "/links/0/pageable/h2d/0/time/low", 3.5), "links[0].pageable.h2d[0].time.low",
                   "not above \"value\"");
  expect_complaint(refusal_with(full(), "/links/0/pageable/h2d/0/time/unit", "ms"),
                   "links[0].pageable.h2d[0].time.unit", "us");
  expect_complaint(refusal_with(full(), "/host/copy/0/rate/value", 0), "host.copy[0].rate.value", "> 0");
  expect_complaint(refusal_with(full(), "/gpus/0/copy_bandwidth/value", 0), "gpus[0].copy_bandwidth.value", "> 0");
}

TEST(ProfileTables, refuses_peers_that_are_not_two_gpus_of_the_node) {
  expect_complaint(refusal_with(full(), "/peers/0/to", 0), "peers[0].to", "another GPU than \"from\"");
  expect_complaint(refusal_with(full(), "/peers/0/to", 2), "peers[0].to", "one of the 2 entries of \"gpus\"");
  expect_complaint(refusal_with(full(), "/peers/1/from", 7), "peers[1].from", "one of the 2 entries of \"gpus\"");
  expect_complaint(refusal_with(full(), "/peers/1/from", -1), "peers[1].from", "");
}

TEST(ProfileTables, refuses_two_entries_for_one_pair_of_peers) {
  Json json = to_json(full());
  json["peers"][1] = json["peers"][0];
  expect_complaint(refusal(json), "peers[1]", "peers[0]");
}

TEST(ProfileTables, has_another_hash_when_any_new_parameter_differs) {
  const std::string hash = parameter_hash(full());
  const std::function<void(Profile&)> changes[] = {
      [](Profile& p) { p.gpus[1].copy_bandwidth = gbs(1235); },
      [](Profile& p) { p.links[0].pageable->both[0].time = us(18); },
      [](Profile& p) { p.links[0].managed->demand_d2h[0].threads = 2; },
      [](Profile& p) { p.links[0].managed->prefetch_d2h.clear(); },
      [](Profile& p) { p.host->copy[1].rate = gbs(35); },
      [](Profile& p) { p.host->staging[1].rings = 17_MiB; },
      [](Profile& p) { p.host->staging.pop_back(); },
      [](Profile& p) { p.host->written[0].gap = us(4); },
      [](Profile& p) {
        p.host->calls["unpin"] = {{64_KiB, us(1)}};
      },
      [](Profile& p) { p.peers[0].direct.clear(); },
      [](Profile& p) { p.peers.pop_back(); },
      [](Profile& p) { p.host.reset(); },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    Profile p = full();
    changes[i](p);
    EXPECT_NE(parameter_hash(p), hash) << "change " << i;
  }
  Profile p = full();
  p.measurements[0].held_by = "";
  EXPECT_EQ(parameter_hash(p), hash);
}

}  // namespace
}  // namespace shiplap
