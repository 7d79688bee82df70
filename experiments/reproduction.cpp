#include "experiments/reproduction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "experiments/curves.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/document/figure_json.hpp"

namespace shiplap::experiments {
namespace {

/// The profile without rates of kernels that no kernel reached. Published and derived profiles have the theoretical
/// arithmetic rate of the product, and its theoretical memory bandwidth where the interval is open. Steps then use the
/// times that the paper implies, or say what is missing.
Profile without_theoretical_rates(Profile profile) {
  if (profile.origin != Origin::published && profile.origin != Origin::derived) return profile;
  for (GpuModel& gpu : profile.gpus) {
    gpu.flop_rate.reset();
    if (gpu.memory_bandwidth && gpu.memory_bandwidth->low < gpu.memory_bandwidth->high) gpu.memory_bandwidth.reset();
  }
  return profile;
}

Json json_of(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

Json json_of(const Figure& figure) {
  Json json{{"id", figure.id},          {"where", figure.where}, {"title", figure.title},
            {"columns", Json::array()}, {"rows", Json::array()}, {"note", figure.note}};
  for (const Column& column : figure.columns) json["columns"].push_back({{"name", column.name}, {"unit", column.unit}});
  for (const auto& row : figure.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(json_of(cell));
    json["rows"].push_back(std::move(cells));
  }
  return json;
}

Json json_of(const StepFinding& found) {
  return {{"step", found.step},
          {"verdict", to_string(found.finding->verdict)},
          {"observed", found.finding->observed},
          {"why", found.finding->why}};
}

Figure read_figure(const JsonReader& in) {
  in.only_keys({"id", "where", "title", "columns", "rows", "note"});
  Figure figure{.id = in.at("id").string(),
                .where = in.at("where").string(),
                .title = in.at("title").string(),
                .columns = {},
                .rows = {},
                .note = in.at("note").string()};
  const JsonReader columns = in.at("columns");
  for (std::size_t i = 0; i < columns.size(); ++i)
    figure.columns.push_back({columns.at(i).at("name").string(), columns.at(i).at("unit").string()});
  const JsonReader rows = in.at("rows");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const JsonReader row = rows.at(r);
    if (row.size() != figure.columns.size()) row.fail("a cell for each column");
    auto& cells = figure.rows.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const Json& cell = row.at(c).value();
      if (cell.is_null())
        cells.emplace_back();
      else if (cell.is_string())
        cells.emplace_back(row.at(c).string());
      else
        cells.emplace_back(row.at(c).number());
    }
  }
  return figure;
}

Finding read_finding(const JsonReader& in, const std::string& claim) {
  in.only_keys({"step", "verdict", "observed", "why"});
  const std::string word = in.at("verdict").string();
  const auto verdict = std::ranges::find_if(verdicts, [&](Verdict v) { return to_string(v) == word; });
  if (verdict == verdicts.end()) in.at("verdict").fail("a verdict, such as \"holds\"");
  return {.claim = claim, .verdict = *verdict, .observed = in.at("observed").string(), .why = in.at("why").string()};
}

void require_sound(const Experiment& experiment, const Step& step, const StepResult& result) {
  for (const Figure& figure : result.figures)
    for (const auto& row : figure.rows)
      if (row.size() != figure.columns.size())
        throw Error(fmt::format("{}, {}: {} has a row of {} cells under {} columns", experiment.name, step.id,
                                figure.id, row.size(), figure.columns.size()));
  for (const Finding& finding : result.findings)
    if (std::ranges::find(experiment.claims, finding.claim, &Claim::id) == experiment.claims.end())
      throw Error(fmt::format("{}, {}: there is no claim '{}'", experiment.name, step.id, finding.claim));
}

/// Rank of a verdict when several findings are joined; the highest decides. Worse verdicts are higher, and observed
/// ones are above simulated ones.
int rank_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::cannot_be_checked:
      return 0;
    case Verdict::consistent_with_model:
      return 1;
    case Verdict::contradicts_model:
      return 2;
    case Verdict::holds:
      return 3;
    case Verdict::holds_with_a_change:
      return 4;
    case Verdict::does_not_hold:
      return 5;
  }
  throw Error("not a verdict");
}

/// The verdict that simulated figures allow, where observed ones would give this verdict.
Verdict in_simulation(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
    case Verdict::holds_with_a_change:
      return Verdict::consistent_with_model;
    case Verdict::does_not_hold:
      return Verdict::contradicts_model;
    case Verdict::consistent_with_model:
    case Verdict::contradicts_model:
    case Verdict::cannot_be_checked:
      return verdict;
  }
  throw Error("not a verdict");
}

}  // namespace

Reproduction begin_reproduction(const Experiment& experiment, const Bench& bench) {
  return {.paper = std::string(experiment.name),
          .device = bench.info.id,
          .device_name = bench.info.name,
          .simulated = bench.info.is_virtual,
          .quick = bench.quick,
          .conditions = bench.info.conditions,
          .profile = bench.profile.name,
          .profile_hash = parameter_hash(bench.profile),
          .steps = {}};
}

void require_steps(const Experiment& experiment, const std::vector<std::string>& wanted) {
  for (const std::string& id : wanted) {
    if (std::ranges::find(experiment.steps, id, &Step::id) != experiment.steps.end()) continue;
    std::vector<std::string_view> ids;
    for (const Step& step : experiment.steps) ids.push_back(step.id);
    throw UsageError(fmt::format("{} has no step '{}'; its steps are: {}", experiment.name, id, fmt::join(ids, ", ")));
  }
}

bool run_steps(const Experiment& experiment, const Bench& bench, const RunLimits& limits, Reproduction& reproduction,
               const std::function<void(Reproduction&, const Step&)>& step_done) {
  using Clock = std::chrono::steady_clock;
  require_steps(experiment, limits.only);
  const auto began = Clock::now();
  Bench with_figures = bench;
  with_figures.profile = without_theoretical_rates(bench.profile);
  with_figures.made_before = [&](std::string_view id) { return find_figure(reproduction, id); };
  for (const Step& step : experiment.steps) {
    const bool asked_for = std::ranges::find(limits.only, step.id) != limits.only.end();
    if (limits.only.empty() ? reproduction.steps.contains(step.id) : !asked_for) continue;
    if (limits.budget > Seconds{0} && Seconds{Clock::now() - began} > limits.budget) break;
    const auto before = Clock::now();
    StepDone done{.result = step.run(with_figures)};
    done.took = Clock::now() - before;
    require_sound(experiment, step, done.result);
    if (bench.info.is_virtual || !step.observes)
      for (Finding& finding : done.result.findings) finding.verdict = in_simulation(finding.verdict);
    reproduction.steps.insert_or_assign(std::string(step.id), std::move(done));
    step_done(reproduction, step);
  }
  return std::ranges::all_of(experiment.steps, [&](const Step& s) { return reproduction.steps.contains(s.id); });
}

const Figure* find_figure(const Reproduction& reproduction, std::string_view id) {
  for (const auto& [step, done] : reproduction.steps)
    for (const Figure& figure : done.result.figures)
      if (figure.id == id) return &figure;
  return nullptr;
}

std::vector<StepFinding> findings_of(const Experiment& experiment, const Reproduction& reproduction,
                                     std::string_view claim) {
  std::vector<StepFinding> all;
  for (const Step& step : experiment.steps) {
    const auto done = reproduction.steps.find(step.id);
    if (done == reproduction.steps.end()) continue;
    for (const Finding& finding : done->second.result.findings)
      if (finding.claim == claim) all.push_back({step.id, &finding});
  }
  return all;
}

const Finding* finding_of(const Experiment& experiment, const Reproduction& reproduction, std::string_view claim) {
  const Finding* decides = nullptr;
  for (const StepFinding& found : findings_of(experiment, reproduction, claim))
    if (decides == nullptr || rank_of(found.finding->verdict) >= rank_of(decides->verdict)) decides = found.finding;
  return decides;
}

Json to_json(const Experiment& experiment, const Reproduction& r) {
  Json json{{"schema", formats::reproduction.schema},
            {"version", formats::reproduction.version},
            {"paper", r.paper},
            {"device", r.device},
            {"device_name", r.device_name},
            {"simulated", r.simulated},
            {"quick", r.quick},
            {"conditions", Json::object()},
            {"profile", r.profile},
            {"profile_hash", r.profile_hash},
            {"claims", Json::array()},
            {"plots", Json::array()},
            {"steps", Json::object()}};
  for (const auto& [name, value] : r.conditions) json["conditions"][name] = value;
  for (const Claim& claim : experiment.claims) {
    const Finding* decides = finding_of(experiment, r, claim.id);
    Json findings = Json::array();
    for (const StepFinding& found : findings_of(experiment, r, claim.id)) findings.push_back(json_of(found));
    json["claims"].push_back({{"id", claim.id},
                              {"where", claim.where},
                              {"text", claim.text},
                              {"verdict", decides == nullptr ? Json(nullptr) : Json(to_string(decides->verdict))},
                              {"findings", std::move(findings)}});
  }
  for (document::Plot& plot : plots_of(experiment, r)) json["plots"].push_back(document::to_json(std::move(plot)));
  for (const Step& step : experiment.steps) {
    const auto done = r.steps.find(step.id);
    if (done == r.steps.end()) continue;
    Json& out = json["steps"][std::string(step.id)];
    out = {{"seconds", done->second.took.count()}, {"figures", Json::array()}};
    for (const Figure& figure : done->second.result.figures) out["figures"].push_back(json_of(figure));
  }
  return json;
}

Reproduction load_reproduction(const std::filesystem::path& path) {
  const Json json = read_json_file(path);
  const JsonReader in(json, path.string());
  require_schema(in, formats::reproduction);
  in.only_keys({"schema", "version", "paper", "device", "device_name", "simulated", "quick", "conditions", "profile",
                "profile_hash", "claims", "plots", "steps"});
  Reproduction r{.paper = in.at("paper").string(),
                 .device = in.at("device").string(),
                 .device_name = in.at("device_name").string(),
                 .simulated = in.at("simulated").boolean(),
                 .quick = in.at("quick").boolean(),
                 .conditions = {},
                 .profile = in.at("profile").string(),
                 .profile_hash = in.at("profile_hash").string(),
                 .steps = {}};
  const JsonReader conditions = in.at("conditions");
  for (const auto& [name, value] : conditions.value().items()) r.conditions[name] = conditions.at(name).string();
  const JsonReader steps = in.at("steps");
  for (const auto& [id, value] : steps.value().items()) {
    const JsonReader step = steps.at(id);
    step.only_keys({"seconds", "figures"});
    StepDone done{.result = {}, .took = Seconds{step.at("seconds").non_negative()}};
    const JsonReader figures = step.at("figures");
    for (std::size_t i = 0; i < figures.size(); ++i) done.result.figures.push_back(read_figure(figures.at(i)));
    r.steps.emplace(id, std::move(done));
  }
  // Verdicts of claims and plots are not read, because they follow from the findings and the tables.
  const JsonReader claims = in.at("claims");
  for (std::size_t c = 0; c < claims.size(); ++c) {
    const JsonReader claim = claims.at(c);
    claim.only_keys({"id", "where", "text", "verdict", "findings"});
    const JsonReader findings = claim.at("findings");
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const JsonReader finding = findings.at(i);
      const auto step = r.steps.find(finding.at("step").string());
      if (step == r.steps.end()) finding.at("step").fail("a step that is done");
      step->second.result.findings.push_back(read_finding(finding, claim.at("id").string()));
    }
  }
  return r;
}

void require_same(const Reproduction& before, const Reproduction& now, const std::filesystem::path& file) {
  const auto refuse = [&](std::string_view what, std::string_view then, std::string_view here) {
    throw Error(
        fmt::format("{} holds what was found with another {} ({}, now {}); give another folder with -o, or remove "
                    "the file to begin anew",
                    file.string(), what, then, here));
  };
  const auto effort = [](const Reproduction& r) { return r.quick ? "quick" : "full"; };
  if (before.paper != now.paper) refuse("paper", before.paper, now.paper);
  if (before.device_name != now.device_name) refuse("device", before.device_name, now.device_name);
  if (before.simulated != now.simulated) refuse("kind of device", before.device, now.device);
  if (before.profile_hash != now.profile_hash) refuse("profile", before.profile_hash, now.profile_hash);
  if (before.quick != now.quick) refuse("effort", effort(before), effort(now));
  for (const char* fact : {"gpu.driver", "cuda.runtime_version", "gpu.link"}) {
    const std::string then = condition(before.conditions, fact);
    if (const std::string here = condition(now.conditions, fact); then != here) refuse(fact, then, here);
  }
}

}  // namespace shiplap::experiments
