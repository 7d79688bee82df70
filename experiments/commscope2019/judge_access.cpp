// Verdicts on the conclusions of Comm|Scope about zero-copy and managed memory, and on its list of benchmarks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/commscope2019/judge.hpp"

namespace shiplap::experiments::commscope {
namespace {

/// Least ratio for "matches": within 5 %.
constexpr double matches = 0.95;
constexpr double nearly = 0.9;
/// Ratio below which a drop is significant.
constexpr double drop = 0.9;
/// Least ratio for "faster" or "slower". Runs differ by less.
constexpr double faster = 1.05;
/// Least ratio for "about even", where neither is faster.
constexpr double even = 1 / faster;
/// Least speed-up for "more threads help".
constexpr double helps = 1.5;
/// Ratio below which a rate is "substantially" slower.
constexpr double slow = 0.8;
/// Rates below this fraction of the copies' rate are not limited by the link.
constexpr double below_link = 0.5;
/// Least size that counts as "intermediate". On the paper's machine, effects of the caches end at 16 MB.
constexpr Bytes middle_least = 1_MiB;
constexpr Bytes middle_most = 256_MiB;
/// Least size that counts as "very large": beyond the caches and the address translation tables.
constexpr Bytes very_large = 1_GiB;

bool complete(const ZeroCopy& one) { return one.steady && one.to_gpu && one.read && one.from_gpu && one.write; }

/// Text on disturbed sizes, which are left out; "" where there are none.
std::string left_out(const std::vector<ZeroCopy>& all) {
  std::vector<std::string> sizes;
  for (const ZeroCopy& one : all)
    if (!one.steady && one.size >= middle_least) sizes.push_back(to_string(one.size));
  return sizes.empty() ? "" : fmt::format("disturbed and left out: {}", fmt::join(sizes, ", "));
}
std::string with(const std::string& text, const std::string& more) {
  return text + (text.empty() || more.empty() ? "" : "; ") + more;
}

std::vector<ZeroCopy> middle(const std::vector<ZeroCopy>& all) {
  std::vector<ZeroCopy> some;
  for (const ZeroCopy& one : all)
    if (complete(one) && one.size >= middle_least && one.size <= middle_most) some.push_back(one);
  return some;
}

/// Rates of managed and of pageable memory, at the largest size for which both were measured.
struct Against {
  Bytes size;
  Bandwidth managed;
  Bandwidth plain;                   ///< pageable memory, with whatever is in the caches
  std::optional<Bandwidth> flushed;  ///< pageable memory, flushed from the caches
};
std::optional<Against> against(const Rates& rates, const std::string& managed, const Arguments& arguments,
                               const std::string& copy) {
  std::optional<Against> found;
  for (const Bytes size : rates.sizes(managed, arguments)) {
    const auto own = rates.rate(managed, size, arguments);
    const auto plain = rates.rate(copy, size);
    if (own && plain) found = Against{size, *own, *plain, rates.rate(copy + ".flushed", size)};
  }
  return found;
}

std::string described(const Against& a, const std::string& what) {
  return fmt::format("{}: {} {}, copies of pageable memory {}{}", to_string(a.size), what, to_string(a.managed),
                     to_string(a.plain), a.flushed ? fmt::format(", flushed {}", to_string(*a.flushed)) : "");
}

}  // namespace

Finding judge_zero_copy(const std::vector<ZeroCopy>& all) {
  const auto some = middle(all);
  if (some.empty()) return unknown("zero_copy", with("nothing of zero-copy concurrent with copies", left_out(all)));
  const auto share = [](const ZeroCopy& one) {
    return std::min(over(*one.read, *one.to_gpu), over(*one.write, *one.from_gpu));
  };
  // A single size may be disturbed, so the verdict uses the median of the ratios.
  std::vector<ZeroCopy> by_fraction(some.begin(), some.end());
  std::ranges::sort(by_fraction, {}, share);
  const ZeroCopy& usual = by_fraction[(by_fraction.size() - 1) / 2];
  Finding finding{
      .claim = "zero_copy",
      .verdict = Verdict::holds,
      .observed = fmt::format("{}: read {} of {}, write {} of {}", to_string(usual.size), to_string(*usual.read),
                              to_string(*usual.to_gpu), to_string(*usual.write), to_string(*usual.from_gpu)),
      .why = ""};
  if (share(usual) < matches) {
    finding.verdict = share(usual) >= nearly ? Verdict::holds_with_a_change : Verdict::does_not_hold;
    finding.why = fmt::format("{:.3g} % of copies, the median of {} sizes", 100 * share(usual), by_fraction.size());
  }
  finding.observed = with(finding.observed, left_out(all));
  return finding;
}

Finding judge_zero_copy_read(const std::vector<ZeroCopy>& all) {
  const auto some = middle(all);
  if (some.empty())
    return unknown("zero_copy_read", with("nothing of zero-copy concurrent with copies", left_out(all)));
  const ZeroCopy& large = some.back();
  const double read = in_gigabytes_per_second(*large.to_gpu) - in_gigabytes_per_second(*large.read);
  const double write = in_gigabytes_per_second(*large.from_gpu) - in_gigabytes_per_second(*large.write);
  Finding finding{
      .claim = "zero_copy_read",
      .verdict = Verdict::holds,
      .observed = fmt::format("{}: reads {:.3g} GB/s below copies, writes {:.3g}", to_string(large.size), read, write),
      .why = ""};
  if (read < published_read_loss_gb / 2) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format("reads lose less than half of the published {:.3g} GB/s", published_read_loss_gb);
  } else if (read < 2 * write) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = "writes lose more than half of what reads lose";
  }
  finding.observed = with(finding.observed, left_out(all));
  return finding;
}

Finding judge_zero_copy_drop(const std::vector<ZeroCopy>& all, bool simulated) {
  if (simulated) return unknown("zero_copy_drop", "the simulation knows one rate for all large sizes");
  std::vector<ZeroCopy> some;
  for (const ZeroCopy& one : all)
    if (complete(one) && one.size >= middle_least) some.push_back(one);
  if (some.empty()) return unknown("zero_copy_drop", with("nothing of zero-copy was measured", left_out(all)));
  const auto best = [&](auto member) {
    double most = 0;
    for (const ZeroCopy& one : some) most = std::max(most, (one.*member)->bytes_per_second);
    return Bandwidth{most};
  };
  const ZeroCopy& last = some.back();
  const double share = std::min(over(*last.read, best(&ZeroCopy::read)), over(*last.write, best(&ZeroCopy::write)));
  Finding finding{.claim = "zero_copy_drop",
                  .verdict = Verdict::holds,
                  .observed = fmt::format("{}: read {} of {} at best, write {} of {}", to_string(last.size),
                                          to_string(*last.read), to_string(best(&ZeroCopy::read)),
                                          to_string(*last.write), to_string(best(&ZeroCopy::write))),
                  .why = ""};
  if (share > drop) {
    finding.verdict = last.size < very_large ? Verdict::cannot_be_checked : Verdict::does_not_hold;
    finding.why = last.size < very_large
                      ? fmt::format("no drop so far; the full run goes to {} and more", to_string(very_large))
                      : "no drop up to there";
  }
  finding.observed = with(finding.observed, left_out(all));
  return finding;
}

Finding judge_demand_to_gpu(const Rates& rates) {
  const auto found = against(rates, "demand.h2d", {}, "copy.pageable.h2d");
  if (!found) return unknown("demand_to_gpu", rates.why_not("demand.h2d"));
  Finding finding{.claim = "demand_to_gpu", .observed = described(*found, "on demand"), .why = ""};
  const double cached = over(found->managed, found->plain);
  const double flushed = found->flushed ? over(found->managed, *found->flushed) : cached;
  const double least = std::min(cached, flushed);
  finding.verdict = least > faster                                       ? Verdict::holds
                    : std::max(cached, flushed) > faster || least > even ? Verdict::holds_with_a_change
                                                                         : Verdict::does_not_hold;
  if (finding.verdict == Verdict::holds) return finding;
  const auto beside = [](double ratio) {
    return ratio > faster ? "faster than" : ratio > even ? "about even with" : "slower than";
  };
  finding.why = found->flushed
                    ? fmt::format("{} copies whose source is in the caches of the CPU, {} those whose source is not",
                                  beside(cached), beside(flushed))
                    : fmt::format("{} copies of pageable memory", beside(cached));
  return finding;
}

Finding judge_demand_to_host(const Rates& rates) {
  std::optional<Against> best;
  double of = 0;
  for (const double threads : rates.values("demand.d2h", "threads"))
    if (const auto one = against(rates, "demand.d2h", {{"threads", threads}}, "copy.pageable.d2h");
        one && (!best || one->managed > best->managed)) {
      best = one;
      of = threads;
    }
  if (!best) return unknown("demand_to_host", rates.why_not("demand.d2h"));
  Finding finding{.claim = "demand_to_host",
                  .observed = described(*best, fmt::format("on demand by {:.0f} threads", of)),
                  .why = ""};
  const double share =
      std::min(over(best->managed, best->plain), best->flushed ? over(best->managed, *best->flushed) : 1e9);
  finding.verdict = share > faster ? Verdict::holds
                    : share > even ? Verdict::holds_with_a_change
                                   : Verdict::does_not_hold;
  if (finding.verdict == Verdict::holds_with_a_change) finding.why = "about even, not faster";
  if (finding.verdict == Verdict::does_not_hold)
    finding.why = fmt::format("{:.3g} times as fast as copies of pageable memory", share);
  return finding;
}

Finding judge_threads(const Rates& rates) {
  const std::string primitive = "demand.d2h";
  const auto threads = rates.values(primitive, "threads");
  if (threads.size() < 2) return unknown("threads", rates.why_not(primitive));
  std::string observed;
  std::vector<Bandwidth> of_threads;
  for (const double t : threads) {
    of_threads.push_back(*rates.rate(primitive, rates.sizes(primitive, {{"threads", t}}).back(), {{"threads", t}}));
    observed += fmt::format("{}{:.0f}: {}", observed.empty() ? "" : ", ", t, to_string(of_threads.back()));
  }
  Finding finding{.claim = "threads", .verdict = Verdict::holds, .observed = observed, .why = ""};
  if (const double more = over(*std::ranges::max_element(of_threads), of_threads.front()); more < helps) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format("the best number of threads is {:.3g} times as fast as the fewest", more);
  }
  return finding;
}

Finding judge_demand_locality(const Rates& rates) {
  const auto sizes = rates.common({"demand.peer", "demand.h2d"});
  if (sizes.empty())
    return unknown("demand_locality", "pages were measured from one place only: no second NUMA node or GPU");
  const Bandwidth peer = *rates.rate("demand.peer", sizes.back());
  const Bandwidth host = *rates.rate("demand.h2d", sizes.back());
  /// Largest ratio of rates that counts as independent of the link, whose rates differ by a factor of several.
  constexpr double little = 1.33;
  Finding finding{.claim = "demand_locality",
                  .verdict = Verdict::holds_with_a_change,
                  .observed = fmt::format("{}: from the other GPU {}, from the host {}", to_string(sizes.back()),
                                          to_string(peer), to_string(host)),
                  .why = "between two GPUs and the host in place of near and far nodes"};
  if (std::max(over(peer, host), over(host, peer)) > little) {
    finding.verdict = Verdict::does_not_hold;
    finding.why =
        fmt::format("{:.3g} times as fast from one as from the other", std::max(over(peer, host), over(host, peer)));
  }
  return finding;
}

Finding judge_demand_limit(const Rates& rates) {
  const auto sizes = rates.common({"demand.h2d", "copy.pinned.h2d"});
  if (sizes.empty()) return unknown("demand_limit", rates.why_not("demand.h2d"));
  const Bandwidth demand = *rates.rate("demand.h2d", sizes.back());
  const Bandwidth copy = *rates.rate("copy.pinned.h2d", sizes.back());
  Finding finding{.claim = "demand_limit",
                  .verdict = Verdict::holds,
                  .observed = fmt::format("{}: on demand {}, copies of pinned memory {} over the same link",
                                          to_string(sizes.back()), to_string(demand), to_string(copy)),
                  .why = ""};
  if (over(demand, copy) > below_link) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format("pages come at {:.3g} % of the rate of copies", 100 * over(demand, copy));
  }
  return finding;
}

Finding judge_prefetch_large(const Rates& rates) {
  const auto sizes = rates.common({"prefetch.h2d", "prefetch.d2h", "copy.pinned.h2d", "copy.pinned.d2h"});
  if (sizes.empty()) return unknown("prefetch_large", rates.why_not("prefetch.h2d"));
  const Bytes size = sizes.back();
  const double in = over(*rates.rate("prefetch.h2d", size), *rates.rate("copy.pinned.h2d", size));
  const double out = over(*rates.rate("prefetch.d2h", size), *rates.rate("copy.pinned.d2h", size));
  Finding finding{.claim = "prefetch_large",
                  .verdict = Verdict::holds,
                  .observed = fmt::format("{}: to the GPU {} ({:.3g} % of copies), to the host {} ({:.3g} %)",
                                          to_string(size), to_string(*rates.rate("prefetch.h2d", size)), 100 * in,
                                          to_string(*rates.rate("prefetch.d2h", size)), 100 * out),
                  .why = ""};
  if (std::min(in, out) < nearly) {
    finding.verdict = std::max(in, out) >= slow ? Verdict::holds_with_a_change : Verdict::does_not_hold;
    finding.why = finding.verdict == Verdict::does_not_hold
                      ? fmt::format("below {:.3g} % of copies either way", 100 * slow)
                  : out < in ? "to the GPU; the paper shows no other direction"
                             : "to the host, not to the GPU";
  }
  return finding;
}

Finding judge_prefetch_middle(const Rates& rates) {
  Finding finding{.claim = "prefetch_middle", .verdict = Verdict::holds, .observed = "", .why = ""};
  for (const Bytes size : rates.common({"prefetch.h2d", "copy.pinned.h2d"})) {
    if (size < 4_KiB || size > 32_MiB) continue;
    const double share = over(*rates.rate("prefetch.h2d", size), *rates.rate("copy.pinned.h2d", size));
    finding.observed +=
        fmt::format("{}{}: {:.3g} %", finding.observed.empty() ? "" : ", ", to_string(size), 100 * share);
    if (share > slow) finding.verdict = Verdict::does_not_hold;
  }
  if (finding.observed.empty()) return unknown("prefetch_middle", rates.why_not("prefetch.h2d"));
  finding.observed += " of copies";
  if (finding.verdict == Verdict::does_not_hold)
    finding.why = fmt::format("at one of the sizes at least prefetches reach more than {:.3g} % of copies", 100 * slow);
  return finding;
}

std::vector<Benchmark> benchmarks() {
  const bool peer = true;
  return {{1, "pageable, NUMA", "copy", "H2D", "copy.pageable.h2d", false},
          {2, "pageable, NUMA", "copy", "D2H", "copy.pageable.d2h", false},
          {3, "pageable, NUMA", "copy", "both", "copy.pageable.both", false},
          {4, "pageable", "copy", "H2D", "copy.pageable.h2d", false},
          {5, "pageable", "copy", "D2H", "copy.pageable.d2h", false},
          {6, "pageable", "copy", "both", "copy.pageable.both", false},
          {7, "pinned, NUMA", "copy", "H2D", "copy.pinned.h2d", false},
          {8, "pinned, NUMA", "copy", "D2H", "copy.pinned.d2h", false},
          {9, "pinned, NUMA", "copy", "both", "copy.pinned.both", false},
          {10, "pinned", "copy", "H2D", "copy.pinned.h2d", false},
          {11, "pinned", "copy", "D2H", "copy.pinned.d2h", false},
          {12, "pinned", "copy", "both", "copy.pinned.both", false},
          {13, "mapped", "zero-copy", "H2D, the GPU reads", "mapped.read", false},
          {14, "mapped", "zero-copy", "D2H, the GPU writes", "mapped.write", false},
          {15, "–", "zero-copy", "GPU to GPU", "peer.read", peer},
          {16, "–", "zero-copy", "GPU and GPU, both", "peer.read.both", peer},
          {17, "–", "copy, peer access", "GPU to GPU", "peer.copy", peer},
          {18, "–", "copy, peer access", "GPU and GPU, both", "peer.copy.both", peer},
          {19, "–", "copy, no peer access", "GPU to GPU", "peer.staged", peer},
          {20, "–", "copy, no peer access", "GPU and GPU, both", "peer.staged.both", peer},
          {21, "managed", "on demand", "H2D", "demand.h2d", false},
          {22, "managed", "on demand", "D2H", "demand.d2h", false},
          {23, "managed", "on demand", "both", "demand.both", false},
          {24, "managed", "on demand", "GPU to GPU", "demand.peer", peer},
          {25, "managed", "on demand", "GPU and GPU, both", "demand.peer.both", peer},
          {26, "managed", "prefetch", "H2D", "prefetch.h2d", false},
          {27, "managed", "prefetch", "D2H", "prefetch.d2h", false},
          {28, "managed", "prefetch", "both", "prefetch.both", false},
          {29, "managed", "prefetch", "GPU to GPU", "prefetch.peer", peer},
          {30, "managed", "prefetch", "GPU and GPU, both", "prefetch.peer.both", peer},
          {31, "pageable to pinned", "copy by a host thread", "H2H", "host.copy", false}};
}

Finding judge_benchmarks(const std::vector<Benchmark>& all, const std::vector<std::string>& primitives) {
  std::vector<std::string> absent;
  std::size_t one_gpu = 0;
  for (const Benchmark& b : all) {
    one_gpu += b.two_gpus ? 0 : 1;
    if (std::ranges::find(primitives, b.primitive) == primitives.end()) absent.emplace_back(b.primitive);
  }
  Finding finding{.claim = "table1",
                  .verdict = Verdict::holds_with_a_change,
                  .observed = fmt::format("{} benchmarks, {} of them with one GPU", all.size(), one_gpu),
                  .why = fmt::format("{} cannot be counted out: the table has 29 rows, section 3.4 one more, Fig. 6 "
                                     "another one",
                                     published_count)};
  if (!absent.empty()) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format("without a primitive here: {}", fmt::join(absent, ", "));
  }
  return finding;
}

}  // namespace shiplap::experiments::commscope
