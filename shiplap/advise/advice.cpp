#include "shiplap/advise/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "shiplap/advise/failed_calls.hpp"
#include "shiplap/advise/initialisation.hpp"
#include "shiplap/advise/limit.hpp"
#include "shiplap/advise/submitted_ops.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/profile/variation.hpp"

namespace shiplap {
namespace {

/// Least half width of an interval, as a fraction. The predictions for eight of ten programs that were changed by hand
/// were closer than this, once what recording costs was taken off (docs/explanation/accuracy.md).
constexpr double least_uncertainty = 0.15;

/// A rule that comes later must make the step shorter than this fraction, or the earlier and simpler one is taken.
constexpr double clearly_faster = 0.995;

/// Where steps hold less of the GPU's work than this, the whole program tells more.
constexpr double least_coverage = 0.5;
/// Where they hold this much, and nothing is to be gained in them, nothing is in the whole program.
constexpr double nearly_all = 0.95;

/// A change of unknown gain for which the recording speaks comes first where at best it saves this fraction of the step
/// or more, and leaves a step that is shorter by this factor than after any change whose gain is predicted.
constexpr double worth_a_bound_first = 0.25;
constexpr double far_shorter = 1.5;

/// Advice for the whole program must save this factor more than that for its steps.
constexpr double clearly_more = 1.2;

/// A change that can be tried.
struct Trial {
  const Rule* rule = nullptr;
  ChangedStep change;
  Seconds simulated{0};     ///< time of the changed step
  Seconds time{0};          ///< the same, in a program that runs once with what changes cost
  Seconds once{0};          ///< what the change costs in a program that runs once
  Seconds once_at_most{0};  ///< the same on a slow host
  bool uses_link = false;   ///< whether the step has copies whose times are those of the profile's link
};

bool uses_link(const SimulatedStep& step) {
  return std::ranges::any_of(step.schedule.ops, [](const Op& op) {
    const auto* copy = std::get_if<Copy>(&op.what);
    return copy != nullptr && copy->measured == Seconds{0};
  });
}

/// Whether a change moves pages at rates of the profile.
bool prefetches(const ProgramStep& step) {
  return std::ranges::find(step.ops, "cudaMemPrefetchAsync", &StepOp::name) != step.ops.end();
}

/// Throws as `simulate` does, when the profile has no figures for the change or the GPU no memory.
std::optional<Trial> tried(const Rule& rule, const ProgramStep& step, const Profile& profile) {
  if (step.once && rule.spans_steps) return std::nullopt;
  std::optional<ChangedStep> change = rule.change(step, profile);
  if (!change) return std::nullopt;
  const SimulatedStep simulated = simulated_step(change->step, profile);
  const Seconds once = step.once ? change->once : Seconds{0};
  const Seconds at_most = step.once ? std::max(once, change->once_at_most) : Seconds{0};
  const bool is_of_link = uses_link(simulated) || prefetches(change->step);
  return Trial{&rule, std::move(*change), simulated.time, simulated.time + once, once, at_most, is_of_link};
}

/// The same without an error: what cannot be predicted is not advised.
std::optional<Trial> tried_if_possible(const Rule& rule, const ProgramStep& step, const Profile& profile) {
  try {
    return tried(rule, step, profile);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string unknown_rule(const std::string& name) {
  std::string known;
  for (const Rule& rule : rules()) known += (known.empty() ? "" : ", ") + std::string(rule.name);
  return fmt::format("`only`: there is no rule {}; the rules are {}", name, known);
}

/// The languages that kernels and the command line tell of.
std::vector<std::string> languages_of(const Recording& recording) {
  bool torch = false, cupy = false, jax = false, directives = false;
  for (const Record& record : recording.records)
    if (const auto* kernel = std::get_if<RecordedKernel>(&record)) {
      torch = torch || kernel->name.find("at::native") != std::string::npos;
      cupy = cupy || kernel->name.starts_with("cupy_");
      jax = jax || kernel->name.find("fusion") != std::string::npos;
      directives = directives || kernel->name.starts_with("nvkernel_") || kernel->name.starts_with("__pgi_uacc_") ||
                   kernel->name.starts_with("__omp_offloading_") || kernel->name.ends_with("_gpu");
    }
  std::vector<std::string> found;
  if (torch) found.emplace_back("PyTorch");
  if (cupy) found.emplace_back("CuPy");
  if (jax && !torch) found.emplace_back("JAX");
  if (found.empty() && recording.program.find("python") != std::string::npos) found = {"PyTorch", "CuPy", "JAX"};
  if (found.empty() && directives) found.emplace_back("OpenMP and OpenACC");
  if (found.empty()) found.emplace_back("CUDA C++");
  return found;
}

/// Takes changes one after the other.
class Advisor {
 public:
  Advisor(Advised& advised, const Profile& profile, const AdviseOptions& options)
      : advised_(advised),
        profile_(profile),
        fast_(at_end(profile, End::low)),
        slow_(at_end(profile, End::high)),
        options_(options),
        step_(advised.step),
        time_(advised.recorded.time) {}

  /// Returns the step with all changes.
  ProgramStep take_all() && {
    if (!options_.only.empty()) {
      take_only();
    } else {
      const bool first = is_bound_far_better();
      for (const bool bounds : {first, !first})
        while (take_best(bounds)) {
        }
    }
    if (advised_.advice.empty())
      advised_.limit += why_not_paid_once() + what_else_would_help(advised_.recorded);
    else
      advised_.advised = simulated_step(step_, profile_);
    return std::move(step_);
  }

 private:
  void take_only() {
    for (const std::string& name : options_.only) {
      const auto rule = std::ranges::find(rules(), name, &Rule::name);
      if (rule == rules().end()) throw UsageError(unknown_rule(name));
      std::optional<Trial> trial = tried(*rule, step_, profile_);
      if (trial) trial->time += paid_;
      if (!trial) throw UsageError(fmt::format("`only`: {} does not apply to this program", name));
      add(*trial);
    }
  }

  /// What a change would save that costs more than it saves in a program that runs once, as a further sentence.
  std::string why_not_paid_once() const {
    for (const Rule& rule : rules()) {
      const std::optional<Trial> trial = rule.enables_others ? tried_if_possible(rule, step_, profile_) : std::nullopt;
      if (!trial) continue;
      const Seconds saved = time_ - trial->simulated;
      if (saved < advised_.recorded.time * options_.least_gain || saved > trial->once) continue;
      return fmt::format(" To {} would save {} each further time, and costs {} once.", rule.name, to_string(saved),
                         to_string(trial->once));
    }
    return "";
  }

  /// Whether a change of unknown gain may leave a far shorter step than any change whose gain is predicted.
  bool is_bound_far_better() const {
    const std::optional<Trial> bound = best_of(true);
    if (!bound || !bound->change.is_likely) return false;
    const std::optional<Trial> predicted = best_of(false);
    return bound->time < (1 - worth_a_bound_first) * time_ &&
           far_shorter * bound->time < (predicted ? predicted->time : time_);
  }

  /// The change that leaves the shortest step, among those whose gain is predicted or those for which it is a bound.
  std::optional<Trial> best_of(bool bounds) const { return best_of(bounds, step_, paid_, {}); }

  std::optional<Trial> best_of(bool bounds, const ProgramStep& step, Seconds paid, const Rule* without) const {
    std::optional<Trial> best;
    for (const Rule& rule : rules()) {
      if (&rule == without || std::ranges::find(taken_, &rule) != taken_.end()) continue;
      if (rule.of_recording && !rule.change(advised_.step, profile_)) continue;
      std::optional<Trial> trial = tried_if_possible(rule, step, profile_);
      if (trial) trial->time += paid;
      if (trial && trial->change.bound == bounds && (!best || trial->time < best->time * clearly_faster))
        best = std::move(trial);
    }
    return best;
  }

  bool is_worth_it(const std::optional<Trial>& trial) const {
    return trial && time_ - trial->time >= advised_.recorded.time * options_.least_gain;
  }

  bool take_best(bool bounds) {
    std::optional<Trial> best = best_of(bounds);
    const bool needs_another = !is_worth_it(best);
    if (needs_another) best = first_of_two(bounds);
    if (!best) return false;
    add(*best);
    if (std::optional<Trial> second = needs_another ? best_of(bounds) : std::nullopt) add(*second);
    return true;
  }

  /// A change that gains too little alone, and enough together with one that it enables.
  std::optional<Trial> first_of_two(bool bounds) const {
    for (const Rule& rule : rules()) {
      if (!rule.enables_others || std::ranges::find(taken_, &rule) != taken_.end()) continue;
      std::optional<Trial> first = tried_if_possible(rule, step_, profile_);
      if (!first) continue;
      first->time += paid_;
      if (is_worth_it(best_of(bounds, first->change.step, paid_ + first->once, &rule))) return first;
    }
    return std::nullopt;
  }

  void add(Trial& best) {
    const std::optional<Trial> alone = tried_if_possible(*best.rule, advised_.step, profile_);
    Advice advice{.rule = std::string(best.rule->name),
                  .what = best.change.what,
                  .allowed_if = best.change.allowed_if,
                  .how = {best.rule->how.begin(), best.rule->how.end()},
                  .once = best.change.once,
                  // What stands on a bound is one.
                  .bound = best.change.bound || (!advised_.advice.empty() && advised_.advice.back().bound),
                  .step = in_program(alone ? *alone : best, Seconds{0}),
                  .needs_before = !alone,
                  .with_before = in_program(best, paid_at_most_ - paid_)};
    advised_.advice.push_back(std::move(advice));
    if (best.uses_link) advised_.link.assumed = options_.link.assumed;
    taken_.push_back(best.rule);
    paid_ += best.once;
    paid_at_most_ += best.once_at_most;
    step_ = std::move(best.change.step);
    time_ = best.time;
  }

  static Profile at_end(Profile profile, End end) {
    for (const ParameterGroup group : parameter_groups) profile = at_interval_end(profile, group, end);
    return profile;
  }

  /// How much longer the changed step may take on a node whose parameters are all at this end of their intervals, as a
  /// fraction of its time.
  double off_at(const Profile& end, const Trial& trial) const {
    return trial.simulated > Seconds{0} ? simulated_step(trial.change.step, end).time / trial.simulated - 1 : 0;
  }

  /// A simulated time as one of the program: what the simulation missed of the recorded step, it misses of others.
  /// `slower_before`: how much more the changes before it cost once on a slow host.
  Interval<Seconds> in_program(const Trial& trial, Seconds slower_before) const {
    const double scale = 1 / (1 + advised_.fidelity);
    const Interval<Seconds>& recorded = advised_.step.time;
    const double spread = recorded.value > Seconds{0} ? (recorded.high - recorded.low) / (recorded.value * 2.0) : 0;
    const auto width = [&](double of_parameters) {
      return std::sqrt(std::pow(advised_.fidelity, 2) + std::pow(spread, 2) + std::pow(least_uncertainty, 2) +
                       std::pow(of_parameters, 2));
    };
    const Seconds value = trial.time * scale;
    return {
        value, value * (1 - std::min(1.0, width(std::min(0.0, off_at(fast_, trial))))),
        value * (1 + width(std::max(0.0, off_at(slow_, trial)))) + slower_before + (trial.once_at_most - trial.once)};
  }

  Advised& advised_;
  const Profile& profile_;
  Profile fast_;
  Profile slow_;
  const AdviseOptions& options_;
  ProgramStep step_;
  Seconds time_;
  Seconds paid_{0};          ///< what the changes cost once, in a program that runs once
  Seconds paid_at_most_{0};  ///< the same on a slow host
  std::vector<const Rule*> taken_;
};

/// The advice for these steps, or none where nothing is known of them.
Advised advice_for(const Recording& recording, const std::optional<Steps>& steps, const Profile& profile,
                   const AdviseOptions& options) {
  Advised advised{};
  advised.program = printable(recording.program);
  advised.gpu = printable(recording.gpu);
  advised.languages = languages_of(recording);
  advised.profile = profile.name;
  advised.link = {.rates = options.link.rates, .assumed = {}, .is_recorded = options.link.is_recorded};
  advised.inferred_waits = recording.has_inferred_waits;
  const std::optional<FailedCalls> failed = failed_calls(recording);
  if (failed) advised.failed = describe(*failed);
  if (failed && failed->are_nearly_all() && steps && steps->once) {
    advised.refused = advised.failed;
    return advised;
  }
  if (!steps) {
    advised.refused = fmt::format("There is no NVTX range \"{}\" with work of a GPU in it.", options.range);
    return advised;
  }
  if (steps->once && steps->ops > options.most_ops_once) {
    advised.refused = fmt::format(
        "Nothing repeats in {} copies and kernels, which are too many for one step. {}, or record a "
        "shorter time.",
        steps->ops,
        options.range.empty() ? "Name a step by an NVTX range (`range`)"
                              : "Name a shorter NVTX range, one that repeats (`range`)");
    return advised;
  }
  advised.step = program_step(recording, *steps);
  advised.coverage = steps->coverage;
  advised.levels = steps->levels;
  const Initialisation initialisation = initialisation_of(recording);
  if (advised.step.once)
    for (const Rule& rule : rules())
      if (rule.spans_steps) advised.left_out.emplace_back(rule.name);
  advised.initialisation = initialisation.before_work + initialisation.in_first_calls;
  if (advised.step.ops.empty() || advised.step.time.value <= Seconds{0}) {
    advised.refused =
        "The calls of the steps were not recorded, so nothing is known of the host. " + what_the_gpu_did(recording);
    return advised;
  }
  advised.recorded = simulated_step(advised.step, profile);
  advised.fidelity = advised.recorded.time / advised.step.time.value - 1;
  advised.limit = limit_of(advised.recorded, advised.step, profile);
  const double ops_per_second = static_cast<double>(advised.step.ops.size()) / advised.step.time.value.count();
  advised.slowed_by_recording = advised.fidelity < 0 && ops_per_second > options.ops_per_second;
  const double shortest = advised.slowed_by_recording ? options.largest_slowdown : options.largest_infidelity;
  if (!(advised.fidelity <= options.largest_infidelity && advised.fidelity >= -shortest)) {
    advised.refused = fmt::format(
        "The step takes {} in the simulation and {} in the recording ({:+.0f} %). Advice would "
        "be as wrong.",
        to_string(advised.recorded.time), to_string(advised.step.time.value), advised.fidelity * 100);
    return advised;
  }
  const ProgramStep after = Advisor(advised, profile, options).take_all();
  if (advised.advised) advised.limit = limit_of(*advised.advised, after, profile);
  return advised;
}

/// Whether a step has a few small copies and nothing else to copy: those of many steps may be one copy.
bool copies_little(const ProgramStep& step) {
  const auto copies = static_cast<std::size_t>(std::ranges::count_if(step.ops, is_copy));
  return copies > 0 && copies < fewest_batched && step.repeats >= fewest_batched &&
         std::ranges::all_of(step.ops, [&](const StepOp& op) { return !is_copy(op) || op.size <= small_copy; });
}

/// What all advice together saves in the whole recording.
Seconds saved_by(const Advised& advised) {
  if (advised.advice.empty()) return Seconds{0};
  return (advised.step.time.value - advised.advice.back().with_before.value) *
         static_cast<double>(advised.step.repeats);
}

}  // namespace

Advised advise(const Recording& recording, const Profile& profile, const AdviseOptions& options) {
  if (submitted_order(recording).empty())
    throw Error("the recording has no copy and no kernel: the program did not use a GPU while it was recorded");
  const std::optional<Steps> steps = find_steps(recording, options.range);
  if (!options.range.empty()) return advice_for(recording, steps, profile, options);
  const std::optional<Steps> whole = whole_program(recording);
  if (!steps) return advice_for(recording, whole, profile, options);
  const bool may_be_whole = steps->coverage < nearly_all && whole->ops <= options.most_ops_once && options.only.empty();
  if (may_be_whole && steps->coverage < least_coverage) return advice_for(recording, whole, profile, options);
  Advised of_steps = advice_for(recording, steps, profile, options);
  const bool is_tiny = whole->ops <= options.most_ops_once && options.only.empty() && copies_little(of_steps.step);
  if (!is_tiny && !(may_be_whole && of_steps.advice.empty())) return of_steps;
  Advised of_whole = advice_for(recording, whole, profile, options);
  return saved_by(of_whole) > clearly_more * saved_by(of_steps) ? of_whole : of_steps;
}

}  // namespace shiplap
