// Verdicts on the arccos program, from its sweeps and from the results that its tolerance accepts.
#include "experiments/eth2025/verdicts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/cells.hpp"
#include "experiments/eth2025/words.hpp"

namespace shiplap::experiments::eth {

Finding best_speedup(std::string_view claim, const Sweep& s, const PublishedBest& published, const std::string& what) {
  const auto best = s.best();
  if (!best) return unknown(claim, why_missing({&s, 1}));
  std::string observed = fmt::format("{}: {:.3f} with {} ({} in one, {})", what, best->speedup, streams(best->streams),
                                     shiplap::to_string(milliseconds(s.ms.at(1))),
                                     shiplap::to_string(milliseconds(s.ms.at(best->streams))));
  if (const auto automatic = s.automatic_speedup())
    observed += fmt::format("; the plan's choice {:.3f} ({})", *automatic, s.automatic);
  const auto most = s.most();
  const std::string limit = most ? fmt::format("; ideal overlap allows {:.3f}", *most) : "";
  const double ratio = best->speedup / published.speedup;
  if (ratio > 1 + alike)
    return found(claim, Verdict::holds_with_a_change, observed,
                 fmt::format("overlapping gains more here than the published {:.4g}{}", published.speedup, limit));
  if (ratio < 1 - alike)
    return found(claim, Verdict::does_not_hold, observed,
                 fmt::format("overlapping gains less here than the published {:.4g}{}", published.speedup, limit));
  const auto there = s.speedup(published.streams);
  if (there && *there < best->speedup / (1 + as_good))
    return found(claim, Verdict::holds_with_a_change, observed,
                 fmt::format("with {}, the published number, it is {:.3f}", streams(published.streams), *there));
  return found(claim, Verdict::holds, observed);
}

Finding grows_with_size(std::span<const Sweep> sweeps) {
  constexpr std::string_view claim = "fig1-size";
  const auto all = complete(sweeps);
  if (all.size() < 2) return unknown(claim, why_missing(sweeps));
  std::vector<std::string> bests;
  std::string broken;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double here = all[i]->best()->speedup;
    bests.push_back(fmt::format("{} {:.3f}", power_text(all[i]->of), here));
    if (i > 0 && here < all[i - 1]->best()->speedup / gain && broken.empty())
      broken = fmt::format("it falls from {} to {} elements", power_text(all[i - 1]->of), power_text(all[i]->of));
  }
  const std::string observed = fmt::format("best speed-ups: {}", fmt::join(bests, ", "));
  const double first = all.front()->best()->speedup;
  const double last = all.back()->best()->speedup;
  if (last < first * gain)
    return found(claim, Verdict::does_not_hold, observed, "the largest array gains no more than the smallest");
  if (!broken.empty()) return found(claim, Verdict::holds_with_a_change, observed, broken);
  return found(claim, Verdict::holds, observed);
}

Finding optimum_depends(std::span<const Sweep> sweeps) {
  constexpr std::string_view claim = "fig1-streams";
  const auto all = complete(sweeps);
  if (all.size() < 2) return unknown(claim, why_missing(sweeps));
  std::uint32_t most = 1;
  for (const Sweep* s : all) most = std::max(most, s->ms.rbegin()->first);
  std::vector<std::string> bests;
  std::vector<std::string> fewer;
  bool too_many_hurt = true;
  for (const Sweep* s : all) {
    const auto best = *s->best();
    bests.push_back(fmt::format("{} {}", power_text(s->of), best.streams));
    // The largest number of streams that was run for a size may still be a good one.
    if (s->ms.contains(most))
      too_many_hurt &= s->ms.at(most) > s->ms.at(best.streams) * gain;
    else
      fewer.push_back(power_text(s->of));
  }
  std::string observed = fmt::format("best numbers of streams: {}", fmt::join(bests, ", "));
  if (!fewer.empty()) observed += fmt::format("; not run in {}: {}", streams(most), fmt::join(fewer, ", "));
  if (all.back()->best()->streams == all.front()->best()->streams)
    return found(claim, Verdict::does_not_hold, observed, "the best number is the same for small and large arrays");
  if (!too_many_hurt)
    return found(claim, Verdict::holds_with_a_change, observed, "for some sizes the most streams are as good as any");
  return found(claim, Verdict::holds, observed);
}

Finding pays_from(std::span<const Sweep> sweeps) {
  constexpr std::string_view claim = "fig2-from";
  constexpr std::uint64_t published = std::uint64_t{1} << 19;
  const auto all = complete(sweeps);
  const auto pays = std::ranges::find_if(all, [](const Sweep* s) { return s->best()->speedup >= gain; });
  if (all.empty()) return unknown(claim, why_missing(sweeps));
  if (pays == all.end())
    return found(claim, Verdict::does_not_hold, "no number of streams gains 2 %", "one stream is best for every size");
  const auto best = *(*pays)->best();
  const std::string observed =
      fmt::format("from {} elements on ({:.3f} with {})", power_text((*pays)->of), best.speedup, streams(best.streams));
  if ((*pays)->of == published) return found(claim, Verdict::holds, observed);
  return found(claim, Verdict::holds_with_a_change, observed,
               (*pays)->of < published ? "smaller arrays gain already" : "it takes larger arrays");
}

Finding many_streams_pay(std::span<const Sweep> sweeps) {
  constexpr std::string_view claim = "fig2-256";
  std::vector<std::string> where;
  std::vector<std::uint64_t> sizes;
  bool asked = false;
  for (const Sweep& s : sweeps) {
    const auto with_many = s.speedup(256);
    asked |= with_many.has_value();
    if (!with_many || *with_many < gain) continue;
    sizes.push_back(s.of);
    where.push_back(fmt::format("{} ({:.3f})", power_text(s.of), *with_many));
  }
  if (!asked) return unknown(claim, why_missing(sweeps));
  if (sizes.empty())
    return found(claim, Verdict::does_not_hold, "at no size",
                 fmt::format("256 streams gain less than {:.0f} % over one throughout", 100 * (gain - 1)));
  const std::string observed = fmt::format("256 streams are faster than one at {}", fmt::join(where, ", "));
  const std::uint64_t first = *std::ranges::min_element(sizes);
  if (first == std::uint64_t{1} << 27) return found(claim, Verdict::holds, observed);
  return found(claim, Verdict::holds_with_a_change, observed,
               fmt::format("the smallest of these sizes is {}", power_text(first)));
}

Finding overhead_of_streams(std::span<const Sweep> sweeps) {
  constexpr std::string_view claim = "fig2-overhead";
  constexpr double published_us = 5.13;  // µs per stream: (1.346 − 0.04344) ms / 254 for 2^13 elements
  const Sweep* small = nullptr;
  for (const Sweep& s : sweeps)
    if (s.of <= 1 << 13 && s.ms.contains(2) && s.ms.rbegin()->first > 2) small = &s;
  if (small == nullptr) return unknown(claim, why_missing(sweeps));
  const auto [most, time] = *small->ms.rbegin();
  const double us = (time - small->ms.at(2)) / (most - 2) * 1e3;
  const std::string observed =
      fmt::format("{:.3g} µs a stream ({} elements, 2 to {} streams)", us, power_text(small->of), most);
  if (us <= 0) return found(claim, Verdict::does_not_hold, observed, "more streams cost nothing");
  if (us > 2 * published_us || us < published_us / 2)
    return found(
        claim, Verdict::holds_with_a_change, observed,
        fmt::format("published {} µs, by the clock of a host that submits three calls a stream", published_us));
  return found(claim, Verdict::holds, observed);
}

Finding gt4py_arccos(const Sweep& largest) {
  Finding out = unknown("fig2-gt4py", "GT4Py is not run here");
  if (const auto best = largest.best())
    out.observed = fmt::format("GT4Py's published {:.5g} ms at 2^29 elements beside {:.4g} ms here ({} elements)",
                               gt4py_arccos_ms, largest.ms.at(best->streams), power_text(largest.of));
  return out;
}

std::optional<double> balance_of_calls(std::span<const Sweep> sweeps) {
  const auto one = std::ranges::find(sweeps, std::uint64_t{1}, &Sweep::of);
  if (one == sweeps.end() || !one->ideal_overlap_ms || !one->kernel_ms || *one->kernel_ms >= *one->ideal_overlap_ms)
    return std::nullopt;
  const double copies = *one->ideal_overlap_ms;
  const Sweep* before = nullptr;
  for (const Sweep& s : sweeps) {
    if (!s.kernel_ms) continue;
    if (before != nullptr && *before->kernel_ms < copies && *s.kernel_ms >= copies) {
      const double share = (copies - *before->kernel_ms) / (*s.kernel_ms - *before->kernel_ms);
      return static_cast<double>(before->of) + share * static_cast<double>(s.of - before->of);
    }
    before = &s;
  }
  return std::nullopt;
}

std::vector<std::uint32_t> calls_around(double balance, std::span<const Sweep> sweeps, bool few) {
  constexpr std::array<double, 8> all{0.65, 0.75, 0.85, 0.95, 1.0, 1.05, 1.15, 1.3};
  constexpr std::array<double, 3> some{0.85, 1.0, 1.15};
  std::vector<std::uint32_t> calls;
  for (const double factor : few ? std::span<const double>(some) : std::span<const double>(all)) {
    const auto n = static_cast<std::uint32_t>(std::max(1.0, std::round(factor * balance)));
    if (std::ranges::find(sweeps, n, &Sweep::of) == sweeps.end() && std::ranges::find(calls, n) == calls.end())
      calls.push_back(n);
  }
  return calls;
}

Finding peak_of_calls(std::span<const Sweep> sweeps, const std::string& of) {
  constexpr std::string_view claim = "fig3-peak";
  constexpr std::uint64_t published = 32;
  const auto all = complete(sweeps);
  if (all.size() < 3) return unknown(claim, why_missing(sweeps));
  const auto peak = std::ranges::max_element(all, {}, [](const Sweep* s) { return s->best()->speedup; });
  const auto there = std::ranges::find(all, published, [](const Sweep* s) { return s->of; });
  std::string observed = fmt::format("{}: {:.3f} with {} call(s), {:.3f} with {}", of, all.front()->best()->speedup,
                                     all.front()->of, (*peak)->best()->speedup, (*peak)->of);
  if (there != all.end() && there != peak)
    observed += fmt::format(", {:.3f} with {}", (*there)->best()->speedup, published);
  observed +=
      fmt::format(", {:.3f} with {} ({} numbers of calls)", all.back()->best()->speedup, all.back()->of, all.size());
  const auto balance = balance_of_calls(sweeps);
  if (balance) observed += fmt::format("; the kernel takes as long as the copies with {:.1f}", *balance);
  if (peak == all.begin() || *peak == all.back())
    return found(claim, Verdict::does_not_hold, observed, "there is no peak between");
  if (there != all.end() && (*there)->best()->speedup >= (*peak)->best()->speedup / (1 + as_good))
    return found(claim, Verdict::holds, observed);
  std::string why = fmt::format("the peak is at {} calls; the report tried powers of two only", (*peak)->of);
  if (balance)
    why += fmt::format(", and the kernel takes as long as the copies at {:.3g} times as many",
                       *balance / static_cast<double>((*peak)->of));
  return found(claim, Verdict::holds_with_a_change, observed, why);
}

Finding two_is_most(std::span<const Sweep> sweeps, const std::string& of) {
  constexpr std::string_view claim = "fig3-limit";
  const auto all = complete(sweeps);
  if (all.empty()) return unknown(claim, why_missing(sweeps));
  const auto peak = std::ranges::max_element(all, {}, [](const Sweep* s) { return s->best()->speedup; });
  const auto best = *(*peak)->best();
  std::string observed =
      fmt::format("{:.3f} with {} at {} calls and {}", best.speedup, streams(best.streams), (*peak)->of, of);
  if (const auto automatic = (*peak)->automatic_speedup())
    observed += fmt::format("; the plan's choice {:.3f} ({})", *automatic, (*peak)->automatic);
  if (best.speedup <= 2 * gain)
    return found(claim, Verdict::holds, observed, "the bound of three engines that work at once is 3 all the same");
  return found(claim, Verdict::does_not_hold, observed,
               "copies in, kernel and copies out are three engines that can work at once: the bound is 3, and the "
               "authors' own file holds 2.499");
}

Finding falls_beyond(std::span<const Sweep> sweeps) {
  constexpr std::string_view claim = "fig3-beyond";
  const auto all = complete(sweeps);
  const Sweep* beyond = nullptr;
  const auto peak = std::ranges::max_element(all, {}, [](const Sweep* s) { return s->best()->speedup; });
  if (peak != all.end())
    for (auto it = std::next(peak); it != all.end(); ++it)
      if ((*it)->most()) beyond = *it;
  if (beyond == nullptr) return unknown(claim, why_missing(sweeps));
  const auto best = *beyond->best();
  const double most = *beyond->most();
  const std::string observed = fmt::format(
      "at {} calls {:.3f}, where one stream takes {:.3f} times as long as the "
      "kernel on resident data",
      beyond->of, best.speedup, most);
  if (best.speedup >= most / (1 + as_good))
    return found(claim, Verdict::does_not_hold, observed,
                 fmt::format("it is within {:.0f} % of (copies + kernel) / kernel, which falls as the kernel grows and "
                             "needs no shortage of anything on the GPU",
                             100 * as_good));
  return found(claim, Verdict::cannot_be_checked, observed,
               fmt::format("it stays {:.3g} % below that, for a reason that these times do not tell",
                           100 * (1 - best.speedup / most)));
}

Finding tolerance_of_results(std::span<const Passed> passed) {
  constexpr std::string_view claim = "validation";
  const auto first = std::ranges::find_if(passed, &Passed::zeros_there);
  if (first == passed.end())
    return found(claim, Verdict::holds, fmt::format("zeros are refused for up to {} calls", passed.back().calls));
  const std::string observed = fmt::format("zeros pass for the results of {} calls", first->calls);
  const auto taken = [&](bool Passed::*what) { return std::ranges::any_of(passed, what) ? "taken" : "refused"; };
  return found(
      claim, Verdict::does_not_hold, observed,
      fmt::format("the scaled arccos contracts to 0; by the check here zeros are {} and one call too many is {}",
                  taken(&Passed::zeros_here), taken(&Passed::one_more_here)));
}

}  // namespace shiplap::experiments::eth
