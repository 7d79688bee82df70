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

  void take_all() {
    if (!options_.only.empty()) {
      take_only();
    } else {
      while (take_best(false)) {
      }
      while (take_best(true)) {
      }
    }
    if (!advised_.advice.empty()) advised_.advised = simulated_step(step_, profile_);
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

  bool take_best(bool bounds) {
    std::optional<Trial> best;
    for (const Rule& rule : rules()) {
      if (std::ranges::find(taken_, &rule) != taken_.end()) continue;
      if (rule.of_recording && !rule.change(advised_.step, profile_)) continue;
      std::optional<Trial> trial = tried_if_possible(rule, step_, profile_);
      if (trial) trial->time += paid_;
      if (trial && trial->change.bound == bounds && (!best || trial->time < best->time * clearly_faster))
        best = std::move(trial);
    }
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
                  .bound = best.change.bound,
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

std::string limit_of(const SimulatedStep& step) {
  const Timeline& timeline = step.timeline;
  const auto busy = [&](Engine engine) {
    return timeline.makespan > Seconds{0} ? busy_time(timeline, engine) / timeline.makespan : 0;
  };
  const double kernels = busy(Engine::compute);
  const double in = busy(Engine::copy_h2d);
  const double out = busy(Engine::copy_d2h);
  const double host = busy(Engine::host);
  const double most = std::max({kernels, in, out, host});
  if (most == kernels) return fmt::format("Kernels are busy for {:.0f} % of the time.", kernels * 100);
  if (most == host)
    return fmt::format("The program's own code on the host is busy for {:.0f} % of the time.", host * 100);
  return fmt::format("Copies {} are busy for {:.0f} % of the time.", in > out ? "to the GPU" : "to the host",
                     std::max(in, out) * 100);
}

}  // namespace

Advised advise(const Recording& recording, const Profile& profile, const AdviseOptions& options) {
  Advised advised{};
  advised.program = printable(recording.program);
  advised.gpu = printable(recording.gpu);
  advised.languages = languages_of(recording);
  advised.profile = profile.name;
  advised.link = {.rates = options.link.rates, .assumed = {}, .is_recorded = options.link.is_recorded};
  advised.inferred_waits = recording.has_inferred_waits;
  if (submitted_order(recording).empty())
    throw Error("the recording has no copy and no kernel: the program did not use a GPU while it was recorded");
  std::optional<Steps> steps = find_steps(recording, options.range);
  if (!steps && options.range.empty()) steps = whole_program(recording);
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
  advised.limit = limit_of(advised.recorded);
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
  Advisor(advised, profile, options).take_all();
  if (advised.advised) advised.limit = limit_of(*advised.advised);
  return advised;
}

}  // namespace shiplap
