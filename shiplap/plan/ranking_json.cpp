// A ranking as JSON.
#include <nlohmann/json.hpp>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/plan/ranking.hpp"

namespace shiplap {
namespace {

/// Null where the choice leaves a number open.
Json number_or_null(std::uint64_t number) { return number == 0 ? Json(nullptr) : Json(number); }

Json ramp_json(const Ramp& ramp) {
  if (ramp.level()) return nullptr;
  return {{"first", ramp.first}, {"last", ramp.last}, {"growth", ramp.growth}};
}

Ramp ramp_from_json(const JsonReader& json) {
  const Ramp ramp{
      .first = json.at("first").positive(), .last = json.at("last").positive(), .growth = json.at("growth").positive()};
  require_valid(ramp);
  return ramp;
}

Json mover_json(const std::optional<Mover>& mover) { return mover ? to_json(*mover) : Json(nullptr); }

Mover mover_from_json(const JsonReader& json) {
  Mover mover;
  try {
    mover.kind = parse_mover(json.at("kind").string());
  } catch (const UsageError& error) {
    json.at("kind").fail(error.what());
  }
  if (const auto grid = json.find("grid")) mover.grid = static_cast<std::uint32_t>(grid->unsigned_integer());
  return mover;
}

}  // namespace

Json to_json(const Mover& mover) {
  const bool is_kernel = mover.kind == Mover::Kind::kernel;
  return {{"kind", std::string(name_of(mover.kind))}, {"grid", is_kernel ? Json(mover.grid) : Json(nullptr)}};
}

Json to_json(const Choice& choice) {
  return {{"strategy", choice.strategy},
          {"chunks", choice.chunks},
          {"ramp", ramp_json(choice.ramp)},
          {"layout", name_of(choice.layout)},
          {"streams", choice.layout == Layout::few ? Json(choice.streams) : Json(nullptr)},
          {"order", choice.order == IssueOrder::depth ? "depth" : "breadth"},
          {"blocks", number_or_null(choice.blocks)},
          {"threads_each_way", number_or_null(choice.threads)},
          {"graph", choice.graph},
          {"batched", choice.batched},
          {"gather", mover_json(choice.gather)},
          {"scatter", mover_json(choice.scatter)},
          {"gpus", choice.gpus},
          {"ring", number_or_null(choice.ring)}};
}

Choice choice_from_json(const JsonReader& json) {
  const auto small = [&](std::string_view key) { return static_cast<std::uint32_t>(json.at(key).unsigned_integer()); };
  const auto or_zero = [&](std::string_view key) -> std::uint64_t {
    const auto number = json.find(key);
    return number ? number->unsigned_integer() : 0;
  };
  Choice choice{.strategy = json.at("strategy").string(), .chunks = small("chunks")};
  try {
    find_strategy(choice.strategy);
    if (const auto ramp = json.find("ramp")) choice.ramp = ramp_from_json(*ramp);
    parse_layout(json.at("layout").string(), choice);
    choice.order = parse_order(json.at("order").string());
  } catch (const UsageError& error) {
    json.fail(error.what());
  }
  if (json.find("streams")) choice.streams = small("streams");
  choice.blocks = or_zero("blocks");
  choice.threads = static_cast<std::uint32_t>(or_zero("threads_each_way"));
  choice.graph = json.at("graph").boolean();
  choice.batched = json.at("batched").boolean();
  if (const auto gather = json.find("gather")) choice.gather = mover_from_json(*gather);
  if (const auto scatter = json.find("scatter")) choice.scatter = mover_from_json(*scatter);
  choice.gpus = small("gpus");
  choice.ring = static_cast<std::uint32_t>(or_zero("ring"));
  return choice;
}

Json to_json(const Distance& d) {
  return {{"host", quantity_json(d.host)},
          {"submission", quantity_json(d.submission)},
          {"latency", quantity_json(d.latency)},
          {"gap", quantity_json(d.gap)},
          {"duplex_gap", quantity_json(d.duplex_gap)},
          {"fill_and_drain", quantity_json(d.fill_and_drain)},
          {"total", quantity_json(d.total)}};
}

Json to_json(const Candidate& candidate) {
  Json json = to_json(candidate.choice);
  json["predicted"] = quantity_json(candidate.predicted);
  json["predicted_by"] = name_of(candidate.predicted_by);
  json["why_not_simulated"] = candidate.why_not_simulated.empty() ? Json(nullptr) : Json(candidate.why_not_simulated);
  json["closed_form"] = quantity_json(candidate.closed_form);
  json["tied_with_fastest"] = candidate.tied_with_fastest;
  json["distance_to_ideal_overlap"] = to_json(candidate.distance);
  return json;
}

Json to_json(const Ranking& plan) {
  Json json{{"schema", formats::plan.schema},
            {"version", formats::plan.version},
            {"job", plan.job},
            {"profile", plan.profile},
            {"profile_hash", plan.profile_hash},
            {"assumed_link", plan.assumed_link},
            {"kernel_cost", plan.kernel_cost_origin},
            {"kernel", plan.kernel ? to_json(*plan.kernel) : Json(nullptr)},
            {"bound", quantity_json(plan.bound.time)},
            {"bound_by", plan.bound.set_by()},
            {"ideal_overlap", quantity_json(plan.ideal_overlap.time)},
            {"ideal_overlap_by", plan.ideal_overlap.set_by()}};
  json["first_choice"] = plan.first_choice;
  json["simpler"] = plan.simpler.empty() ? Json(nullptr) : Json(plan.simpler);
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
