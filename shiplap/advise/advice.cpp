#include "shiplap/advise/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "shiplap/advise/initialisation.hpp"
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
/// or more, and so many times as much as any change whose gain is predicted.
constexpr double worth_a_bound_first = 0.25;
constexpr double far_better = 1.5;

/// A change that can be tried.
struct Trial {
  const Rule* rule = nullptr;
  ChangedStep change;
  Seconds simulated{0};    ///< time of the changed step
  Seconds time{0};         ///< the same, in a program that runs once with what changes cost
  bool uses_link = false;  ///< whether the step has copies whose times are those of the profile's link
};

bool uses_link(const SimulatedStep& step) {
  return std::ranges::any_of(step.schedule.ops, [](const Op& op) {
    const auto* copy = std::get_if<Copy>(&op.what);
    return copy != nullptr && copy->measured == Seconds{0};
  });
}

/// Throws as `simulate` does, when the profile has no figures for the change or the GPU no memory.
std::optional<Trial> tried(const Rule& rule, const ProgramStep& step, const Profile& profile) {
  if (step.once && rule.spans_steps) return std::nullopt;
  std::optional<ChangedStep> change = rule.change(step, profile);
  if (!change) return std::nullopt;
  const SimulatedStep simulated = simulated_step(change->step, profile);
  const Seconds once = step.once ? change->once : Seconds{0};
  return Trial{&rule, std::move(*change), simulated.time, simulated.time + once, uses_link(simulated)};
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
  bool torch = false, cupy = false, jax = false;
  for (const Record& record : recording.records)
    if (const auto* kernel = std::get_if<RecordedKernel>(&record)) {
      torch = torch || kernel->name.find("at::native") != std::string::npos;
      cupy = cupy || kernel->name.starts_with("cupy_");
      jax = jax || kernel->name.find("fusion") != std::string::npos;
    }
  std::vector<std::string> found;
  if (torch) found.emplace_back("PyTorch");
  if (cupy) found.emplace_back("CuPy");
  if (jax && !torch) found.emplace_back("JAX");
  if (found.empty() && recording.program.find("python") != std::string::npos) found = {"PyTorch", "CuPy", "JAX"};
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
    if (!advised_.advice.empty()) advised_.advised = simulated_step(step_, profile_);
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

  /// Whether a change of unknown gain may save far more than any change whose gain is predicted.
  bool is_bound_far_better() const {
    const std::optional<Trial> bound = best_of(true);
    if (!bound || !bound->change.is_likely) return false;
    const std::optional<Trial> predicted = best_of(false);
    const Seconds saved = predicted ? time_ - predicted->time : Seconds{0};
    return time_ - bound->time > std::max(far_better * saved, worth_a_bound_first * time_);
  }

  /// The change that leaves the shortest step, among those whose gain is predicted or those for which it is a bound.
  std::optional<Trial> best_of(bool bounds) const {
    std::optional<Trial> best;
    for (const Rule& rule : rules()) {
      if (std::ranges::find(taken_, &rule) != taken_.end()) continue;
      if (rule.of_recording && !rule.change(advised_.step, profile_)) continue;
      std::optional<Trial> trial = tried_if_possible(rule, step_, profile_);
      if (trial) trial->time += paid_;
      if (trial && trial->change.bound == bounds && (!best || trial->time < best->time * clearly_faster))
        best = std::move(trial);
    }
    return best;
  }

  bool take_best(bool bounds) {
    std::optional<Trial> best = best_of(bounds);
    if (!best || time_ - best->time < advised_.recorded.time * options_.least_gain) return false;
    add(*best);
    return true;
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
                  .step = in_program(alone ? *alone : best),
                  .needs_before = !alone,
                  .with_before = in_program(best)};
    advised_.advice.push_back(std::move(advice));
    if (best.uses_link) advised_.link.assumed = options_.link.assumed;
    taken_.push_back(best.rule);
    if (step_.once) paid_ += best.change.once;
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
  Interval<Seconds> in_program(const Trial& trial) const {
    const double scale = 1 / (1 + advised_.fidelity);
    const Interval<Seconds>& recorded = advised_.step.time;
    const double spread = recorded.value > Seconds{0} ? (recorded.high - recorded.low) / (recorded.value * 2.0) : 0;
    const auto width = [&](double of_parameters) {
      return std::sqrt(std::pow(advised_.fidelity, 2) + std::pow(spread, 2) + std::pow(least_uncertainty, 2) +
                       std::pow(of_parameters, 2));
    };
    const Seconds value = trial.time * scale;
    return {value, value * (1 - std::min(1.0, width(std::min(0.0, off_at(fast_, trial))))),
            value * (1 + width(std::max(0.0, off_at(slow_, trial))))};
  }

  Advised& advised_;
  const Profile& profile_;
  Profile fast_;
  Profile slow_;
  const AdviseOptions& options_;
  ProgramStep step_;
  Seconds time_;
  Seconds paid_{0};  ///< what the changes cost once, in a program that runs once
  std::vector<const Rule*> taken_;
};

/// The name of a kernel without its parameters and those of its template: "add" for "void add<float>(float*, int)".
std::string_view without_parameters(std::string_view name) {
  constexpr std::string_view result = "void ";
  if (name.starts_with(result)) name.remove_prefix(result.size());
  return name.substr(0, std::max<std::size_t>(1, name.find_first_of("<(")));
}

/// The kernel that takes longest, where it has fewer blocks than the GPU has SMs; "" where it fills the GPU.
std::string few_blocks(const ProgramStep& step, const Profile& profile) {
  const StepOp* longest = nullptr;
  for (const StepOp& op : step.ops)
    if (op.kind == StepOp::Kind::kernel && (longest == nullptr || op.time > longest->time)) longest = &op;
  if (longest == nullptr || !longest->is_one_kernel || profile.gpus.empty()) return "";
  const unsigned sms = profile.gpus.front().sm_count;
  if (longest->grid >= sms) return "";
  const auto counted = [](std::uint64_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  return fmt::format(" The longest, {}, has {} of {} for {} SMs: with more it would be faster.",
                     without_parameters(longest->name), counted(longest->grid, "block"),
                     counted(longest->threads, "thread"), sms);
}

/// The part of the host's time in a step that it spends in calls of CUDA and not in the program's own code.
double part_in_calls(const ProgramStep& step) {
  Seconds calls{0}, own{0};
  for (const StepOp& op : step.ops) {
    calls += op.call + op.returning + op.allocating;
    own += op.host_before - op.allocating;
  }
  return calls > Seconds{0} ? calls / (calls + own) : 0;
}

std::string limit_of(const SimulatedStep& step, const ProgramStep& program, const Profile& profile) {
  const Timeline& timeline = step.timeline;
  const auto busy = [&](Engine engine) {
    return timeline.makespan > Seconds{0} ? busy_time(timeline, engine) / timeline.makespan : 0;
  };
  const double kernels = busy(Engine::compute);
  const double in = busy(Engine::copy_h2d);
  const double out = busy(Engine::copy_d2h);
  const double host = busy(Engine::host);
  const double most = std::max({kernels, in, out, host});
  if (most == kernels)
    return fmt::format("Kernels are busy for {:.0f} % of the time.{}", kernels * 100, few_blocks(program, profile));
  if (most == host) {
    const double calls = part_in_calls(program);
    return fmt::format("The host is busy for {:.0f} % of the time, {:.0f} % of it in calls of CUDA{}.", host * 100,
                       calls * 100,
                       calls < 0.5 ? " and the rest in the program's own code"
                                   : ": fewer and larger kernels and copies, or a graph of them, would take less");
  }
  return fmt::format("Copies {} are busy for {:.0f} % of the time.", in > out ? "to the GPU" : "to the host",
                     std::max(in, out) * 100);
}

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
  advised.initialisation = initialisation.before_work + initialisation.in_launches;
  if (advised.step.ops.empty() || advised.step.time.value <= Seconds{0}) {
    advised.refused = "The calls of the steps were not recorded, so nothing is known of the host.";
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
  if (!may_be_whole || !of_steps.advice.empty()) return of_steps;
  Advised of_whole = advice_for(recording, whole, profile, options);
  return of_whole.advice.empty() ? of_steps : of_whole;
}

}  // namespace shiplap
