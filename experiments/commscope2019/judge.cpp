// Verdicts on the conclusions of Comm|Scope about copies, nodes, peers and zero-copy, from rates.
#include "experiments/commscope2019/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/statistics.hpp"

namespace shiplap::experiments::commscope {
namespace {

/// Least ratio that counts as an effect. Medians of pageable and managed memory usually differ by less between runs.
constexpr double effect = 1.2;
/// Largest ratio of equal rates. Two runs differ by this.
constexpr double same = 1.05;
/// Rates below this fraction of pinned memory's rate are far below the link.
constexpr double far_below = 0.5;
/// Least fraction of the link for "near the link"; the paper has 96 %.
constexpr double near_link = 0.9;
/// Least fraction of the link for duplex copies, whose requests and headers share it.
constexpr double partly_near_link = 0.75;
/// Least ratio for "about twice" a single direction.
constexpr double twice = 1.9;
constexpr double clearly_more = 1.5;

/// Judges the duplex rate over the mean of single directions, at the largest size that all have.
Finding judge_both(const Rates& rates, const char* claim, const std::string& kind) {
  const std::string h2d = "copy." + kind + ".h2d";
  const std::string d2h = "copy." + kind + ".d2h";
  const std::string both = "copy." + kind + ".both";
  const auto sizes = rates.common({both, h2d, d2h});
  if (sizes.empty()) return unknown(claim, rates.why_not(both));
  Finding finding{.claim = claim, .observed = "", .why = ""};
  for (const Bytes size : sizes) {
    if (size != sizes.back() && size < 1_MiB) continue;
    const Bandwidth together = *rates.rate(both, size);
    finding.observed += fmt::format("{}{}: {}, {:.3g} times one way", finding.observed.empty() ? "" : "; ",
                                    to_string(size), to_string(together), both_over_one(rates, kind, size));
  }
  return finding;
}

}  // namespace

double both_over_one(const Rates& rates, const std::string& kind, Bytes size) {
  const double one = (rates.rate("copy." + kind + ".h2d", size)->bytes_per_second +
                      rates.rate("copy." + kind + ".d2h", size)->bytes_per_second) /
                     2;
  return rates.rate("copy." + kind + ".both", size)->bytes_per_second / one;
}

Finding judge_flush(const Rates& rates) {
  const std::string plain = "copy.pageable.h2d";
  const auto sizes = rates.common({plain, plain + ".flushed"});
  if (sizes.empty()) return unknown("flush", rates.why_not(plain + ".flushed"));
  const auto gain = [&](const std::string& primitive, Bytes size) {
    return over(*rates.rate(primitive, size), *rates.rate(primitive + ".flushed", size));
  };
  const Bytes best = *std::ranges::max_element(sizes, {}, [&](Bytes size) { return gain(plain, size); });
  Finding finding{
      .claim = "flush",
      .verdict = Verdict::holds,
      .observed = fmt::format("pageable to the GPU, {}: {}, flushed {}", to_string(best),
                              to_string(*rates.rate(plain, best)), to_string(*rates.rate(plain + ".flushed", best))),
      .why = ""};
  const std::string pinned = "copy.pinned.h2d";
  if (!rates.common({pinned, pinned + ".flushed"}).empty()) {
    const Bytes size = rates.common({pinned, pinned + ".flushed"}).back();
    finding.observed +=
        fmt::format("; pinned, {}: {}, flushed {}", to_string(size), to_string(*rates.rate(pinned, size)),
                    to_string(*rates.rate(pinned + ".flushed", size)));
    if (gain(pinned, size) < effect) {
      finding.verdict = Verdict::holds_with_a_change;
      finding.why = fmt::format("for pageable memory; unflushed caches change copies of pinned memory by {:+.1f} %",
                                100 * (gain(pinned, size) - 1));
    }
  }
  if (gain(plain, best) < effect) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format("at no size do flushed caches slow copies down by a fifth: {:.3g} times at most",
                              gain(plain, best));
  }
  return finding;
}

Finding judge_pageable(const Rates& rates) {
  const auto sizes = rates.common({"copy.pageable.h2d", "copy.pageable.d2h", "copy.pinned.h2d", "copy.pinned.d2h"});
  if (sizes.empty()) return unknown("pageable", rates.why_not("copy.pageable.h2d"));
  const Bytes size = sizes.back();
  const double to_gpu = over(*rates.rate("copy.pageable.h2d", size), *rates.rate("copy.pinned.h2d", size));
  const double to_host = over(*rates.rate("copy.pageable.d2h", size), *rates.rate("copy.pinned.d2h", size));
  Finding finding{
      .claim = "pageable",
      .verdict = Verdict::holds,
      .observed = fmt::format("{}: to the GPU {} ({:.3g} % of pinned), to the host {} ({:.3g} %)", to_string(size),
                              to_string(*rates.rate("copy.pageable.h2d", size)), 100 * to_gpu,
                              to_string(*rates.rate("copy.pageable.d2h", size)), 100 * to_host),
      .why = ""};
  if (std::max(to_gpu, to_host) > far_below) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = "at least one way is half as fast as pinned memory or faster";
  }
  return finding;
}

Finding judge_staging(const Rates& rates) {
  const std::string host = "host.copy";
  // The host's copy reads flushed memory, so the driver's copy must be a flushed one too.
  const std::string copy =
      rates.sizes("copy.pageable.h2d.flushed").empty() ? "copy.pageable.h2d" : "copy.pageable.h2d.flushed";
  const auto own = rates.sizes(host, {{"threads", 1}});
  const auto sizes = rates.sizes(copy);
  if (own.empty() || sizes.empty()) return unknown("staging", rates.why_not(own.empty() ? host : copy));
  // The largest size up to the one that the host copies, which is beyond the caches.
  const auto fitting = std::ranges::find_if(sizes.rbegin(), sizes.rend(), [&](Bytes s) { return s <= own.back(); });
  const Bytes size = fitting == sizes.rend() ? sizes.front() : *fitting;
  const Bandwidth of_host = *rates.rate(host, own.back(), {{"threads", 1}});
  const Bandwidth of_copy = *rates.rate(copy, size);
  Finding finding{
      .claim = "staging",
      .verdict = Verdict::holds,
      .observed = fmt::format("{} to the GPU {}; one host thread into pinned memory {} ({})", to_string(size),
                              to_string(of_copy), to_string(of_host), to_string(own.back())),
      .why = ""};
  if (over(of_copy, of_host) > same) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format(
        "{:.3g} % faster: the host's copy writes a whole buffer to memory, the driver's a small one again and again "
        "(likely)",
        100 * (over(of_copy, of_host) - 1));
  }
  return finding;
}

Finding judge_link(const Rates& rates, std::optional<Bandwidth> link) {
  const auto sizes = rates.sizes("copy.pinned.h2d");
  if (sizes.empty()) return unknown("link", rates.why_not("copy.pinned.h2d"));
  const Bandwidth reached = *rates.rate("copy.pinned.h2d", sizes.back());
  if (!link || link->bytes_per_second <= 0) {
    Finding finding = unknown("link", "which link it is was not recorded, or it is not PCIe");
    finding.observed = to_string(reached);
    return finding;
  }
  const double share = over(reached, *link);
  Finding finding{.claim = "link",
                  .verdict = Verdict::holds,
                  .observed = fmt::format("{} of {} ({:.3g} %)", to_string(reached), to_string(*link), 100 * share),
                  .why = ""};
  if (share < near_link) {
    finding.verdict = share < partly_near_link ? Verdict::does_not_hold : Verdict::holds_with_a_change;
    finding.why = "PCIe sends a header with each 128 or 256 bytes (likely)";
  }
  return finding;
}

Finding judge_pinned_both(const Rates& rates) {
  Finding finding = judge_both(rates, "pinned_both", "pinned");
  if (finding.observed.empty()) return finding;
  const Bytes size = rates.common({"copy.pinned.both", "copy.pinned.h2d", "copy.pinned.d2h"}).back();
  const double ratio = both_over_one(rates, "pinned", size);
  finding.verdict = ratio >= twice          ? Verdict::holds
                    : ratio >= clearly_more ? Verdict::holds_with_a_change
                                            : Verdict::does_not_hold;
  if (finding.verdict != Verdict::holds)
    finding.why = "requests and acknowledgements of one way travel in the other (likely)";
  return finding;
}

Finding judge_pageable_both(const Rates& rates) {
  Finding finding = judge_both(rates, "pageable_both", "pageable");
  if (finding.observed.empty()) return finding;
  const auto sizes = rates.common({"copy.pageable.both", "copy.pageable.h2d", "copy.pageable.d2h"});
  // Rates of pageable memory scatter, so the median over several sizes is used.
  std::vector<double> ratios;
  for (const Bytes size : sizes)
    if (size >= 1_MiB || sizes.back() < 1_MiB) ratios.push_back(both_over_one(rates, "pageable", size));
  const double ratio = median(ratios);
  finding.observed +=
      fmt::format("; {:.3g} to {:.3g} times, median {:.3g}", std::ranges::min(ratios), std::ranges::max(ratios), ratio);
  finding.verdict = ratio <= effect         ? Verdict::holds
                    : ratio <= clearly_more ? Verdict::holds_with_a_change
                                            : Verdict::does_not_hold;
  if (finding.verdict != Verdict::holds)
    finding.why =
        "each of the two submitting threads stages its own copy (likely); in the paper these copies take "
        "turns";
  return finding;
}

Finding judge_near_and_far(const Rates& rates) {
  const std::string primitive = "numa.copy.pinned.h2d";
  const auto nodes = rates.values(primitive, "node");
  if (nodes.size() < 2) return unknown("locality", "there is one NUMA node, or none was measured");
  std::vector<Bandwidth> of_nodes;
  std::string observed;
  for (const double node : nodes) {
    const Bytes size = rates.sizes(primitive, {{"node", node}}).back();
    of_nodes.push_back(*rates.rate(primitive, size, {{"node", node}}));
    observed += fmt::format("{}node {:.0f}: {}", observed.empty() ? "" : ", ", node, to_string(of_nodes.back()));
  }
  const double ratio = over(*std::ranges::max_element(of_nodes), *std::ranges::min_element(of_nodes));
  Finding finding{.claim = "locality", .verdict = Verdict::holds, .observed = observed, .why = ""};
  if (ratio < effect) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format("the fastest node is {:.3g} times as fast as the slowest", ratio);
  }
  return finding;
}

Finding judge_gpu_links(const Rates& rates) {
  const auto sizes = rates.sizes("peer.copy");
  Finding finding = unknown("gpu_links", rates.why_not("peer.copy"));
  if (sizes.empty()) return finding;
  finding.observed =
      fmt::format("one pair, {}: {}", to_string(sizes.back()), to_string(*rates.rate("peer.copy", sizes.back())));
  finding.why = "one pair of GPUs is opened at a time: pairs over other links are other devices to run this on";
  return finding;
}

Finding judge_peer_access(const Rates& rates) {
  const auto sizes = rates.common({"peer.copy", "peer.staged"});
  if (sizes.empty()) return unknown("peer", rates.why_not("peer.copy"));
  const Bytes size = sizes.back();
  const Bandwidth with = *rates.rate("peer.copy", size);
  const Bandwidth without = *rates.rate("peer.staged", size);
  const double gain = in_gigabytes_per_second(with) - in_gigabytes_per_second(without);
  Finding finding{
      .claim = "peer",
      .verdict = Verdict::holds,
      .observed = fmt::format("{}: {} with, {} without", to_string(size), to_string(with), to_string(without)),
      .why = ""};
  if (over(with, without) < effect) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format("{:.3g} times as fast with peer access as without", over(with, without));
  } else if (gain > 2 * published_peer_gain_gb) {
    finding.verdict = Verdict::holds_with_a_change;
    finding.why = fmt::format("{:.4g} GB/s more, not {:.4g}", gain, published_peer_gain_gb);
  }
  return finding;
}

Finding judge_without_peer(const Rates& rates) {
  const auto sizes = rates.common({"peer.staged", "copy.pinned.h2d"});
  if (sizes.empty()) return unknown("without_peer", rates.why_not("peer.staged"));
  const Bandwidth staged = *rates.rate("peer.staged", sizes.back());
  const Bandwidth link = *rates.rate("copy.pinned.h2d", sizes.back());
  Finding finding{.claim = "without_peer",
                  .verdict = Verdict::holds,
                  .observed = fmt::format("{}: {}, pinned memory to a GPU {}", to_string(sizes.back()),
                                          to_string(staged), to_string(link)),
                  .why = ""};
  if (over(staged, link) > same) {
    finding.verdict = Verdict::does_not_hold;
    finding.why = fmt::format("copies between GPUs without peer access are {:.3g} times as fast as copies to a GPU",
                              over(staged, link));
  } else if (over(staged, link) < near_link) {
    finding.verdict = Verdict::holds_with_a_change;
    finding.why = fmt::format("they reach {:.3g} % of what copies to a GPU reach", 100 * over(staged, link));
  }
  return finding;
}

Finding judge_resources(const Rates& rates) {
  const auto blocks = rates.values("mapped.read", "blocks");
  if (blocks.size() < 2) return unknown("resources", rates.why_not("mapped.read"));
  /// Least fraction of the best rate that counts as good as the best.
  constexpr double enough = 0.97;
  /// Largest fraction of the GPU's blocks that counts as few, which leaves the rest free for other kernels.
  constexpr double few = 0.1;
  double worst = 0;
  std::string observed;
  for (const char* primitive : {"mapped.read", "mapped.write"}) {
    const auto best_of = [&](double grid) {
      double best = 0;
      for (const Bytes size : rates.sizes(primitive, {{"blocks", grid}, {"width", 16}}))
        if (const auto rate = rates.rate(primitive, size, {{"blocks", grid}, {"width", 16}}))
          best = std::max(best, rate->bytes_per_second);
      return best;
    };
    const double full = best_of(blocks.back());
    const auto least = std::ranges::find_if(blocks, [&](double grid) { return best_of(grid) >= enough * full; });
    worst = std::max(worst, *least / blocks.back());
    observed += fmt::format("{}{} of {} blocks {} at {}", observed.empty() ? "" : "; ", *least, blocks.back(),
                            std::string_view(primitive) == "mapped.read" ? "read" : "write",
                            to_string(Bandwidth{best_of(*least)}));
  }
  Finding finding{.claim = "resources", .verdict = Verdict::holds, .observed = observed, .why = ""};
  if (worst <= few) {
    finding.verdict = Verdict::holds_with_a_change;
    finding.why = fmt::format("{:.3g} % of the blocks reach {:.3g} % of the rate of all, and leave the rest of the GPU",
                              100 * worst, 100 * enough);
  }
  return finding;
}

}  // namespace shiplap::experiments::commscope
