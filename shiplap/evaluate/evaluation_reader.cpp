// Reads recorded evaluations. Derived values (errors, estimates, statistics) are not read but computed again.
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/workload/kernel_profile.hpp"

namespace shiplap {
namespace {

std::uint64_t read_positive(const JsonReader& json, std::uint64_t most = ~std::uint64_t{0}) {
  const std::uint64_t count = json.unsigned_integer();
  if (count == 0 || count > most) json.fail("a whole number of 1 or more, in bounds");
  return count;
}

/// A sample in ms. Samples are written with five digits behind the point, and a smaller one would be written as 0.
double sample_ms(const JsonReader& json) {
  constexpr double shortest_ms = 1e-5;
  const double sample = json.positive();
  if (sample < shortest_ms || sample > in_milliseconds(longest_time)) json.fail("a time from 1e-5 ms to 1e9 s");
  return sample;
}

std::vector<double> read_samples(const JsonReader& json) {
  if (json.at("unit").string() != "ms") json.at("unit").fail("\"ms\"");
  const JsonReader values = json.at("values");
  std::vector<double> samples;
  for (std::size_t i = 0; i < values.size(); ++i) samples.push_back(sample_ms(values.at(i)));
  return samples;
}

std::vector<double> read_samples_or_none(const JsonReader& json, std::string_view key) {
  const auto found = json.find(key);
  return found ? read_samples(*found) : std::vector<double>{};
}

std::string read_text_or_none(const JsonReader& json, std::string_view key) {
  const auto found = json.find(key);
  return found ? found->string() : std::string{};
}

MemoryKind read_memory_kind(const JsonReader& json) {
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::managed})
    if (json.string() == to_string(kind)) return kind;
  json.fail("pageable, pinned or managed");
}

Engine read_engine(const JsonReader& json) {
  for (std::size_t i = 0; i < engine_count; ++i)
    if (const auto engine = static_cast<Engine>(i); json.string() == to_string(engine)) return engine;
  json.fail("an engine, as in \"copy H2D\"");
}

EvaluatedPoint read_point(const JsonReader& json) {
  EvaluatedPoint point{.choice = choice_from_json(json.at("choice")),
                       .planned = json.at("planned").boolean(),
                       .predicted = seconds_interval_from_json(json.at("predicted")),
                       .models = {},
                       .busiest = read_engine(json.at("busiest")),
                       .busy = json.at("busy").number(),
                       .group = json.at("group").unsigned_integer(),
                       .samples_ms = read_samples(json.at("samples")),
                       .verified = json.at("verified").boolean(),
                       .difference = read_text_or_none(json, "difference")};
  json.at("models").for_each_member([&](const std::string& name, const JsonReader& time) {
    point.models.push_back({name, seconds_from_json(time)});
  });
  return point;
}

Duel read_duel(const JsonReader& json) {
  return {.automatic = choice_from_json(json.at("automatic_choice")),
          .winner = choice_from_json(json.at("winner_choice")),
          .automatic_ms = read_samples(json.at("automatic_samples")),
          .winner_ms = read_samples(json.at("winner_samples")),
          .ideal_overlap_ms = read_samples(json.at("ideal_overlap_samples"))};
}

EvaluatedWorkload read_workload(const JsonReader& json) {
  EvaluatedWorkload workload{.name = json.at("workload").string(),
                             .memory = read_memory_kind(json.at("memory")),
                             .kernel = seconds_from_json(json.at("kernel")),
                             .not_run = read_text_or_none(json, "not_run")};
  if (const auto cost = json.find("kernel_cost")) workload.cost = kernel_cost_from_json(*cost);
  if (const auto bound = json.find("bound")) workload.bound = seconds_from_json(*bound);
  workload.ideal_overlap = seconds_interval_from_json(json.at("predicted_ideal_overlap"));
  const JsonReader points = json.at("points");
  for (std::size_t i = 0; i < points.size(); ++i) workload.points.push_back(read_point(points.at(i)));
  const JsonReader skipped = json.at("skipped");
  for (std::size_t i = 0; i < skipped.size(); ++i)
    workload.skipped.push_back({choice_from_json(skipped.at(i).at("choice")), skipped.at(i).at("reason").string()});
  const JsonReader groups = json.at("groups");
  for (std::size_t i = 0; i < groups.size(); ++i)
    workload.groups.push_back({.choices = groups.at(i).at("choices").unsigned_integer(),
                               .automatic_ms = read_samples(groups.at(i).at("automatic_samples")),
                               .ideal_overlap_ms = read_samples_or_none(groups.at(i), "ideal_overlap_samples")});
  if (const auto duel = json.find("duel")) workload.duel = read_duel(*duel);
  return workload;
}

EvaluatedTransfer read_transfer(const JsonReader& json) {
  const std::string direction = json.at("direction").string();
  if (direction != "h2d" && direction != "d2h") json.at("direction").fail("h2d or d2h");
  return {.to_device = direction == "h2d",
          .total = bytes_from_json(json.at("size")),
          .copies = static_cast<std::uint32_t>(read_positive(json.at("copies"), ~std::uint32_t{0})),
          .simulation = seconds_from_json(json.at("simulation")),
          .loggp = seconds_from_json(json.at("loggp")),
          .samples_ms = read_samples(json.at("samples")),
          .wrong_bytes = bytes_from_json(json.at("wrong")).count};
}

}  // namespace

Evaluation evaluation_from_json(const Json& document, const std::string& source) {
  const JsonReader json(document, source);
  require_schema(json, formats::evaluation);
  Evaluation evaluation{.device = json.at("device").string(),
                        .device_name = json.at("device_name").string(),
                        .simulated = json.at("simulated").boolean(),
                        .conditions = {},
                        .profile = json.at("profile").string(),
                        .profile_hash = json.at("profile_hash").string(),
                        .workloads = {},
                        .transfers = {}};
  if (const auto again = json.find("predicted_again")) evaluation.predicted_again = again->boolean();
  evaluation.command = read_text_or_none(json, "command");
  json.at("conditions").for_each_member([&](const std::string& key, const JsonReader& value) {
    evaluation.conditions.emplace(key, value.string());
  });
  const JsonReader workloads = json.at("workloads");
  for (std::size_t i = 0; i < workloads.size(); ++i) evaluation.workloads.push_back(read_workload(workloads.at(i)));
  const JsonReader transfers = json.at("transfers");
  for (std::size_t i = 0; i < transfers.size(); ++i) evaluation.transfers.push_back(read_transfer(transfers.at(i)));
  return evaluation;
}

}  // namespace shiplap
