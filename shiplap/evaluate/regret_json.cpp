// The file of an evaluation of random jobs.
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/evaluate/regret.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {
namespace {

Json swept_json(const SweptChoice& one) {
  return {{"choice", to_json(one.choice)},
          {"predicted", quantity_json(one.predicted)},
          {"observed", quantity_json(one.observed)}};
}

/// Choices column by column, so that the file stays small.
Json near_json(const std::vector<NearChoice>& near) {
  Json json;
  for (const char* column : {"strategy", "chunks", "layout", "blocks", "graph", "batched", "error", "covered"})
    json[column] = Json::array();
  std::vector<Seconds> observed;
  for (const NearChoice& one : near) {
    json["strategy"].push_back(one.choice.strategy);
    json["chunks"].push_back(one.choice.chunks);
    json["layout"].push_back(name_of(one.choice.layout));
    json["blocks"].push_back(one.choice.blocks == 0 ? Json(nullptr) : Json(one.choice.blocks));
    json["graph"].push_back(one.choice.graph);
    json["batched"].push_back(one.choice.batched);
    json["error"].push_back(one.error);
    json["covered"].push_back(one.is_covered);
    observed.push_back(one.observed);
  }
  json["observed"] = quantities_json(observed);
  return json;
}

SweptChoice read_swept(const JsonReader& json) {
  return {.choice = choice_from_json(json.at("choice")),
          .predicted = seconds_interval_from_json(json.at("predicted")),
          .observed = seconds_from_json(json.at("observed"))};
}

std::vector<NearChoice> read_near(const JsonReader& json) {
  std::vector<NearChoice> near;
  const std::vector<Seconds> observed = all_seconds_from_json(json.at("observed"));
  const JsonReader strategies = json.at("strategy");
  if (strategies.size() != observed.size()) strategies.fail("a strategy for each observed time");
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const JsonReader blocks = json.at("blocks").at(i);
    NearChoice one{.choice = {.strategy = strategies.at(i).string()},
                   .observed = observed[i],
                   .error = json.at("error").at(i).number(),
                   .is_covered = json.at("covered").at(i).boolean()};
    one.choice.chunks = static_cast<std::uint32_t>(json.at("chunks").at(i).unsigned_integer());
    parse_layout(json.at("layout").at(i).string(), one.choice);
    one.choice.blocks = blocks.value().is_null() ? 0 : blocks.unsigned_integer();
    one.choice.graph = json.at("graph").at(i).boolean();
    one.choice.batched = json.at("batched").at(i).boolean();
    near.push_back(std::move(one));
  }
  return near;
}

JobRegret read_job(const JsonReader& json, bool simulated) {
  JobRegret job{.name = json.at("workload").string(), .simulated = simulated};
  if (const auto reason = json.find("not_run")) {
    job.not_run = reason->string();
    return job;
  }
  job.probe_took = seconds_from_json(json.at("probe_took"));
  job.race_ran = seconds_from_json(json.at("race_ran"));
  job.race_took = seconds_from_json(json.at("race_took"));
  job.choices = json.at("choices").unsigned_integer();
  job.best = read_swept(json.at("best"));
  job.planned = read_swept(json.at("planned"));
  job.raced = read_swept(json.at("raced"));
  if (const auto unprobed = json.find("unprobed")) job.unprobed = seconds_from_json(*unprobed);
  if (const auto wrong = json.find("wrong")) job.wrong = wrong->string();
  job.near = read_near(json.at("near"));
  return job;
}

}  // namespace

Json to_json(const std::vector<JobRegret>& jobs, const Node& node, std::uint64_t seed, const std::string& command) {
  const RegretSummary s = summary_of(jobs);
  const DeviceInfo info = device_of(node, "evaluate").info();
  Json json{{"schema", formats::regret.schema},
            {"version", formats::regret.version},
            {"device", info.id},
            {"device_name", info.name},
            {"simulated", info.is_virtual},
            {"conditions", info.conditions},
            {"profile", profile_of(node).name},
            {"profile_hash", parameter_hash(profile_of(node))},
            {"seed", seed},
            {"command", command},
            {"summary",
             {{"jobs", s.jobs},
              {"plan_within_2", s.plan_within_2},
              {"plan_worst", s.plan_worst},
              {"race_within_2", s.race_within_2},
              {"race_worst", s.race_worst},
              {"near_choices", s.near},
              {"error_median", s.error_median},
              {"error_p95", s.error_p95},
              {"error_worst", s.error_worst},
              {"covered", s.covered}}},
            {"jobs", Json::array()}};
  for (const JobRegret& job : jobs) {
    Json one{{"workload", job.name}, {"not_run", job.not_run.empty() ? Json(nullptr) : Json(job.not_run)}};
    if (job.not_run.empty()) {
      one["probe_took"] = quantity_json(job.probe_took);
      one["race_ran"] = quantity_json(job.race_ran);
      one["race_took"] = quantity_json(job.race_took);
      one["choices"] = job.choices;
      one["best"] = swept_json(job.best);
      one["planned"] = swept_json(job.planned);
      one["raced"] = swept_json(job.raced);
      one["unprobed"] = job.unprobed > Seconds{0} ? quantity_json(job.unprobed) : Json(nullptr);
      one["plan_regret"] = job.plan_regret();
      one["race_regret"] = job.race_regret();
      one["wrong"] = job.wrong.empty() ? Json(nullptr) : Json(job.wrong);
      one["near"] = near_json(job.near);
    }
    json["jobs"].push_back(std::move(one));
  }
  return json;
}

RecordedRegrets recorded_regrets_from_json(const Json& document, const std::string& source) {
  const JsonReader json(document, source);
  require_schema(json, formats::regret);
  const auto command = json.find("command");
  RecordedRegrets recorded{.command = command ? command->string() : std::string{},
                           .conditions = {},
                           .profile_hash = json.at("profile_hash").string(),
                           .jobs = {}};
  const JsonReader conditions = json.at("conditions");
  for (const auto& [name, value] : conditions.value().items())
    recorded.conditions.emplace(name, conditions.at(name).string());
  const bool simulated = json.at("simulated").boolean();
  const JsonReader jobs = json.at("jobs");
  for (std::size_t i = 0; i < jobs.size(); ++i) recorded.jobs.push_back(read_job(jobs.at(i), simulated));
  return recorded;
}

}  // namespace shiplap
