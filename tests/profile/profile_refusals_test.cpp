// Profile files that are refused, and what the message names.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/profile/full_profile.hpp"
#include "tests/profile/refusals.hpp"

namespace shiplap {
namespace {

std::string refusal_of_text(const std::string& text) {
  try {
    profile_from_json(parse_json(text, "bad.json"), "bad.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return at == text.npos ? text : text.replace(at, what.size(), with);
}

TEST(ProfileJson, refuses_another_schema_and_another_version) {
  expect_names(refusal_with(planted_profile(), "/schema", "shiplap/job"), "schema", "shiplap/profile");
  expect_names(refusal_with(planted_profile(), "/version", 2), "version", "1");
  expect_names(refusal_without(planted_profile(), "", "version"), "version", "");
}

TEST(ProfileJson, refuses_a_missing_key) {
  expect_names(refusal_without(planted_profile(), "", "submission"), "submission", "missing");
  expect_names(refusal_without(planted_profile(), "/links/0/h2d", "costs"), "links[0].h2d.costs", "missing");
  expect_names(refusal_without(planted_profile(), "/gpus/0", "kernel_gap"), "gpus[0].kernel_gap", "missing");
  expect_names(refusal_without(planted_profile(), "/submission/copy", "unit"), "submission.copy.unit", "missing");
}

TEST(ProfileJson, refuses_a_misspelt_key_on_every_object) {
  for (const std::string parent : {"", "/gpus/0", "/gpus/0/launch_latency", "/links/0", "/links/0/d2h",
                                   "/links/0/d2h/costs/1", "/links/0/d2h/duplex", "/links/0/d2h/duplex/gaps/0",
                                   "/submission", "/missing/0", "/residuals/0", "/measurements/0"}) {
    Json json = to_json(full_profile());
    json[Json::json_pointer(parent)]["lantency"] = 1;
    expect_names(refusal(json), "lantency", "unknown key");
  }
}

TEST(ProfileJson, refuses_numbers_that_make_no_sense) {
  expect_names(refusal_with(planted_profile(), "/links/0/h2d/costs/0/gap/value", -1), "links[0].h2d.costs[0].gap.value",
               ">= 0");
  expect_names(refusal_with(planted_profile(), "/links/0/h2d/per_byte/value", 0), "links[0].h2d.per_byte.value", "> 0");
  expect_names(refusal_with(planted_profile(), "/gpus/0/memory_bandwidth/value", 0), "gpus[0].memory_bandwidth.value",
               "> 0");
  expect_names(refusal_with(planted_profile(), "/gpus/0/memory_bandwidth/value", -4300),
               "gpus[0].memory_bandwidth.value", "> 0");
  expect_names(refusal_with(planted_profile(), "/gpus/0/flop_rate/value", 1e308), "gpus[0].flop_rate.value",
               "a number from ");
  expect_names(refusal_with(planted_profile(), "/links/0/h2d/per_byte/value", 1e-320), "links[0].h2d.per_byte.value",
               "a number from ");
  expect_names(refusal_with(planted_profile(), "/submission/copy/value", std::numeric_limits<double>::quiet_NaN()),
               "submission.copy.value", "finite");
  expect_names(refusal_with(planted_profile(), "/submission/copy/value", "NaN"), "submission.copy.value", "finite");
  expect_names(refusal_with(planted_profile(), "/submission/copy/value", "1.9"), "submission.copy.value", "finite");
  expect_names(refusal_with(planted_profile(), "/gpus/0/memory", 1.5), "gpus[0].memory", "whole number");
  expect_names(refusal_with(planted_profile(), "/gpus/0/memory", 0), "gpus[0].memory", "from 1");
  expect_names(refusal_with(planted_profile(), "/gpus/0/copy_engines", 3), "gpus[0].copy_engines", "from 1 to 2");
  expect_names(refusal_with(planted_profile(), "/links/0/numa_node", 65536), "links[0].numa_node", "65535");
}

TEST(ProfileJson, refuses_a_number_too_large_for_a_double) {
  const std::string text = to_json(planted_profile()).dump(2);
  const std::string message = refusal_of_text(replaced(text, "\"value\": 2.3", "\"value\": 1e999"));
  expect_names(message, "1e999", "line");
}

TEST(ProfileJson, refuses_nan_as_a_word) {
  const std::string text = to_json(planted_profile()).dump(2);
  expect_names(refusal_of_text(replaced(text, "\"value\": 2.3", "\"value\": NaN")), "line", "not valid JSON");
}

TEST(ProfileJson, refuses_truncated_text_and_names_the_place) {
  const std::string text = to_json(planted_profile()).dump(2);
  for (const std::size_t kept : {std::size_t{0}, text.size() / 3, text.size() - 1})
    expect_names(refusal_of_text(text.substr(0, kept)), "line", "column");
}

TEST(ProfileJson, refuses_another_unit) {
  expect_names(refusal_with(planted_profile(), "/links/0/h2d/per_byte/unit", "ms/byte"), "links[0].h2d.per_byte.unit",
               "ns/byte");
  expect_names(refusal_with(planted_profile(), "/submission/launch/unit", "ms"), "submission.launch.unit", "\"us\"");
}

TEST(ProfileJson, refuses_limits_that_do_not_enclose_the_value) {
  expect_names(refusal_with(planted_profile(), "/submission/copy/low", 2), "submission.copy.low", "not above");
  expect_names(refusal_with(planted_profile(), "/submission/copy/high", 1.8), "submission.copy.high", "not below");
  expect_names(refusal_with(planted_profile(), "/submission/copy/low", nullptr), "submission.copy.low", "finite");
  expect_names(refusal_with(planted_profile(), "/submission/copy/low", -1), "submission.copy.low", ">= 0");
}

TEST(ProfileJson, refuses_sizes_that_do_not_increase) {
  expect_names(refusal_with(planted_profile(), "/links/0/h2d/costs/2/size", 65536), "links[0].h2d.costs[2]",
               "larger than the row before it");
  expect_names(refusal_with(planted_profile(), "/links/0/d2h/duplex/gaps/1/size", 1), "links[0].d2h.duplex.gaps[1]",
               "larger than the row before it");
  expect_names(refusal_with(planted_profile(), "/links/0/h2d/costs/0/size", 0), "links[0].h2d.costs[0].size", "from 1");
}

TEST(ProfileJson, refuses_an_unknown_word) {
  expect_names(refusal_with(planted_profile(), "/origin", "guessed"), "origin",
               "measured, simulated, imported, published, derived, assumed, planted");
  expect_names(refusal_with(planted_profile(), "/gpus/0/implicit_sync", "yes"), "gpus[0].implicit_sync",
               "until_started");
  expect_names(refusal_with(planted_profile(), "/gpus/0/engine_order", "fifo"), "gpus[0].engine_order",
               "submission, readiness");
  Json json = to_json(full_profile());
  json["/measurements/0/clock"_json_pointer] = "wall";
  expect_names(refusal(json), "measurements[0].clock", "events, host");
}

TEST(ProfileJson, refuses_the_wrong_kind_of_value) {
  expect_names(refusal(Json::array()), "", "object");
  expect_names(refusal_with(planted_profile(), "/links", Json::object()), "links", "array");
  expect_names(refusal_with(planted_profile(), "/conditions", Json::array()), "conditions", "object");
  expect_names(refusal_with(planted_profile(), "/conditions/driver", 580), "conditions.driver", "text");
  expect_names(refusal_with(planted_profile(), "/gpus/0/concurrent_kernels", 1), "gpus[0].concurrent_kernels",
               "true or false");
  expect_names(refusal_with(planted_profile(), "/name", ""), "name", "not empty");
}

TEST(ProfileJson, refuses_empty_lists_where_one_entry_is_needed) {
  expect_names(refusal_with(planted_profile(), "/gpus", Json::array()), "gpus", "at least one");
  expect_names(refusal_with(planted_profile(), "/links/0/h2d/costs", Json::array()), "links[0].h2d.costs",
               "at least one");
  Json json = to_json(full_profile());
  json["/measurements/0/samples_us"_json_pointer] = Json::array();
  expect_names(refusal(json), "measurements[0].samples_us", "1 or more");
}

TEST(ProfileJson, refuses_links_that_lead_nowhere_or_stand_twice) {
  expect_names(refusal_with(planted_profile(), "/links/0/gpu", 1), "links[0].gpu", "1 entries");
  Json json = to_json(planted_profile());
  const Json link = json["links"][0];
  json["links"].push_back(link);
  expect_names(refusal(json), "links[1]", "links[0]");
}

TEST(ProfileJson, refuses_shared_rates_of_one_gpu_of_others_than_there_are_and_in_another_order) {
  Profile two = with_gpus(planted_profile(), 2);
  const auto rate = Interval<Bandwidth>::exact(gigabytes_per_second(60));
  two.shared = {{.gpus = {0, 1}, .h2d = rate, .d2h = rate, .both = rate}};
  EXPECT_EQ(refusal(to_json(two)), "");
  for (const Json& gpus : {Json{0}, Json{0, 2}, Json{1, 0}, Json{0, 0}, Json::array()})
    expect_names(refusal_with(two, "/shared/0/gpus", gpus), "shared[0].gpus", "2 entries");
  expect_names(refusal_with(two, "/shared/0/gpus", Json{0, "1"}), "shared[0].gpus[1]", "");
}

TEST(ProfileJson, refuses_an_absent_parameter_without_a_reason) {
  for (const std::string path : {"gpus[0].launch_latency", "submission.event_wait", "links[0].d2h.duplex"}) {
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    std::replace(pointer.begin(), pointer.end(), '[', '/');
    pointer.erase(std::remove(pointer.begin(), pointer.end(), ']'), pointer.end());
    Json json = to_json(planted_profile());
    json[Json::json_pointer(pointer)] = nullptr;
    expect_names(refusal(json), path, "\"missing\"");
    json["missing"].push_back({{"parameter", path}, {"reason", "the test took it out"}});
    EXPECT_EQ(refusal(json), "") << path;
  }
  expect_names(refusal_with(planted_profile(), "/links", Json::array()), "links", "\"missing\"");
  expect_names(refusal_with(planted_profile(), "/links/0/h2d/duplex/gaps", Json::array()), "links[0].h2d.duplex.gaps",
               "\"missing\"");
  expect_names(refusal_with(planted_profile(), "/links/0/h2d/per_byte", nullptr), "links[0].h2d.per_byte", "object");
}

TEST(ProfileJson, takes_an_entry_for_an_object_as_the_reason_of_all_that_is_absent_in_it) {
  Json json = to_json(planted_profile());
  json["gpus"][0].erase("flop_rate");
  json["gpus"][0]["copy_bandwidth"] = nullptr;
  json["links"][0]["h2d"]["duplex"].erase("gaps");
  EXPECT_NE(refusal(json), "");
  json["missing"].push_back({{"parameter", "gpus[0]"}, {"reason", "not published"}});
  expect_names(refusal(json), "links[0].h2d.duplex.gaps", "missing");
  json["missing"].push_back({{"parameter", "links[0].h2d"}, {"reason", "not published"}});
  EXPECT_EQ(refusal(json), "");
  const Profile loaded = profile_from_json(json, "f.json");
  EXPECT_FALSE(loaded.gpus[0].flop_rate);
  EXPECT_FALSE(loaded.gpus[0].copy_bandwidth);
  EXPECT_TRUE(loaded.gpus[0].memory_bandwidth);
  EXPECT_TRUE(loaded.links[0].h2d.duplex->gaps.empty());
  // What must not be absent is required still.
  json["gpus"][0].erase("memory");
  expect_names(refusal(json), "gpus[0].memory", "missing");
}

TEST(ProfileJson, refuses_a_value_that_is_said_to_be_missing) {
  Json json = to_json(planted_profile());
  json["missing"].push_back({{"parameter", "submission.copy"}, {"reason", "not so"}});
  expect_names(refusal(json), "submission.copy", "\"missing\"");
}
TEST(ProfileJson, refuses_more_explanations_of_what_is_missing_than_anybody_reads) {
  const Json one{{"parameter", "x"}, {"reason", "y"}};
  EXPECT_EQ(refusal_with(planted_profile(), "/missing", Json(4096, one)), "");
  expect_names(refusal_with(planted_profile(), "/missing", Json(4097, one)), "missing", "at most 4096 entries");
}

}  // namespace
}  // namespace shiplap
