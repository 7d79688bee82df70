// Verdicts on Figs 8-10: the fastest implementation, and the errors of the estimates.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/werkhoven2014/judge.hpp"

namespace shiplap::experiments::werkhoven {
namespace {

using van_werkhoven_2014::Category;
using Times = std::array<std::optional<Seconds>, 4>;

/// Whether an implementation is the fastest in the paper's variant, only in a tuned variant, or in neither.
enum class Fastest : std::uint8_t { yes, tuned, no };

Times better_of(const OceanTimes& t) {
  Times best = t.observed;
  for (std::size_t i = 0; i < best.size(); ++i)
    if (t.tuned[i] && (!best[i] || *t.tuned[i] < *best[i])) best[i] = t.tuned[i];
  return best;
}

std::string times_text(const Times& times) {
  std::string text;
  for (std::size_t i = 0; i < times.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", implementations[i], to_string(*times[i]));
  return text;
}

Fastest found(const OceanTimes& t, std::size_t wanted) {
  if (is_fastest(t.observed, wanted)) return Fastest::yes;
  return is_fastest(better_of(t), wanted) ? Fastest::tuned : Fastest::no;
}

/// Text on other variants: "; better as hybrid 16.5 ms (21 chunks, 16 blocks)", "; in three streams streams 14.9 ms".
std::string others_text(const OceanTimes& t) {
  std::string text;
  for (std::size_t i = 0; i < implementations.size(); ++i)
    if (t.tuned[i] && t.observed[i] && *t.tuned[i] < *t.observed[i])
      text += fmt::format("{}{} {} ({})", text.empty() ? "; better as " : ", ", implementations[i],
                          to_string(*t.tuned[i]), t.tuned_as[i]);
  if (t.three_streams)
    text += fmt::format("; in three streams {} {}", implementations[streams], to_string(*t.three_streams));
  return text;
}

/// Whether Streams would be the fastest with three streams instead of a stream for each chunk.
bool fastest_in_three_streams(const OceanTimes& t) {
  if (!t.three_streams) return false;
  Times best = better_of(t);
  best[streams] = t.three_streams;
  return is_fastest(best, streams);
}

/// Sets the verdict on several cases: "holds" when all do, "holds with a change" when all do at least in tuned
/// variants.
void conclude(Finding& f, std::span<const Fastest> cases) {
  if (std::ranges::find(cases, Fastest::no) != cases.end()) {
    f.verdict = Verdict::does_not_hold;
  } else if (std::ranges::find(cases, Fastest::tuned) != cases.end()) {
    f.verdict = Verdict::holds_with_a_change;
    f.why = "with other grids or numbers of streams";
  } else {
    f.verdict = Verdict::holds;
  }
}

/// Size of a relative error, symmetric for factors: half the time is as wrong as twice the time.
double distance(double error) { return std::abs(std::log1p(error)); }
/// The larger of two errors.
double farther(double a, double b) { return distance(a) < distance(b) ? b : a; }

const Machine& machine_of(Category category) { return *std::ranges::find(machines(), category, &Machine::category); }

std::string case_text(const OceanTimes& t) {
  return fmt::format("{}, {}", ocean_kernels()[t.kernel].name, machine_of(t.category).figure);
}

Finding judge_buoydiff(const OceanTimes& t, std::string_view how) {
  const Machine& machine = machine_of(t.category);
  const std::size_t wanted = machine.fastest_buoydiff;
  Finding f{"buoydiff-" + std::string(machine.id), Verdict::holds, fmt::format("{}: {}", how, times_text(t.observed)),
            ""};
  const Fastest one = found(t, wanted);
  conclude(f, std::span(&one, 1));
  f.observed += others_text(t);
  if (one == Fastest::tuned)
    f.why = fmt::format("with {}: {} instead of {}", t.tuned_as[wanted], to_string(*t.tuned[wanted]),
                        to_string(*t.observed[wanted]));
  if (one == Fastest::no) f.why = fmt::format("{} is the fastest", implementations[*fastest(better_of(t))]);
  if (one == Fastest::no && wanted == streams && fastest_in_three_streams(t))
    f.why += "; in three streams, which is not what the paper has, streams would be";
  return f;
}

/// Judges in which cases of kernel `state` Implicit is the fastest, and which implementation is faster in the others.
Finding judge_state(std::span<const OceanTimes* const> all, std::string_view how) {
  std::vector<Fastest> cases;
  std::string text;
  bool only_two_engines = true;
  for (const OceanTimes* t : all) {
    cases.push_back(found(*t, implicit));
    const Times best = better_of(*t);
    if (cases.back() == Fastest::no && t->category != Category::two_engines) only_two_engines = false;
    if (cases.back() != Fastest::yes)
      text += fmt::format("; {}: {} ({})", case_text(*t), implementations[*fastest(best)], times_text(best));
    else if (t->three_streams && *t->three_streams * (1 + tie) < *best[implicit])
      text += fmt::format("; {} in three streams: {} {}, {} {}", case_text(*t), implementations[streams],
                          to_string(*t->three_streams), implementations[implicit], to_string(*best[implicit]));
  }
  Finding f{"state", Verdict::holds,
            fmt::format("{}: implicit is the fastest in {} of {} cases{}", how, std::ranges::count(cases, Fastest::yes),
                        cases.size(), text),
            ""};
  conclude(f, cases);
  if (f.verdict == Verdict::does_not_hold)
    f.why =
        only_two_engines ? "only on two copy engines; what is faster is in brackets" : "what is faster is in brackets";
  return f;
}

/// Judges whether the estimates name the fastest implementation; nullopt without estimates of all four.
std::optional<Finding> judge_classification(std::span<const OceanTimes* const> all) {
  std::size_t cases = 0;
  std::size_t agree = 0;
  std::size_t agree_while_both_move = 0;
  std::string disagree;
  for (const OceanTimes* t : all) {
    const auto predicted = fastest(t->equation);
    if (!predicted) continue;
    ++cases;
    const bool right = is_fastest(t->observed, *predicted);
    agree += right;
    Times other = t->equation;
    for (std::size_t i = 0; i < other.size(); ++i)
      if (t->while_both_move[i]) other[i] = t->while_both_move[i];
    agree_while_both_move += is_fastest(t->observed, *fastest(other));
    if (!right)
      disagree += fmt::format("{}{}: {} instead of {}", disagree.empty() ? "" : "; ", case_text(*t),
                              implementations[*predicted], implementations[*fastest(t->observed)]);
  }
  if (cases == 0) return std::nullopt;
  return Finding{"classification",
                 agree == cases                   ? Verdict::holds
                 : agree_while_both_move == cases ? Verdict::holds_with_a_change
                                                  : Verdict::does_not_hold,
                 fmt::format("the equations name the fastest implementation in {} of {} cases, and in {} with mapped "
                             "accesses slower while both directions move",
                             agree, cases, agree_while_both_move),
                 disagree};
}

/// The errors of the estimates of one implementation over all cases.
struct EstimateErrors {
  bool seen = false;
  double worst = 0;            ///< largest error of the paper's equation
  double while_both_move = 0;  ///< largest error by the other reading of §VIII
  double simulated = 0;        ///< largest error of the simulation
  bool other_everywhere = true;
  bool simulated_everywhere = true;
  std::string where;          ///< case with the largest error
  std::string three_streams;  ///< time of that case with three streams; "" where that was not run
};

EstimateErrors errors_of(std::span<const OceanTimes> all, std::size_t i) {
  EstimateErrors e;
  for (const OceanTimes& t : all) {
    if (!t.observed[i] || !t.equation[i]) continue;
    const double error = *t.equation[i] / *t.observed[i] - 1;
    if (!e.seen || distance(error) > distance(e.worst)) {
      e.worst = error;
      e.where = case_text(t);
      e.three_streams = i == streams && t.three_streams
                            ? fmt::format("in three streams instead of one a stream that case is off by {}",
                                          signed_percent(*t.equation[i] / *t.three_streams - 1))
                            : std::string();
    }
    e.seen = true;
    e.other_everywhere = e.other_everywhere && t.while_both_move[i];
    if (t.while_both_move[i])
      e.while_both_move = farther(e.while_both_move, *t.while_both_move[i] / *t.observed[i] - 1);
    e.simulated_everywhere = e.simulated_everywhere && t.simulated[i];
    if (t.simulated[i]) e.simulated = farther(e.simulated, *t.simulated[i] / *t.observed[i] - 1);
  }
  return e;
}

Finding judge_error(std::size_t i, const EstimateErrors& e) {
  constexpr std::array published{worst_explicit, worst_implicit, worst_streams, worst_hybrid};
  const std::string claim = "error-" + std::string(implementations[i]);
  if (!e.seen) return {claim, Verdict::cannot_be_checked, "", "there is no observed time beside an estimate"};
  Finding f{claim, Verdict::holds, fmt::format("{} ({})", signed_percent(e.worst), e.where), ""};
  const double most = distance(published[i]);
  if (distance(e.worst) <= most) return f;
  const bool other_good = e.other_everywhere && distance(e.while_both_move) <= most;
  f.verdict = other_good ? Verdict::holds_with_a_change : Verdict::does_not_hold;
  const auto add = [&](const std::string& text) { f.why += (f.why.empty() ? "" : ", ") + text; };
  if (e.other_everywhere)
    add(fmt::format("by the other reading, slower only while both directions are busy, the largest error is {}",
                    signed_percent(e.while_both_move)));
  if (!e.three_streams.empty()) add(e.three_streams);
  if (e.simulated_everywhere) add(fmt::format("the simulation's is {}", signed_percent(e.simulated)));
  return f;
}

}  // namespace

std::optional<std::size_t> fastest(const Times& times) {
  if (std::ranges::any_of(times, [](const auto& t) { return !t; })) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::min_element(times, {}, [](const auto& t) { return t->count(); }) -
                                  times.begin());
}

bool is_fastest(const Times& times, std::size_t which) {
  const auto best = fastest(times);
  return best && times[which]->count() <= times[*best]->count() * (1 + tie);
}

std::vector<Finding> judge_fastest(std::span<const OceanTimes> all, std::string_view how) {
  std::vector<Finding> findings;
  std::vector<const OceanTimes*> complete;
  std::vector<const OceanTimes*> state;
  for (const OceanTimes& t : all) {
    if (!fastest(t.observed)) continue;
    complete.push_back(&t);
    if (t.kernel == buoydiff)
      findings.push_back(judge_buoydiff(t, how));
    else
      state.push_back(&t);
  }
  if (!state.empty()) findings.push_back(judge_state(state, how));
  if (auto classification = judge_classification(complete)) findings.push_back(std::move(*classification));
  return findings;
}

std::vector<Finding> judge_ocean_errors(std::span<const OceanTimes> all) {
  std::vector<Finding> findings;
  std::array<EstimateErrors, 4> errors;
  for (std::size_t i = 0; i < implementations.size(); ++i) {
    errors[i] = errors_of(all, i);
    findings.push_back(judge_error(i, errors[i]));
  }
  if (!std::ranges::all_of(errors, &EstimateErrors::seen)) {
    findings.push_back({"hardest", Verdict::cannot_be_checked, "", "not all four have observed times and estimates"});
    return findings;
  }
  const auto hardest = static_cast<std::size_t>(
      std::ranges::max_element(errors, {}, [](const EstimateErrors& e) { return distance(e.worst); }) - errors.begin());
  Finding f{"hardest", Verdict::holds,
            fmt::format("{}, {}", implementations[hardest], signed_percent(errors[hardest].worst)), ""};
  if (hardest != hybrid) {
    f.verdict = Verdict::does_not_hold;
    f.observed += fmt::format("; hybrid, {}", signed_percent(errors[hybrid].worst));
    f.why = "errors are compared as ratios: half of a time is as far off as twice";
  }
  findings.push_back(std::move(f));
  return findings;
}

Finding judge_bounds(std::span<const OverlapBound> bounds) {
  Finding f{"bounds", Verdict::holds, "", ""};
  bool printed = true;
  bool corrected = true;
  for (const OverlapBound& b : bounds) {
    printed = printed && b.best.count() >= b.printed.count() * (1 - tie);
    corrected = corrected && b.best.count() >= b.corrected.count() * (1 - tie);
    f.observed +=
        fmt::format("{}{}: best {}, bound {} as printed, {} with a bandwidth each way", f.observed.empty() ? "" : "; ",
                    b.kernel, to_string(b.best), to_string(b.printed), to_string(b.corrected));
  }
  if (bounds.empty()) return {"bounds", Verdict::cannot_be_checked, "", "there is no time to compare with"};
  if (printed) return f;
  f.verdict = corrected ? Verdict::holds_with_a_change : Verdict::does_not_hold;
  f.why = corrected ? "a time lies below the bound as printed, which adds the bytes of both directions to one bandwidth"
                    : "a time lies below the bound with a bandwidth each way too";
  return f;
}

}  // namespace shiplap::experiments::werkhoven
