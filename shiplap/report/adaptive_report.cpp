#include "shiplap/report/adaptive_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/report/rows.hpp"

namespace shiplap {
namespace {

Json decisions_json(const std::vector<BatchDecision>& decisions) {
  Json json = Json::array();
  for (const BatchDecision& d : decisions)
    json.push_back({{"after", d.after},
                    {"reason", d.reason},
                    {"kernel", d.kernel},
                    {"link", d.link},
                    {"from", d.from},
                    {"to", d.to},
                    {"period_from", quantity_json(d.period_from)},
                    {"period_to", quantity_json(d.period_to)}});
  return json;
}

}  // namespace

Json to_json(const AdaptiveRun& run) {
  Json json{{"schema", formats::adaptive_run.schema},
            {"version", formats::adaptive_run.version},
            {"workload", run.workload},
            {"device", run.device},
            {"simulated", run.simulated},
            {"profile", run.profile},
            {"profile_hash", run.profile_hash},
            {"items_of_batch", run.items_of_batch},
            {"in_flight", run.table.in_flight},
            {"batches", run.report.batches},
            {"items", run.report.items},
            {"elapsed", quantity_json(run.report.elapsed)},
            {"rate", quantity_json(run.report.rate(), "items/s")},
            {"changes", run.report.changes},
            {"verified", run.difference ? Json(run.difference->empty()) : Json(nullptr)},
            {"difference", run.difference ? Json(*run.difference) : Json(nullptr)}};
  json["choices"] = Json::array();
  for (std::size_t c = 0; c < run.table.choices.size(); ++c)
    json["choices"].push_back({{"choice", to_json(run.table.choices[c])},
                               {"batches", run.report.batches_of_choice.at(c)},
                               {"predicted_period", quantity_json(run.table.at(c, 1).period)}});
  json["all_decisions"] = run.all_decisions;
  json["decisions"] = decisions_json(run.decisions);
  return json;
}

Json to_json(const Replay& replay) {
  Json json{{"schema", formats::adaptation_replay.schema},
            {"version", formats::adaptation_replay.version},
            {"job", replay.job},
            {"profile_hash", replay.profile_hash},
            {"batches", replay.seen.size()},
            {"as_logged", replay.difference.empty()},
            {"difference", replay.difference},
            {"choices", Json::array()}};
  for (const Choice& choice : replay.table.choices) json["choices"].push_back(to_json(choice));
  json["decisions"] = decisions_json(replay.again);
  return json;
}

}  // namespace shiplap
