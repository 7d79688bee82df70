#include "experiments/gomezluna2012/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/cells.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"

namespace shiplap::experiments::gomez_luna {

Fit fit_of(std::span<const double> errors) {
  Fit fit{.points = errors.size()};
  std::vector<double> sizes;
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
    if (std::abs(error) > std::abs(fit.worst)) fit.worst = error;
  }
  if (!sizes.empty()) fit.median = median(sizes);
  return fit;
}

std::string to_string(const Fit& fit) {
  if (fit.points == 0) return "no points";
  return fmt::format("{:.1f} % median, {:+.1f} % worst of {} points", 100 * fit.median, 100 * fit.worst, fit.points);
}

Verdict verdict_of_fit(const Fit& printed, const std::optional<Fit>& changed) {
  if (printed.points == 0) return Verdict::cannot_be_checked;
  if (printed.median <= fit_tolerance) return Verdict::holds;
  if (changed && changed->median <= fit_tolerance) return Verdict::holds_with_a_change;
  return Verdict::does_not_hold;
}

Verdict verdict_between(const Fit& kept, const Fit& refused) {
  if (kept.points == 0 || refused.points == 0) return Verdict::cannot_be_checked;
  if (kept.median >= refused.median) return Verdict::does_not_hold;
  return kept.median <= fit_tolerance ? Verdict::holds : Verdict::holds_with_a_change;
}

bool copies_dominate(const StageTimes& t, std::uint32_t n) { return t.transfers() > t.kernel + t.transfers() / n; }

Finding of_dominant(const std::string& claim, std::span<const AsymmetricPoint> points, std::uint32_t n) {
  std::size_t short_there = 0;
  std::size_t long_here = 0;
  std::size_t off = 0;
  std::vector<double> of_eq1;
  std::vector<double> of_eq3;
  double worst = 0;
  const AsymmetricPoint* worst_at = nullptr;
  for (const AsymmetricPoint& p : points) {
    const bool copies = copies_dominate(p.work.times, n);
    short_there += p.short_there ? 1 : 0;
    long_here += p.short_there && !copies ? 1 : 0;
    off += p.steady ? 0 : 1;
    if (!p.steady) continue;
    const double error = (copies ? eq1(p.work, n) : eq3(p.work, n)) / p.observed - 1;
    (copies ? of_eq1 : of_eq3).push_back(error);
    if (worst_at != nullptr && std::abs(error) <= std::abs(worst)) continue;
    worst = error;
    worst_at = &p;
  }
  const Fit transfers = fit_of(of_eq1);
  const Fit kernel = fit_of(of_eq3);
  const Verdict verdict = worse_of(verdict_of_fit(transfers), verdict_of_fit(kernel));
  std::string why;
  const auto add = [&](const std::string& more) { why += (why.empty() ? "" : "; ") + more; };
  if (long_here > 0)
    add(fmt::format("{} of the {} points with 1 to 4 iterations have a dominant kernel here and count for eq 3",
                    long_here, short_there));
  if (off > 0) add(fmt::format("{} points were disturbed and are left out", off));
  if (verdict == Verdict::does_not_hold)
    add(fmt::format("largest difference {:+.1f} %, with t_Thd {}, t_E {} and t_Tdh {}", 100 * worst,
                    shiplap::to_string(worst_at->work.times.h2d), shiplap::to_string(worst_at->work.times.kernel),
                    shiplap::to_string(worst_at->work.times.d2h)));
  if (verdict == Verdict::cannot_be_checked && why.empty()) why = "nothing was run";
  return {claim, verdict == Verdict::holds && long_here > 0 ? Verdict::holds_with_a_change : verdict,
          fmt::format("t_T where transfers dominate: {}; t_E + t_T/n where the kernel does: {}", to_string(transfers),
                      to_string(kernel)),
          why};
}

std::vector<std::uint32_t> best_streams(std::span<const Timed> times) {
  std::vector<std::uint32_t> best;
  if (times.empty()) return best;
  const double least = std::ranges::min_element(times, {}, &Timed::ms)->ms;
  for (const Timed& t : times)
    if (t.ms <= least * (1 + optimum_tolerance)) best.push_back(t.streams);
  std::ranges::sort(best);
  return best;
}

std::string to_string(const std::vector<std::uint32_t>& streams) {
  if (streams.empty()) return "";
  if (streams.front() == streams.back()) return fmt::format("{}", streams.front());
  return fmt::format("{}–{}", streams.front(), streams.back());
}

const Timed& nearest(std::span<const Timed> times, double estimate) {
  if (times.empty()) throw Error("no number of streams was run");
  return *std::ranges::min_element(
      times, {}, [&](const Timed& t) { return std::abs(std::log(t.streams / std::max(1.0, estimate))); });
}

double regret(std::span<const Timed> times, double estimate) {
  if (times.empty()) throw Error("no number of streams was run");
  const Timed* below = nullptr;
  const Timed* above = nullptr;
  for (const Timed& t : times) {
    if (t.streams <= estimate && (below == nullptr || t.streams > below->streams)) below = &t;
    if (t.streams >= estimate && (above == nullptr || t.streams < above->streams)) above = &t;
  }
  const double taken = below == nullptr ? above->ms : above == nullptr ? below->ms : std::min(below->ms, above->ms);
  return taken / std::ranges::min_element(times, {}, &Timed::ms)->ms - 1;
}

Verdict verdict_of_regrets(std::span<const double> printed, std::span<const double> changed) {
  if (printed.empty()) return Verdict::cannot_be_checked;
  const auto good = [](double r) { return r <= regret_tolerance; };
  if (std::ranges::all_of(printed, good)) return Verdict::holds;
  const bool mended = !changed.empty() && std::ranges::all_of(changed, good);
  return mended ? Verdict::holds_with_a_change : Verdict::does_not_hold;
}

std::uint32_t whole_streams(double estimate, const gomez_luna_2012::Work& work, gomez_luna_2012::Architecture on,
                            std::uint32_t most) {
  const auto below = static_cast<std::uint32_t>(std::clamp(std::floor(estimate), 1.0, static_cast<double>(most)));
  const auto above = static_cast<std::uint32_t>(std::clamp(std::ceil(estimate), 1.0, static_cast<double>(most)));
  const auto predicted = [&](std::uint32_t n) {
    return n == 1 ? unstreamed_time(work) : streamed_time(work, n, on);  // one stream is the same as no streams
  };
  return predicted(above) < predicted(below) ? above : below;
}

double most_gain(const StageTimes& stages, Seconds handing_over, bool one_copy_engine) {
  const Seconds copies = one_copy_engine ? stages.transfers() : std::max(stages.h2d, stages.d2h);
  const Seconds longest = std::max(copies, stages.kernel);
  if (longest <= Seconds{0}) return 0;
  return 100 * ((stages.total() + handing_over) / longest - 1);
}

bool disturbed(const Gain& gain) { return !gain.steady || gain.percent > gain.most + gain.noise + gain_tolerance; }

std::string to_string(const Gain& gain) {
  return fmt::format("{:.1f}{}", gain.percent, disturbed(gain) ? ", disturbed" : "");
}

std::optional<double> Duel::ms(std::uint32_t streams) const {
  const auto found = std::ranges::find(times, streams, &Timed::streams);
  return found == times.end() ? std::nullopt : std::optional(found->ms);
}

std::optional<double> Duel::longer(std::uint32_t streams) const {
  const auto own = ms(streams);
  const auto least = ms(best);
  return own && least ? std::optional(*own / *least - 1) : std::nullopt;
}

bool Duel::disturbed() const {
  const auto alone = ms(1);
  if (!steady || !alone || !alone_in_sweep) return !steady;
  return std::max(*alone, *alone_in_sweep) > std::min(*alone, *alone_in_sweep) * (1 + same_alone);
}

Finding of_estimates(const std::string& claim, std::span<const Duel> all, std::size_t exceptions) {
  std::vector<double> printed;
  std::vector<double> capped;
  std::size_t close = 0;
  std::size_t close_capped = 0;
  std::size_t off = 0;
  std::size_t none = 0;
  for (const Duel& duel : all) {
    const auto of_printed = duel.longer(duel.printed);
    const auto of_capped = duel.longer(duel.capped);
    off += duel.disturbed() ? 1 : 0;
    if (duel.disturbed() || !of_printed || !of_capped) continue;
    if (duel.printed == 1 && duel.capped == 1 && duel.best == 1) {
      ++none;
      continue;
    }
    const double tolerance = std::max(regret_tolerance, 2 * duel.noise);
    printed.push_back(100 * *of_printed);
    capped.push_back(100 * *of_capped);
    close += *of_printed <= tolerance ? 1 : 0;
    close_capped += *of_capped <= tolerance ? 1 : 0;
  }
  std::string left_out;
  if (none > 0) left_out += fmt::format("; in {} more case(s) both the estimate and the best are no streams", none);
  if (off > 0) left_out += fmt::format("; {} more cases were disturbed and are left out", off);
  if (printed.empty()) return unknown(claim, "no estimate of streams was timed beside the best number" + left_out);
  const Verdict verdict = close + exceptions >= printed.size()         ? Verdict::holds
                          : close_capped + exceptions >= capped.size() ? Verdict::holds_with_a_change
                                                                       : Verdict::does_not_hold;
  const Range p = range_of(printed);
  const Range c = range_of(capped);
  return {claim, verdict,
          fmt::format("timed again, the number by the equations takes {:+.1f} to {:+.1f} % longer than the best of the "
                      "sweep, in {} of {} cases by at most {:.0f} % or by less than can be told{}",
                      p.low, p.high, close, printed.size(), 100 * regret_tolerance, left_out),
          verdict == Verdict::holds ? ""
                                    : fmt::format("with eq 2 capped: {:+.1f} to {:+.1f} %, {} of {}", c.low, c.high,
                                                  close_capped, capped.size())};
}

Range range_of(std::span<const double> values) {
  if (values.empty()) return {};
  return {std::ranges::min(values), std::ranges::max(values)};
}

std::string to_string(const Range& r) {
  // The addition of 0 avoids the text "-0".
  return fmt::format("{:.0f} to {:.0f} %", std::round(r.low) + 0.0, std::round(r.high) + 0.0);
}

Verdict verdict_of_gains(const Range& published, std::span<const double> here) {
  if (here.empty()) return Verdict::cannot_be_checked;
  const auto inside = [&](double gain) {
    return gain >= published.low - gain_tolerance && gain <= published.high + gain_tolerance;
  };
  if (std::ranges::all_of(here, inside)) return Verdict::holds;
  return std::ranges::any_of(here, inside) ? Verdict::holds_with_a_change : Verdict::does_not_hold;
}

Finding of_asymmetry(double longer) {
  // Both numbers must agree within two percentage points.
  const auto as = [&](double published) {
    return longer * published > 0 && std::abs(longer) > least_asymmetry && std::abs(longer - published) <= 0.02;
  };
  const bool first = as(gtx280.d2h_longer);
  const bool second = as(gtx480.d2h_longer);
  return {"asymmetry", first || second ? Verdict::holds_with_a_change : Verdict::does_not_hold,
          fmt::format("23 MiB take {:+.1f} % longer to the host than to the GPU", 100 * longer),
          second                                ? "as on the GTX 480, not as the 36 % of the GTX 280"
          : first                               ? "as on the GTX 280, not as the −2 % of the GTX 480"
          : std::abs(longer) <= least_asymmetry ? "both directions take as long within what can be told"
                                                : "neither as on the GTX 280 nor as on the GTX 480"};
}

Finding of_blocks(std::uint32_t estimated, const std::vector<std::uint32_t>& best, bool steady,
                  const std::string& text) {
  if (!steady || best.empty()) {
    Finding out = unknown("blocks", best.empty() ? "nothing was run" : "the times were disturbed");
    out.observed = text;
    return out;
  }
  // The result is "anomalous" when the observed optimum is below the estimate.
  const bool below = best.back() < estimated;
  return {"blocks", below ? Verdict::holds : Verdict::does_not_hold, text,
          below ? "" : "the optimum is not below the estimate here"};
}

Finding of_adaptation(std::span<const double> adapted, std::span<const double> ours, std::size_t changes) {
  if (adapted.empty()) return unknown("adaptation", "nothing was run");
  const Range r = range_of(adapted);
  const bool pays = r.low > 0;
  const bool ran = !ours.empty();
  std::string observed =
      fmt::format("{:+.1f} to {:+.1f} % frames per second; the halves ask for different numbers in {} of {} cases",
                  r.low, r.high, changes, adapted.size());
  if (ran) observed += fmt::format("; Adaptive against it {}", to_string(range_of(ours)));
  if (changes == 0)
    return {"adaptation", Verdict::cannot_be_checked, std::move(observed),
            "the data change, but both halves ask for the same number of streams: there is nothing to adapt to"};
  std::string why = ran ? "" : "put together from times of chunks, not run as one endless stream";
  if (!pays) {
    if (!why.empty()) why += "; ";
    why += fmt::format("no more frames per second in {} of {} cases",
                       std::ranges::count_if(adapted, [](double gain) { return gain <= 0; }), adapted.size());
  }
  const Verdict verdict = !pays ? Verdict::does_not_hold : ran ? Verdict::holds : Verdict::holds_with_a_change;
  return {"adaptation", verdict, std::move(observed), std::move(why)};
}

Verdict worse_of(Verdict a, Verdict b) {
  if (a == Verdict::cannot_be_checked) return b;
  if (b == Verdict::cannot_be_checked) return a;
  return std::max(a, b);  // verdicts are declared in increasing order
}

}  // namespace shiplap::experiments::gomez_luna
