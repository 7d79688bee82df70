#include "shiplap/report/adaptive_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/report/rows.hpp"

namespace shiplap {
namespace {

std::string decisions_table(const std::vector<Decision>& decisions, const std::vector<Choice>& choices,
                            const TextStyle& style) {
  Table table({{"after batch", Align::right},
               {"why"},
               {"kernel", Align::right},
               {"link", Align::right},
               {"from then on"},
               {"a batch", Align::right}});
  for (const Decision& d : decisions)
    table.add({std::to_string(d.after), d.reason, fmt::format("x {:.3g}", d.kernel), fmt::format("x {:.3g}", d.link),
               d.to == d.from ? std::string("as before") : to_string(choices.at(d.to)), to_string(d.period_to)});
  return table.text(style);
}

Json decisions_json(const std::vector<Decision>& decisions) {
  Json json = Json::array();
  for (const Decision& d : decisions)
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

std::string adaptive_report(const AdaptiveRun& run, const TextStyle& style) {
  std::string out = fmt::format("{} on {}{}, batches of {} items, {} in flight\n\n", bold(run.workload, style),
                                bold(run.device, style), run.simulated ? " (simulated)" : "", run.items_of_batch,
                                run.table.in_flight);
  Table choices({{"choice"}, {"batches", Align::right}, {"share", Align::right}, {"predicted at first", Align::right}});
  for (std::size_t c = 0; c < run.table.choices.size(); ++c) {
    const std::uint64_t batches = run.report.batches_of_choice.at(c);
    if (batches == 0) continue;
    const double share =
        static_cast<double>(batches) / static_cast<double>(std::max<std::uint64_t>(1, run.report.batches));
    choices.add({to_string(run.table.choices[c]), std::to_string(batches), percent(share),
                 to_string(run.table.at(c, 1).period)});
  }
  out += choices.text(style) + "\n";
  if (run.decisions.empty()) {
    out += "no change of the kernel or of the link called for another choice\n";
  } else {
    if (run.decisions.size() < run.all_decisions)
      out += fmt::format("the last {} of {} decisions\n", run.decisions.size(), run.all_decisions);
    out += decisions_table(run.decisions, run.table.choices, style);
  }
  out +=
      fmt::format("\n{} items in {}{}: {:.4g} items/s, {} a batch, {} changes of the choice\n", run.report.items,
                  to_string(run.report.elapsed), run.simulated ? " (simulated)" : "", run.report.rate(),
                  to_string(run.report.elapsed / static_cast<double>(std::max<std::uint64_t>(1, run.report.batches))),
                  run.report.changes);
  if (run.difference)
    out += run.difference->empty() ? "result      the last batch in every slot verified against the host reference\n"
                                   : fmt::format("result      WRONG: {}\n", *run.difference);
  return out;
}

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

std::string replay_report(const Replay& replay, const TextStyle& style) {
  std::string out = fmt::format("{}, profile {}, {} batches, {} decisions\n\n", bold(replay.job, style),
                                replay.profile_hash, replay.seen.size(), replay.again.size());
  if (!replay.again.empty()) out += decisions_table(replay.again, replay.table.choices, style) + "\n";
  out += replay.difference.empty() ? "as logged\n" : fmt::format("NOT as logged: {}\n", replay.difference);
  return out;
}

}  // namespace shiplap
