// The file of an evaluation of random jobs.
#include "shiplap/core/record.hpp"
#include "shiplap/evaluate/regret.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/names.hpp"

namespace shiplap {
namespace {

/// Choices column by column, so that the file stays small.
struct NearByColumn {
  std::vector<std::string> strategy;
  std::vector<std::uint32_t> chunks;
  std::vector<Layout> layout;
  std::vector<std::optional<std::uint64_t>> blocks;
  std::vector<bool> graph;
  std::vector<bool> batched;
  std::vector<double> error;
  std::vector<bool> covered;
  std::vector<Seconds> observed;
};
template <class V, Like<NearByColumn> R>
void describe(V& v, R& near) {
  v.field("strategy", near.strategy, "");
  v.field("chunks", near.chunks, "");
  v.field("layout", near.layout, "");
  v.field("blocks", near.blocks, "most thread blocks; null: the kernel's own grid");
  v.field("graph", near.graph, "");
  v.field("batched", near.batched, "");
  v.field("error", near.error, "predicted over observed time, minus 1");
  v.field("covered", near.covered, "whether the observed time is within the prediction interval");
  v.field("observed", near.observed, "");
}

/// The candidates of a job that were predicted near the best one.
struct NearChoices {
  static Json write(const std::vector<NearChoice>& near) {
    NearByColumn columns;
    for (const NearChoice& one : near) {
      columns.strategy.push_back(one.choice.strategy);
      columns.chunks.push_back(one.choice.chunks);
      columns.layout.push_back(one.choice.layout);
      columns.blocks.push_back(one.choice.max_grid == 0 ? std::nullopt : std::optional(one.choice.max_grid));
      columns.graph.push_back(one.choice.graph);
      columns.batched.push_back(one.choice.batched);
      columns.error.push_back(one.error);
      columns.covered.push_back(one.is_covered);
      columns.observed.push_back(one.observed);
    }
    return write_record(columns);
  }
  static std::vector<NearChoice> read(const JsonReader& json) {
    NearByColumn columns;
    read_record(json, columns);
    const std::size_t count = columns.observed.size();
    for (const std::size_t other :
         {columns.strategy.size(), columns.chunks.size(), columns.layout.size(), columns.blocks.size(),
          columns.graph.size(), columns.batched.size(), columns.error.size(), columns.covered.size()})
      if (other != count) json.fail("columns of equal length");
    std::vector<NearChoice> near;
    for (std::size_t i = 0; i < count; ++i)
      near.push_back({.choice = {.strategy = columns.strategy[i],
                                 .chunks = columns.chunks[i],
                                 .layout = columns.layout[i],
                                 .max_grid = columns.blocks[i].value_or(0),
                                 .graph = columns.graph[i],
                                 .batched = columns.batched[i]},
                      .observed = columns.observed[i],
                      .error = columns.error[i],
                      .is_covered = columns.covered[i]});
    return near;
  }
  static Json schema() { return schema_of<NearByColumn>(); }
};

/// The document.
struct RegretFile {
  std::string device;
  std::string device_name;
  bool simulated = false;
  Conditions conditions;
  std::string profile;
  std::string profile_hash;
  std::uint64_t seed = 0;
  std::string command;
  std::vector<JobRegret> jobs;
};

}  // namespace

template <class V, Like<SweptChoice> R>
void describe(V& v, R& swept) {
  v.field("choice", swept.choice, "the choice");
  v.field("predicted", swept.predicted, "its predicted time");
  v.field("observed", swept.observed, "its observed time");
}
template <class V, Like<JobRegret> R>
void describe(V& v, R& job) {
  v.field("workload", job.name, "the job");
  v.or_null("not_run", job.not_run, "reason why the job did not run");
  const bool ran = job.not_run.empty();
  v.field_if(ran, "probe_took", job.probe_took, "host time of the kernel probe");
  v.field_if(ran, "race_ran", job.race_ran, "sum of the makespans of the race");
  v.field_if(ran, "race_took", job.race_took, "host time of the race including preparation");
  v.field_if(ran, "choices", job.choices, "number of choices in the sweep");
  v.field_if(ran, "best", job.best, "fastest of the sweep, confirmed in a final");
  v.field_if(ran, "planned", job.planned, "the plan's choice");
  v.field_if(ran, "raced", job.raced, "the winner of the race");
  v.only_if(ran, "unprobed", job.unprobed, "observed time of the choice of a plan without the probe, if it is another",
            NullIfEmpty<Seconds>{});
  v.derived_if(ran, "plan_regret", "time of the plan's choice over the best, minus 1",
               [&] { return job.plan_regret(); });
  v.derived_if(ran, "race_regret", "time of the winner over the best, minus 1", [&] { return job.race_regret(); });
  v.only_if(ran, "wrong", job.wrong, "first difference from the host reference", NullIfEmpty<std::string>{});
  v.field_if(ran, "near", job.near, "candidates that were predicted within 1.5 times the best", NearChoices{});
}
template <class V, Like<RegretSummary> R>
void describe(V& v, R& s) {
  v.field("jobs", s.jobs, "number of jobs that ran");
  v.field("plan_within_2", s.plan_within_2, "fraction of jobs whose planned choice is within 2 % of the best");
  v.field("plan_worst", s.plan_worst, "largest regret of a plan");
  v.field("race_within_2", s.race_within_2, "fraction of jobs whose raced choice is within 2 % of the best");
  v.field("race_worst", s.race_worst, "largest regret of a race");
  v.field("near_choices", s.near, "number of choices in `near` of all jobs");
  v.field("error_median", s.error_median, "median of their absolute errors");
  v.field("error_p95", s.error_p95, "95th percentile of these");
  v.field("error_worst", s.error_worst, "the largest of these");
  v.field("covered", s.covered, "fraction of them whose observed time is within the prediction interval");
}
template <class V, Like<RegretFile> R>
void describe(V& v, R& file) {
  v.header(formats::regret);
  v.field("device", file.device, "id of the device");
  v.field("device_name", file.device_name, "name of the GPU");
  v.field("simulated", file.simulated, "whether the device is virtual, so that all times are simulated");
  v.field("conditions", file.conditions, "conditions of the node");
  v.field("profile", file.profile, "name of the profile");
  v.field("profile_hash", file.profile_hash, "hash of the profile's parameters");
  v.field("seed", file.seed, "seed of the random jobs");
  v.added("command", file.command, "command line that says what is evaluated");
  v.derived("summary", "statistics over all jobs that ran", [&] { return summary_of(file.jobs); });
  v.field("jobs", file.jobs, "the jobs");
}

Json to_json(const std::vector<JobRegret>& jobs, const Node& node, std::uint64_t seed, const std::string& command) {
  const DeviceInfo info = device_of(node, "evaluate").info();
  return write_record(RegretFile{.device = info.id,
                                 .device_name = info.name,
                                 .simulated = info.is_virtual,
                                 .conditions = info.conditions,
                                 .profile = profile_of(node).name,
                                 .profile_hash = parameter_hash(profile_of(node)),
                                 .seed = seed,
                                 .command = command,
                                 .jobs = jobs});
}

RecordedRegrets recorded_regrets_from_json(const Json& document, const std::string& source) {
  RegretFile file;
  read_record(JsonReader(document, source), file);
  for (JobRegret& job : file.jobs) job.simulated = file.simulated;
  return {.command = std::move(file.command),
          .conditions = std::move(file.conditions),
          .profile_hash = std::move(file.profile_hash),
          .jobs = std::move(file.jobs)};
}

}  // namespace shiplap
