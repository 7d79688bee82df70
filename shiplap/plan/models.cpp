#include "shiplap/plan/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/core/quantity_json.hpp"
#include "shiplap/model/gomez_luna_2012.hpp"
#include "shiplap/model/roofline.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"
#include "shiplap/plan/variation.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {
namespace {

using van_werkhoven_2014::Category;

constexpr const char* van_werkhoven = "van-werkhoven-2014";
constexpr const char* gomez_luna = "gomez-luna-2012";
constexpr const char* roofline_model = "roofline";

ModelPrediction without_form(std::string model, std::string why) {
  return {.model = std::move(model), .form = {}, .time = std::nullopt, .why_not = std::move(why)};
}

ModelPrediction by_simulation(const Candidate& c) {
  if (c.predicted_by != PredictedBy::simulation) return without_form("simulation", c.why_not_simulated);
  const auto busy = [&](Engine e) { return busy_time(c.timeline, e); };
  return {.model = "simulation",
          .form = "simulation",
          .time = c.predicted.value,
          .why_not = {},
          .parts = {.in = busy(Engine::copy_h2d) + busy(Engine::copy_shared),
                    .kernel = busy(Engine::compute),
                    .out = busy(Engine::copy_d2h),
                    .fixed = c.distance.latency + c.distance.gap + c.distance.duplex_gap,
                    .submission = c.distance.submission}};
}

ModelPrediction::Parts parts_of(const van_werkhoven_2014::Work& w, std::uint32_t chunks) {
  return {.in = w.in * w.h2d.per_byte,
          .kernel = w.kernel,
          .out = w.out * w.d2h.per_byte,
          .fixed = w.h2d.latency_overhead + w.d2h.latency_overhead + (w.h2d.gap + w.d2h.gap) * (chunks - 1.0)};
}

const char* form_of(Category category) {
  switch (category) {
    case Category::implicit_sync_one_engine:
      return "max(eq 1, eq 2)";
    case Category::one_engine:
      return "max(eq 3, eq 4)";
    case Category::two_engines:
      break;
  }
  return "eq 5";
}

void add_van_werkhoven(const Job& job, const Profile& profile, const Choice& choice,
                       std::vector<ModelPrediction>& models) {
  const std::string printed = std::string(van_werkhoven) + " as printed";
  const auto category = paper_category(profile.gpus.front(), choice);
  const bool hybrid = choice.strategy == "hybrid";
  const std::uint32_t chunks = hybrid || choice.strategy == "streams" ? choice.chunks : 1;
  // A strategy has an equation for equal chunks and kernels with their own grid.
  Choice level = choice;
  level.ramp = {};
  level.blocks = 0;
  const auto form = find_strategy(choice.strategy).predict(job, level, profile);
  // The strategy `hybrid` copies in both directions at the same time on every device.
  const bool overlapping = hybrid || (choice.strategy == "streams" && category == Category::two_engines);
  const auto work = paper_parameters(job, chunks, profile, overlapping);
  if (choice.strategy == "hybrid-mirror" || find_strategy(choice.strategy).memory != ArrayMemory::pinned)
    return models.push_back(without_form(van_werkhoven, fmt::format("the paper has no {}", choice.strategy)));
  if (!form || !work)
    return models.push_back(without_form(
        van_werkhoven, category ? "the profile has no link, or the kernel no cost"
                                : "no form for copies that are held until the last kernel has started, or for "
                                  "this order of submission"));
  const auto add = [&](std::string model, std::string equation, Seconds time) {
    models.push_back({.model = std::move(model),
                      .form = std::move(equation),
                      .time = time,
                      .why_not = {},
                      .parts = parts_of(*work, chunks)});
  };
  if (choice.strategy == "explicit") {
    add(van_werkhoven, "eqs 1, 2, 3, 5 at n = 1", *form);
  } else if (choice.strategy == "streams") {
    add(van_werkhoven, form_of(*category), *form);
    add(printed, "by tE > Thd", van_werkhoven_2014::as_printed::streams_time(*work, chunks, *category));
  } else if (choice.strategy == "implicit") {
    add(van_werkhoven, "eq 6", *form);
  } else {
    add(van_werkhoven, "two stages", van_werkhoven_2014::hybrid_time(*work, chunks));
    add(printed, "eq 5", *form);
  }
}

void add_gomez_luna(const Job& job, const Profile& profile, const Choice& choice,
                    std::vector<ModelPrediction>& models) {
  using namespace gomez_luna_2012;
  if (choice.strategy != "streams") return models.push_back(without_form(gomez_luna, "the paper has streams only"));
  const auto category = paper_category(profile.gpus.front(), choice);
  if (!category || category == Category::two_engines)
    return models.push_back(without_form(gomez_luna, "the paper has GPUs with one copy engine only"));
  const auto calls = profile.host ? profile.host->calls.find("create stream") : decltype(profile.host->calls.end()){};
  const bool known = profile.host && calls != profile.host->calls.end();
  const auto work = paper_parameters(job, 1, profile, false);
  if (!work || !known) return models.push_back(without_form(gomez_luna, "needs t_sc, what making a stream costs"));
  const gomez_luna_2012::Work w{
      .times = {.h2d = work->in * work->h2d.per_byte, .kernel = work->kernel, .d2h = work->out * work->d2h.per_byte},
      .per_stream = time_at(calls->second, 1_B)};
  const bool sync = category == Category::implicit_sync_one_engine;
  const Architecture architecture = sync ? Architecture::cc2 : Architecture::cc1;
  models.push_back(
      {.model = gomez_luna,
       .form = sync ? "eqs 5 and 7, continuous" : "eqs 1 and 3, continuous",
       .time = streamed_time(w, choice.chunks, architecture),
       .why_not = {},
       .parts = {
           .in = w.times.h2d, .kernel = w.times.kernel, .out = w.times.d2h, .fixed = w.per_stream * choice.chunks}});
}

void add_roofline(const Job& job, const Profile& profile, const Choice& choice, std::vector<ModelPrediction>& models) {
  const GpuModel& gpu = profile.gpus.front();
  if (find_strategy(choice.strategy).memory != ArrayMemory::pinned)
    return models.push_back(without_form(roofline_model, "the paper knows pinned memory only"));
  if (job.flops <= 0 || profile.links.empty() || !gpu.flop_rate || !gpu.memory_bandwidth)
    return models.push_back(
        without_form(roofline_model, "needs the flops of the workload, and the GPU's peak and bandwidth"));
  const LinkModel& link = profile.links.front();
  const roofline::Machine machine{.flop_rate = gpu.flop_rate->value,
                                  .memory = gpu.memory_bandwidth->value,
                                  .h2d = bandwidth(link.h2d.per_byte.value),
                                  .d2h = bandwidth(link.d2h.per_byte.value)};
  const roofline::Traffic traffic{.flops = job.flops,
                                  .reads = job.device_traffic / 2,
                                  .writes = job.device_traffic - job.device_traffic / 2,
                                  .in = bytes_in(job),
                                  .out = bytes_out(job)};
  const auto [form, rate] = [&]() -> std::pair<const char*, double> {
    if (choice.strategy == "explicit") return {"zero overlap", roofline::zero_overlap(machine, traffic)};
    if (choice.strategy == "implicit") return {"mapped", roofline::zero_copy(machine, traffic)};
    return {"full overlap", roofline::full_overlap(machine, traffic)};
  }();
  models.push_back({.model = roofline_model,
                    .form = form,
                    .time = Seconds{job.flops / rate},
                    .why_not = {},
                    .parts = {.in = traffic.in / machine.h2d,
                              .kernel = Seconds{job.flops / roofline::plain(machine, traffic)},
                              .out = traffic.out / machine.d2h}});
}

Job with_slower_kernel(Job job, double factor) {
  for (auto& point : job.cost.points) point.work.value *= factor;
  for (auto& limited : job.cost.limited) limited.work.value *= factor;
  return job;
}

std::vector<Elasticity> elasticities(const Job& job, const Profile& profile, const Choice& choice,
                                     const Limits& limits) {
  constexpr double step = 0.01;
  const Strategy& strategy = find_strategy(choice.strategy);
  const auto time = [&](const Job& j, const Profile& p) {
    return simulate(strategy.schedule(j, choice, limits), p).timeline.makespan;
  };
  const Seconds now = time(job, profile);
  std::vector<Elasticity> all{{"the kernel itself", (time(with_slower_kernel(job, 1 + step), profile) -
                                                     time(with_slower_kernel(job, 1 - step), profile)) /
                                                        (2 * step * now)}};
  for (const CostTerm term : cost_terms) {
    if (term == CostTerm::blocks && !has_blocks(job)) continue;
    all.push_back(
        {to_string(term),
         (time(job, slowed(profile, term, 1 + step)) - time(job, slowed(profile, term, 1 - step))) / (2 * step * now)});
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Elasticity::value);
  return all;
}

}  // namespace

std::vector<ModelPrediction> model_predictions(const Job& job, const Profile& profile, const Candidate& candidate) {
  std::vector<ModelPrediction> models{by_simulation(candidate)};
  if (candidate.choice.gpus > 1 || has_blocks(job)) {
    const char* reason =
        has_blocks(job) ? "the papers have equations for contiguous copies" : "the papers have equations for one GPU";
    for (const auto& paper : {van_werkhoven, gomez_luna, roofline_model}) models.push_back(without_form(paper, reason));
    return models;
  }
  add_van_werkhoven(job, profile, candidate.choice, models);
  add_gomez_luna(job, profile, candidate.choice, models);
  add_roofline(job, profile, candidate.choice, models);
  return models;
}

ModelComparison compare_models(const Job& job, const Profile& profile, const Choice& choice, const Limits& limits) {
  const Candidate candidate = predict(job, profile, choice, limits);
  return {.choice = choice,
          .simulation = candidate.predicted,
          .models = model_predictions(job, profile, candidate),
          .elasticities = candidate.predicted_by == PredictedBy::simulation ? elasticities(job, profile, choice, limits)
                                                                            : std::vector<Elasticity>{}};
}

Json to_json(const ModelComparison& comparison) {
  Json models = Json::array();
  for (const ModelPrediction& m : comparison.models) {
    Json model{{"model", m.model}};
    if (m.time) {
      model["form"] = m.form;
      model["time"] = quantity_json(m.time);
      model["parts"] = {{"in", quantity_json(m.parts.in)},
                        {"kernel", quantity_json(m.parts.kernel)},
                        {"out", quantity_json(m.parts.out)},
                        {"fixed", quantity_json(m.parts.fixed)},
                        {"submission", quantity_json(m.parts.submission)}};
    } else {
      model["why_not"] = m.why_not;
    }
    models.push_back(std::move(model));
  }
  Json elasticities = Json::array();
  for (const Elasticity& e : comparison.elasticities)
    elasticities.push_back({{"quantity", e.quantity}, {"elasticity", e.value}});
  return {{"choice", to_json(comparison.choice)},
          {"predicted", quantity_json(comparison.simulation)},
          {"models", std::move(models)},
          {"elasticities", std::move(elasticities)}};
}

}  // namespace shiplap
