// Verdicts on Figs 8-10: what is fastest, and how good the estimates are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/werkhoven2014/judge.hpp"

namespace shiplap::experiments::werkhoven {
namespace {

using van_werkhoven_2014::Category;
using Times = std::array<std::optional<Seconds>, 4>;

/// What holds of the times as the paper has it, of the best with other grids and numbers of streams, or not.
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

/// "; better as hybrid 16.5 ms (21 chunks, 16 blocks)", "; in three queues streams 14.9 ms".
std::string others_text(const OceanTimes& t) {
  std::string text;
  for (std::size_t i = 0; i < implementations.size(); ++i)
    if (t.tuned[i] && t.observed[i] && *t.tuned[i] < *t.observed[i])
      text += fmt::format("{}{} {} ({})", text.empty() ? "; better as " : ", ", implementations[i],
                          to_string(*t.tuned[i]), t.tuned_as[i]);
  if (t.three_queues)
    text += fmt::format("; in three queues {} {}", implementations[streams], to_string(*t.three_queues));
  return text;
}

/// Whether three queues instead of one a stream would make Streams the fastest.
bool fastest_in_three_queues(const OceanTimes& t) {
  if (!t.three_queues) return false;
  Times best = better_of(t);
  best[streams] = t.three_queues;
  return is_fastest(best, streams);
}

/// Of several cases: all of them, all of them at least with other grids and numbers of streams, or not.
void conclude(Finding& f, std::span<const Fastest> cases) {
  if (std::ranges::find(cases, Fastest::no) != cases.end()) {
    f.verdict = Verdict::does_not_hold;
  } else if (std::ranges::find(cases, Fastest::tuned) != cases.end()) {
    f.verdict = Verdict::holds_with_a_change;
    f.why = "with other grids or numbers of streams: a full grid of mapped accesses starves the copies";
  } else {
    f.verdict = Verdict::holds;
  }
}

/// How far an error, predicted over observed minus 1, is off: half is as far as twice.
double distance(double error) { return std::abs(std::log1p(error)); }
/// The farther of both.
double farther(double a, double b) { return distance(a) < distance(b) ? b : a; }

const Machine& machine_of(Category category) { return *std::ranges::find(machines(), category, &Machine::category); }

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
  std::vector<Fastest> states;
  std::string state_text;
  std::size_t agree = 0;
  std::size_t cases = 0;
  std::string disagree;
  std::size_t agree_while_both_move = 0;
  bool only_two_engines = true;
  for (const OceanTimes& t : all) {
    const auto best = fastest(t.observed);
    if (!best) continue;
    const Machine& machine = machine_of(t.category);
    const std::string name = fmt::format("{}, {}", ocean_kernels()[t.kernel].name, machine.figure);
    if (t.kernel == buoydiff) {
      Finding f{"buoydiff-" + std::string(machine.id), Verdict::holds,
                fmt::format("{}: {}", how, times_text(t.observed)), ""};
      const Fastest one = found(t, machine.fastest_buoydiff);
      conclude(f, std::span(&one, 1));
      f.observed += others_text(t);
      if (one == Fastest::tuned)
        f.why = fmt::format("with {}; a full grid of mapped accesses starves the copies",
                            t.tuned_as[machine.fastest_buoydiff]);
      if (one == Fastest::no) f.why = fmt::format("{} is the fastest", implementations[*fastest(better_of(t))]);
      if (one == Fastest::no && machine.fastest_buoydiff == streams && fastest_in_three_queues(t))
        f.why += "; in three queues, which is not what the paper has, streams would be";
      findings.push_back(std::move(f));
    } else {
      states.push_back(found(t, implicit));
      if (states.back() == Fastest::no && t.category != Category::two_engines) only_two_engines = false;
      if (states.back() != Fastest::yes)
        state_text +=
            fmt::format("; {}: {} ({})", name, implementations[*fastest(better_of(t))], times_text(better_of(t)));
      else if (t.three_queues && *t.three_queues * (1 + tie) < *better_of(t)[implicit])
        state_text +=
            fmt::format("; {} in three queues: {} {}, {} {}", name, implementations[streams],
                        to_string(*t.three_queues), implementations[implicit], to_string(*better_of(t)[implicit]));
    }
    if (const auto predicted = fastest(t.equation)) {
      ++cases;
      const bool right = is_fastest(t.observed, *predicted);
      agree += right;
      Times other = t.equation;
      for (std::size_t i = 0; i < other.size(); ++i)
        if (t.while_both_move[i]) other[i] = t.while_both_move[i];
      agree_while_both_move += is_fastest(t.observed, *fastest(other));
      if (!right)
        disagree += fmt::format("{}{}: {} instead of {}", disagree.empty() ? "" : "; ", name,
                                implementations[*predicted], implementations[*best]);
    }
  }
  if (!states.empty()) {
    Finding f{"state", Verdict::holds,
              fmt::format("{}: implicit is the fastest in {} of {} cases{}", how,
                          std::ranges::count(states, Fastest::yes), states.size(), state_text),
              ""};
    conclude(f, states);
    if (f.verdict == Verdict::does_not_hold)
      f.why = only_two_engines ? "two copy engines move more each way at once than a kernel that reads and writes host "
                                 "memory"
                               : "what is faster is in brackets";
    findings.push_back(std::move(f));
  }
  if (cases > 0)
    findings.push_back({"classification",
                        agree == cases                   ? Verdict::holds
                        : agree_while_both_move == cases ? Verdict::holds_with_a_change
                                                         : Verdict::does_not_hold,
                        fmt::format("the equations name the fastest implementation in {} of {} cases, and in {} with "
                                    "mapped accesses slower while both directions move",
                                    agree, cases, agree_while_both_move),
                        disagree});
  return findings;
}

std::vector<Finding> judge_ocean_errors(std::span<const OceanTimes> all) {
  constexpr std::array published{worst_explicit, worst_implicit, worst_streams, worst_hybrid};
  std::vector<Finding> findings;
  std::array<double, 4> worst{};
  std::array<bool, 4> seen{};
  for (std::size_t i = 0; i < implementations.size(); ++i) {
    double engine = 0;
    double other = 0;
    bool other_everywhere = true;
    bool engine_everywhere = true;
    std::string where;
    std::string three_queues;
    for (const OceanTimes& t : all) {
      if (!t.observed[i] || !t.equation[i]) continue;
      const double error = *t.equation[i] / *t.observed[i] - 1;
      if (!seen[i] || distance(error) > distance(worst[i])) {
        worst[i] = error;
        where = fmt::format("{}, {}", ocean_kernels()[t.kernel].name, machine_of(t.category).figure);
        three_queues = i == streams && t.three_queues
                           ? fmt::format("in three queues instead of one a stream that case is off by {}",
                                         signed_percent(*t.equation[i] / *t.three_queues - 1))
                           : std::string();
      }
      seen[i] = true;
      other_everywhere = other_everywhere && t.while_both_move[i];
      if (t.while_both_move[i]) other = farther(other, *t.while_both_move[i] / *t.observed[i] - 1);
      engine_everywhere = engine_everywhere && t.engine[i];
      if (t.engine[i]) engine = farther(engine, *t.engine[i] / *t.observed[i] - 1);
    }
    const std::string claim = "error-" + std::string(implementations[i]);
    if (!seen[i]) {
      findings.push_back({claim, Verdict::cannot_be_checked, "", "there is no observed time beside an estimate"});
      continue;
    }
    Finding f{claim, Verdict::holds, fmt::format("{} ({})", signed_percent(worst[i]), where), ""};
    const double most = distance(published[i]);
    if (distance(worst[i]) > most) {
      const bool other_good = other_everywhere && distance(other) <= most;
      f.verdict = other_good ? Verdict::holds_with_a_change : Verdict::does_not_hold;
      if (other_everywhere)
        f.why = fmt::format("taken as slower only while both directions move the largest error is {}",
                            signed_percent(other));
      if (!three_queues.empty()) f.why += three_queues;
      if (engine_everywhere)
        f.why += fmt::format("{}the simulation's is {}", f.why.empty() ? "" : ", ", signed_percent(engine));
    }
    findings.push_back(std::move(f));
  }
  if (std::ranges::count(seen, true) == 4) {
    const auto hardest = static_cast<std::size_t>(std::ranges::max_element(worst, {}, distance) - worst.begin());
    Finding f{"hardest", Verdict::holds,
              fmt::format("{}, {}", implementations[hardest], signed_percent(worst[hardest])), ""};
    if (hardest != hybrid) {
      f.verdict = Verdict::does_not_hold;
      f.observed += fmt::format("; hybrid, {}", signed_percent(worst[hybrid]));
      f.why = "half and twice the time are equally wrong here";
    }
    findings.push_back(std::move(f));
  } else {
    findings.push_back({"hardest", Verdict::cannot_be_checked, "", "not all four have observed times and estimates"});
  }
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
  f.why = "the bytes of both directions are added as if they shared the link's bandwidth; it carries both at once";
  return f;
}

}  // namespace shiplap::experiments::werkhoven
