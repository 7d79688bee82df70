#include "shiplap/evaluate/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/evaluate/errors.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/workload/kernel_profile.hpp"

namespace shiplap {
namespace {

std::vector<double> rounded(std::vector<double> samples_ms) {
  for (double& ms : samples_ms) ms = std::round(ms * 1e5) / 1e5;
  return samples_ms;
}

Json estimate_json(const std::vector<double>& samples_ms) {
  if (samples_ms.empty()) return nullptr;
  const Estimate e = median_estimate(samples_ms);
  return quantity_json(e, "ms");
}

Json samples_json(const std::vector<double>& samples_ms) { return quantities_json(rounded(samples_ms), "ms"); }

Json point_json(const EvaluatedPoint& point) {
  Json models = Json::object();
  for (const ModelTime& m : point.models) models[m.model] = quantity_json(m.time);
  const bool observed = !point.samples_ms.empty();
  return {{"choice", to_json(point.choice)},
          {"planned", point.planned},
          {"predicted", quantity_json(point.predicted)},
          {"models", std::move(models)},
          {"busiest", to_string(point.busiest)},
          {"busy", point.busy},
          {"group", point.group},
          {"observed", estimate_json(point.samples_ms)},
          {"error", observed ? Json(in_milliseconds(point.predicted.value) / median(point.samples_ms) - 1) : nullptr},
          {"spread", observed ? Json(relative_spread(point.samples_ms)) : nullptr},
          {"verified", point.verified},
          {"difference", point.verified ? Json(nullptr) : Json(point.difference)},
          {"samples", samples_json(point.samples_ms)}};
}

Json duel_json(const Duel& duel) {
  return {{"automatic_choice", to_json(duel.automatic)},
          {"winner_choice", to_json(duel.winner)},
          {"automatic", estimate_json(duel.automatic_ms)},
          {"winner", estimate_json(duel.winner_ms)},
          {"ideal_overlap", estimate_json(duel.ideal_overlap_ms)},
          {"over_winner", duel.over_winner()},
          {"over_ideal_overlap", duel.ideal_overlap_ms.empty() ? Json(nullptr) : Json(duel.over_ideal_overlap())},
          {"within_rule", duel.within_rule()},
          {"automatic_samples", samples_json(duel.automatic_ms)},
          {"winner_samples", samples_json(duel.winner_ms)},
          {"ideal_overlap_samples", samples_json(duel.ideal_overlap_ms)}};
}

Json workload_json(const EvaluatedWorkload& workload) {
  Json json{{"workload", workload.name},
            {"memory", to_string(workload.memory)},
            {"not_run", workload.not_run.empty() ? Json(nullptr) : Json(workload.not_run)},
            {"kernel", quantity_json(workload.kernel)},
            {"kernel_cost", to_json(workload.cost)},
            {"bound", quantity_json(workload.bound)},
            {"predicted_ideal_overlap", quantity_json(workload.ideal_overlap)},
            {"points", Json::array()},
            {"skipped", Json::array()},
            {"groups", Json::array()},
            {"duel", workload.duel ? duel_json(*workload.duel) : Json(nullptr)}};
  for (const EvaluatedPoint& point : workload.points) json["points"].push_back(point_json(point));
  for (const SkippedChoice& skipped : workload.skipped)
    json["skipped"].push_back({{"choice", to_json(skipped.choice)}, {"reason", skipped.reason}});
  for (const EvaluatedGroup& group : workload.groups)
    json["groups"].push_back({{"choices", group.choices},
                              {"automatic", estimate_json(group.automatic_ms)},
                              {"ideal_overlap", estimate_json(group.ideal_overlap_ms)},
                              {"automatic_samples", samples_json(group.automatic_ms)},
                              {"ideal_overlap_samples", samples_json(group.ideal_overlap_ms)}});
  return json;
}

Json transfer_json(const EvaluatedTransfer& t) {
  return {{"direction", t.to_device ? "h2d" : "d2h"},
          {"size", quantity_json(t.total)},
          {"copies", t.copies},
          {"simulation", quantity_json(t.simulation)},
          {"loggp", quantity_json(t.loggp)},
          {"observed", estimate_json(t.samples_ms)},
          {"wrong", quantity_json(Bytes{t.wrong_bytes})},
          {"samples", samples_json(t.samples_ms)}};
}

Json summary_json(const ErrorSummary& s) {
  if (s.points == 0) return {{"points", 0}};
  return {{"points", s.points},
          {"median", s.median},
          {"p95", s.p95},
          {"worst", s.worst},
          {"median_signed", s.median_signed},
          {"over", s.over},
          {"under", s.under}};
}

Json errors_json(const ModelErrors& errors) {
  Json json{{"name", errors.name},
            {"all", summary_json(errors.all)},
            {"steady", summary_json(errors.steady)},
            {"unsteady", summary_json(errors.unsteady)},
            {"unsteady_fraction", errors.unsteady_fraction()},
            {"coverage", nullptr},
            {"worst_at", nullptr}};
  if (errors.coverage)
    json["coverage"] = {{"covered", errors.coverage->covered}, {"median_width", errors.coverage->median_width}};
  if (errors.worst)
    json["worst_at"] = {{"workload", errors.worst->workload},
                        {"choice", to_json(errors.worst->choice)},
                        {"error", errors.worst->error},
                        {"busiest", to_string(errors.worst->busiest)},
                        {"busy", errors.worst->busy}};
  return json;
}

Json regret_json(const Regret& regret) {
  if (regret.cases == 0) return {{"cases", 0}};
  return {
      {"cases", regret.cases}, {"median", regret.median}, {"worst", regret.worst}, {"worst_case", regret.worst_case}};
}

Json statistics_json(const Evaluation& evaluation) {
  Json json{{"steady_spread_at_most", steady_spread},
            {"models", Json::array()},
            {"simulation_by_strategy", Json::array()},
            {"regret", Json::array()},
            {"transfers", Json::array()}};
  for (const ModelErrors& e : errors_by_model(evaluation.workloads)) json["models"].push_back(errors_json(e));
  for (const ModelErrors& e : errors_by_strategy(evaluation.workloads))
    json["simulation_by_strategy"].push_back(errors_json(e));
  for (const ModelRegret& r : regrets(evaluation.workloads))
    json["regret"].push_back(
        {{"model", r.model}, {"strategy", regret_json(r.strategy)}, {"chunks", regret_json(r.chunks)}});
  for (const TransferErrors& t : transfer_errors(evaluation.transfers)) {
    const PublishedTransferErrors published = published_transfer_errors(t.to_device);
    json["transfers"].push_back({{"direction", t.to_device ? "h2d" : "d2h"},
                                 {"simulation", summary_json(t.simulation)},
                                 {"loggp", summary_json(t.loggp)},
                                 {"published_over", published.over},
                                 {"published_under", published.under}});
  }
  return json;
}

}  // namespace

double Duel::over_winner() const { return median(automatic_ms) / median(winner_ms) - 1; }
double Duel::over_ideal_overlap() const { return median(automatic_ms) / median(ideal_overlap_ms) - 1; }
bool Duel::within_rule() const {
  const double error = std::hypot(median_standard_error(automatic_ms), median_standard_error(winner_ms));
  constexpr double three_microseconds = 0.003;  // samples in ms
  const double allowed = std::max({0.01 * median(winner_ms), three_microseconds, 2 * error});
  return median(automatic_ms) - median(winner_ms) <= allowed;
}

std::string label(const EvaluatedWorkload& workload) {
  if (workload.memory == MemoryKind::pinned) return workload.name;
  return fmt::format("{}, {} memory", workload.name, to_string(workload.memory));
}

namespace {

void for_all_samples(EvaluatedWorkload& workload, const std::function<void(std::vector<double>&)>& change) {
  for (EvaluatedPoint& point : workload.points) change(point.samples_ms);
  for (EvaluatedGroup& group : workload.groups) {
    change(group.automatic_ms);
    change(group.ideal_overlap_ms);
  }
  if (workload.duel)
    for (auto samples_ms : {&Duel::automatic_ms, &Duel::winner_ms, &Duel::ideal_overlap_ms})
      change((*workload.duel).*samples_ms);
}

}  // namespace

EvaluatedWorkload as_recorded(EvaluatedWorkload workload) {
  for_all_samples(workload, [](std::vector<double>& samples_ms) { samples_ms = rounded(std::move(samples_ms)); });
  return workload;
}

bool halve_samples(Evaluation& evaluation) {
  constexpr std::size_t fewest = 11;  // rounds on a GPU when none are asked for
  bool has_halved = false;
  const auto halve = [&](std::vector<double>& samples_ms) {
    if (samples_ms.size() <= fewest) return;
    for (std::size_t i = 0; 2 * i < samples_ms.size(); ++i) samples_ms[i] = samples_ms[2 * i];
    samples_ms.resize((samples_ms.size() + 1) / 2);
    has_halved = true;
  };
  for (EvaluatedWorkload& workload : evaluation.workloads) for_all_samples(workload, halve);
  for (EvaluatedTransfer& transfer : evaluation.transfers) halve(transfer.samples_ms);
  return has_halved;
}

EvaluatedTransfer as_recorded(EvaluatedTransfer transfer) {
  transfer.samples_ms = rounded(std::move(transfer.samples_ms));
  return transfer;
}

std::vector<std::string> wrong_results(const Evaluation& evaluation) {
  std::vector<std::string> wrong;
  for (const EvaluatedWorkload& workload : evaluation.workloads)
    for (const EvaluatedPoint& point : workload.points)
      if (!point.verified)
        wrong.push_back(fmt::format("{}: {}: {}", label(workload), to_string(point.choice), point.difference));
  for (const EvaluatedTransfer& t : evaluation.transfers)
    if (t.wrong_bytes > 0)
      wrong.push_back(fmt::format("{} in {} copies {} the GPU: {} bytes are wrong", to_string(t.total), t.copies,
                                  t.to_device ? "to" : "from", t.wrong_bytes));
  return wrong;
}

Json to_json(const Evaluation& evaluation) {
  Json json{{"schema", formats::evaluation.schema},
            {"version", formats::evaluation.version},
            {"device", evaluation.device},
            {"device_name", evaluation.device_name},
            {"simulated", evaluation.simulated},
            {"conditions", Json::object()},
            {"profile", evaluation.profile},
            {"profile_hash", evaluation.profile_hash},
            {"predicted_again", evaluation.predicted_again},
            {"clock", "device events, from the mark before the first op to the last end mark; medians, interleaved"},
            {"statistics", statistics_json(evaluation)},
            {"workloads", Json::array()},
            {"transfers", Json::array()}};
  if (!evaluation.command.empty()) json["command"] = evaluation.command;
  for (const auto& [key, value] : evaluation.conditions) json["conditions"][key] = value;
  for (const EvaluatedWorkload& w : evaluation.workloads) json["workloads"].push_back(workload_json(w));
  for (const EvaluatedTransfer& t : evaluation.transfers) json["transfers"].push_back(transfer_json(t));
  return json;
}

}  // namespace shiplap
