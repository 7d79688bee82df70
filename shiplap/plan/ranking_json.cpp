// A ranking as JSON; times in milliseconds.
#include <nlohmann/json.hpp>

#include "shiplap/plan/ranking.hpp"

namespace shiplap {
namespace {

constexpr std::string_view own_grid = "the kernel's own";
constexpr std::string_view as_many_as_chunks = "as many as chunks, if they fit";

Json time_json(const Interval<Seconds>& t) {
  return {{"value", in_milliseconds(t.value)},
          {"low", in_milliseconds(t.low)},
          {"high", in_milliseconds(t.high)},
          {"unit", "ms"}};
}

}  // namespace

Json to_json(const Choice& choice) {
  return {{"strategy", choice.strategy},
          {"chunks", choice.chunks},
          {"ramp", to_string(choice.ramp)},
          {"layout", name_of(choice.layout)},
          {"streams", choice.layout == Layout::few ? Json(choice.streams) : Json(nullptr)},
          {"order", choice.order == IssueOrder::depth ? "depth" : "breadth"},
          {"blocks", choice.blocks == 0 ? Json(own_grid) : Json(choice.blocks)},
          {"threads_each_way", choice.threads == 0 ? Json(nullptr) : Json(choice.threads)},
          {"graph", choice.graph},
          {"batched", choice.batched},
          {"gpus", choice.gpus},
          {"ring", choice.ring == 0 ? Json(as_many_as_chunks) : Json(choice.ring)}};
}

Choice choice_from_json(const JsonReader& json) {
  const auto small = [&](std::string_view key) { return static_cast<std::uint32_t>(json.at(key).unsigned_integer()); };
  const auto unless = [&](std::string_view key, std::string_view word) -> std::uint64_t {
    return json.at(key).value() == word ? 0 : json.at(key).unsigned_integer();
  };
  Choice choice{.strategy = json.at("strategy").string(), .chunks = small("chunks")};
  try {
    find_strategy(choice.strategy);
    choice.ramp = parse_ramp(json.at("ramp").string());
    parse_layout(json.at("layout").string(), choice);
    choice.order = parse_order(json.at("order").string());
  } catch (const UsageError& error) {
    json.fail(error.what());
  }
  if (json.find("streams")) choice.streams = small("streams");
  choice.blocks = unless("blocks", own_grid);
  if (json.find("threads_each_way")) choice.threads = small("threads_each_way");
  choice.graph = json.at("graph").boolean();
  choice.batched = json.at("batched").boolean();
  choice.gpus = small("gpus");
  choice.ring = static_cast<std::uint32_t>(unless("ring", as_many_as_chunks));
  return choice;
}

Json to_json(const Distance& d) {
  return {{"host_ms", in_milliseconds(d.host)},
          {"submission_ms", in_milliseconds(d.submission)},
          {"latency_ms", in_milliseconds(d.latency)},
          {"gap_ms", in_milliseconds(d.gap)},
          {"duplex_gap_ms", in_milliseconds(d.duplex_gap)},
          {"fill_and_drain_ms", in_milliseconds(d.fill_and_drain)},
          {"total_ms", in_milliseconds(d.total)}};
}

Json to_json(const Candidate& candidate) {
  Json json = to_json(candidate.choice);
  json["predicted"] = time_json(candidate.predicted);
  json["closed_form_ms"] = candidate.closed_form ? Json(in_milliseconds(*candidate.closed_form)) : Json(nullptr);
  json["tied_with_fastest"] = candidate.tied_with_fastest;
  json["distance_to_ideal_overlap"] = to_json(candidate.distance);
  return json;
}

Json to_json(const Ranking& plan) {
  Json json{{"schema", "shiplap/plan"},
            {"version", 1},
            {"job", plan.job},
            {"profile", plan.profile},
            {"profile_hash", plan.profile_hash},
            {"kernel_cost", plan.kernel_cost_origin},
            {"bound_ms", in_milliseconds(plan.bound.time)},
            {"bound_by", plan.bound.set_by()},
            {"ideal_overlap", time_json(plan.ideal_overlap.time)},
            {"ideal_overlap_by", plan.ideal_overlap.set_by()}};
  json["candidates"] = Json::array();
  for (const Candidate& candidate : plan.candidates) json["candidates"].push_back(to_json(candidate));
  json["refused"] = Json::array();
  for (const Refused& refused : plan.refused)
    json["refused"].push_back({{"strategy", refused.strategy}, {"reason", refused.reason}});
  json["assumptions"] = plan.assumptions;
  json["why"] = plan.why;
  return json;
}

}  // namespace shiplap
