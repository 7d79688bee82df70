#include "shiplap/plan/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shiplap/model/gomez_luna_2012.hpp"
#include "shiplap/model/papers.hpp"
#include "shiplap/model/roofline.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"
#include "shiplap/profile/variation.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {
namespace {

using van_werkhoven_2014::Category;

using papers::gomez_luna;
using papers::van_werkhoven;
constexpr const char* as_printed = "van-werkhoven-2014 as printed";
constexpr const char* roofline_model = "roofline";

ModelPrediction without_form(std::string model, std::string why) {
  return {.model = std::move(model), .form = {}, .time = std::nullopt, .assumption = {}, .why_not = std::move(why)};
}

ModelPrediction by_simulation(const Candidate& c) {
  if (c.predicted_by != PredictedBy::simulation) return without_form("simulation", c.why_not_simulated);
  const auto busy = [&](Engine e) { return busy_time(c.timeline, e); };
  return {.model = "simulation",
          .form = "simulation",
          .time = c.predicted.value,
          .assumption = {},
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

/// The reason why the papers have no form for several chunks on this GPU.
std::string why_no_category(const GpuModel& gpu, const Choice& choice) {
  if (choice.chunks > 1 && choice.order != IssueOrder::breadth)
    return "the forms for one copy engine and for implicit synchronisation hold for breadth-first submission";
  return fmt::format("no form for GPUs such as {}, which holds copies until the last kernel has started", gpu.name);
}

/// The forms of one strategy of van Werkhoven et al. 2014.
class VanWerkhoven {
 public:
  VanWerkhoven(const Job& job, const Profile& profile, const Choice& choice, std::vector<ModelPrediction>& models)
      : job_(job), profile_(profile), choice_(choice), models_(models) {}

  void add() const {
    const Strategy& strategy = find_strategy(choice_.strategy);
    const bool is_in_paper = strategy.memory == ArrayMemory::pinned && strategy.form_error.has_value();
    if (is_in_paper && !paper_parameters(job_, 1, profile_, false))
      return lacks(van_werkhoven, "the profile has no link, or the kernel no cost");
    if (is_in_paper && strategy.name == "streams") return add_streams();
    const auto form = is_in_paper ? strategy.closed_form(job_, choice_, profile_) : std::nullopt;
    if (!form) return lacks(van_werkhoven, fmt::format("the paper has no {}", choice_.strategy));
    if (strategy.name == "hybrid") return add_hybrid(*form);
    has(van_werkhoven, strategy.name == "explicit" ? "eqs 1, 2, 3, 5 at n = 1" : "eq 6", *form,
        strategy.zero_copy ? *implicit_parameters(job_, profile_) : *paper_parameters(job_, 1, profile_, false), 1);
  }

 private:
  void has(const std::string& model, std::string equation, const ClosedForm& form, const van_werkhoven_2014::Work& work,
           std::uint32_t chunks) const {
    models_.push_back({.model = model,
                       .form = std::move(equation),
                       .time = form.time,
                       .assumption = form.assumption,
                       .why_not = {},
                       .parts = parts_of(work, chunks)});
    if (model != as_printed) models_.back().parts.fixed += time_of_copies_once(job_, profile_);
  }
  void lacks(std::string model, std::string why) const {
    models_.push_back(without_form(std::move(model), std::move(why)));
  }

  void add_streams() const {
    const auto category = paper_category(profile_.gpus.front(), choice_);
    if (!category) return lacks(van_werkhoven, why_no_category(profile_.gpus.front(), choice_));
    const std::uint32_t chunks = choice_.chunks;
    const auto work = *paper_parameters(job_, chunks, profile_, *category == Category::two_engines);
    const ClosedForm form = find_strategy("streams").closed_form(job_, choice_, profile_).value();
    has(van_werkhoven, form_of(*category), form, work, chunks);
    const Seconds time = van_werkhoven_2014::as_printed::streams_time(work, chunks, *category);
    std::vector<std::string> assumptions = assumptions_of_chunks(choice_);
    if (time < streams_time(work, chunks, *category))
      assumptions.emplace_back("the longer one of the paper's two scenarios does not count");
    has(as_printed, "by tE > Thd", closed_form_as_printed(job_, profile_, time, std::move(assumptions)), work, chunks);
  }

  void add_hybrid(const ClosedForm& form) const {
    const std::uint32_t chunks = choice_.chunks;
    has(van_werkhoven, "two stages", form, *hybrid_parameters(job_, choice_, profile_), chunks);
    const auto mapped = explicit_mapped(profile_);
    if (!mapped)
      return lacks(
          as_printed,
          fmt::format("profile {} lacks the rates of copies while a kernel writes host memory, so there is no G "
                      "of Table II; measure the node",
                      profile_.name));
    const auto work = slowed_throughout(*paper_parameters(job_, chunks, profile_, false), *mapped);
    std::vector<std::string> assumptions = assumptions_of_chunks(choice_);
    if (choice_.max_grid > 0) assumptions.emplace_back("the kernel has its own grid");
    const Seconds time = van_werkhoven_2014::as_printed::hybrid_time(work, chunks);
    has(as_printed, "eq 5", closed_form_as_printed(job_, profile_, time, std::move(assumptions)), work, chunks);
  }

  const Job& job_;
  const Profile& profile_;
  const Choice& choice_;
  std::vector<ModelPrediction>& models_;
};

void add_gomez_luna(const Job& job, const Profile& profile, const Choice& choice,
                    std::vector<ModelPrediction>& models) {
  using namespace gomez_luna_2012;
  if (choice.strategy != "streams") return models.push_back(without_form(gomez_luna, "the paper has streams only"));
  const auto category = paper_category(profile.gpus.front(), choice);
  if (category == Category::two_engines)
    return models.push_back(without_form(gomez_luna, "the paper has GPUs with one copy engine only"));
  if (!category) return models.push_back(without_form(gomez_luna, why_no_category(profile.gpus.front(), choice)));
  const std::optional<Seconds> per_stream = cost_of_stream(profile);
  const auto work = paper_parameters(job, 1, profile, false);
  if (!work || !per_stream) return models.push_back(without_form(gomez_luna, "needs t_sc, what making a stream costs"));
  const gomez_luna_2012::Work w{.times = {.h2d = transfer(work->h2d, work->in, 1),
                                          .kernel = work->kernel,
                                          .d2h = transfer(work->d2h, work->out, 1)},
                                .per_stream = *per_stream};
  const bool sync = category == Category::implicit_sync_one_engine;
  const Architecture architecture = sync ? Architecture::cc2 : Architecture::cc1;
  const ClosedForm form =
      closed_form(job, profile, streamed_time(w, choice.chunks, architecture), assumptions_of_chunks(choice));
  models.push_back(
      {.model = gomez_luna,
       .form = sync ? "eqs 5 and 7, continuous" : "eqs 1 and 3, continuous",
       .time = form.time,
       .assumption = form.assumption,
       .why_not = {},
       .parts = {
           .in = w.times.h2d, .kernel = w.times.kernel, .out = w.times.d2h, .fixed = w.per_stream * choice.chunks}});
}

/// The bytes of the arrays that a kernel reads and writes in device memory, each counted once.
Bytes bytes_of_arrays(const Job& job) {
  Bytes sum;
  for (const Array& array : job.arrays) {
    if (array.role == Role::scratch) continue;
    if (array.role != Role::out) sum += size_on_host(array);
    if (is_written(array.role)) sum += size_on_host(array);
  }
  return sum;
}

/// The kernel's traffic and the bytes of the job. A job states only the sum of the kernel's reads and writes
/// (`device_traffic`). Reads and writes are those of the arrays that are cut into chunks, which cross the link with
/// zero-copy. Where the kernel accesses more bytes than all arrays have, all arrays are accessed equally often.
roofline::Traffic traffic_of(const Job& job) {
  const double arrays = in_bytes(bytes_of_arrays(job));
  const double times = arrays > 0 ? std::max(1.0, in_bytes(job.device_traffic) / arrays) : 1;
  const auto accessed = [&](Bytes once) { return Bytes{static_cast<std::uint64_t>(in_bytes(once) * times)}; };
  return {.flops = job.flops,
          .reads = accessed(bytes_in(job)),
          .writes = accessed(bytes_out(job)),
          .in = bytes_in(job),
          .out = bytes_out(job)};
}

/// The traffic of the job with all bytes that the kernel accesses in device memory, also those of arrays that stay on
/// the GPU. Only the sum of reads and writes counts there.
roofline::Traffic in_device_memory(const Job& job) {
  roofline::Traffic traffic = traffic_of(job);
  traffic.reads = job.device_traffic;
  traffic.writes = {};
  return traffic;
}

void add_roofline(const Job& job, const Profile& profile, const Choice& choice, std::vector<ModelPrediction>& models) {
  const GpuModel& gpu = profile.gpus.front();
  if (find_strategy(choice.strategy).memory != ArrayMemory::pinned)
    return models.push_back(without_form(roofline_model, "the paper knows pinned memory only"));
  const LinkModel* const link = profile.find_link(0);
  if (job.flops <= 0 || link == nullptr || !gpu.flop_rate || !gpu.memory_bandwidth)
    return models.push_back(
        without_form(roofline_model, "needs the flops of the workload, and the GPU's peak and bandwidth"));
  const roofline::Machine machine{.flop_rate = gpu.flop_rate->value,
                                  .memory = gpu.memory_bandwidth->value,
                                  .h2d = bandwidth(link->h2d.per_byte.value),
                                  .d2h = bandwidth(link->d2h.per_byte.value)};
  const roofline::Traffic traffic = in_device_memory(job);
  const auto [form, rate] = [&]() -> std::pair<const char*, double> {
    if (choice.strategy == "explicit") return {"zero overlap", roofline::zero_overlap(machine, traffic)};
    if (choice.strategy == "implicit") return {"mapped", roofline::zero_copy(machine, traffic_of(job))};
    return {"full overlap", roofline::full_overlap(machine, traffic)};
  }();
  models.push_back({.model = roofline_model,
                    .form = form,
                    .time = Seconds{job.flops / rate},
                    .assumption = "the kernel and each direction of the link reach their peak rates, and nothing else "
                                  "takes time",
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
  VanWerkhoven(job, profile, candidate.choice, models).add();
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

}  // namespace shiplap
