#include "experiments/reproduction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "experiments/curves.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"

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
  return {{.paper = std::string(experiment.name),
           .device = bench.info.id,
           .device_name = bench.info.name,
           .simulated = bench.info.is_virtual,
           .quick = bench.quick,
           .conditions = bench.info.conditions,
           .profile = bench.profile.name,
           .profile_hash = parameter_hash(bench.profile)},
          {}};
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

const Finding* finding_of(const Experiment& experiment, const Reproduction& reproduction, std::string_view claim) {
  const Finding* decides = nullptr;
  for (const Step& step : experiment.steps) {
    const auto done = reproduction.steps.find(step.id);
    if (done == reproduction.steps.end()) continue;
    for (const Finding& finding : done->second.result.findings)
      if (finding.claim == claim && (decides == nullptr || rank_of(finding.verdict) >= rank_of(decides->verdict)))
        decides = &finding;
  }
  return decides;
}

ReproductionView reproduction_view(const Experiment& experiment, const Reproduction& r) {
  ReproductionView view{r, {}, plots_of(experiment, r), {}};
  for (const Claim& claim : experiment.claims) {
    ClaimView& shown = view.claims.emplace_back(
        ClaimView{.id = std::string(claim.id), .where = std::string(claim.where), .text = std::string(claim.text)});
    if (const Finding* decides = finding_of(experiment, r, claim.id)) shown.verdict = decides->verdict;
  }
  for (const Step& step : experiment.steps) {
    const auto done = r.steps.find(step.id);
    if (done == r.steps.end()) continue;
    const StepResult& result = done->second.result;
    view.steps.push_back({.id = std::string(step.id), .seconds = done->second.took.count(), .figures = result.figures});
    for (const Finding& found : result.findings)
      if (const auto claim = std::ranges::find(view.claims, found.claim, &ClaimView::id); claim != view.claims.end())
        claim->findings.push_back(
            {.step = std::string(step.id), .verdict = found.verdict, .observed = found.observed, .why = found.why});
  }
  return view;
}

Reproduction load_reproduction(const std::filesystem::path& path) {
  const Json json = read_json_file(path);
  ReproductionView view = Form<ReproductionView>::read(JsonReader(json, path.string()));
  Reproduction r{std::move(static_cast<ReproductionSetting&>(view)), {}};
  for (StepView& step : view.steps)
    r.steps.emplace(step.id, StepDone{.result = {.figures = std::move(step.figures), .findings = {}},
                                      .took = Seconds{step.seconds}});
  // Verdicts of claims and plots follow from the findings and the tables.
  for (ClaimView& claim : view.claims)
    for (FindingView& found : claim.findings)
      r.steps.at(found.step)
          .result.findings.push_back({.claim = claim.id,
                                      .verdict = found.verdict,
                                      .observed = std::move(found.observed),
                                      .why = std::move(found.why)});
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
