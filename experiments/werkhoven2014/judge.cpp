#include "experiments/werkhoven2014/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace shiplap::experiments::werkhoven {
namespace {

// Largest relative deviation from a straight line through the points of Figs 5 and 6.
constexpr double straight = 0.05;
// Least relative slow-down of copies that counts. Repeated runs of the same copies differ by this.
constexpr double slowed = 0.02;
// Relative error below which two computations agree up to rounding.
constexpr double rounding = 1e-4;

bool near(double ours, double published, double tolerance) { return std::abs(ours / published - 1) <= tolerance; }

std::string parameters_text(const loggp::Parameters& p) {
  return fmt::format("L+o {:.4g} µs, G {:.4g} ns/byte ({}), g {:.4g} µs", in_microseconds(p.latency_overhead),
                     p.per_byte.seconds * 1e9, to_string(bandwidth(p.per_byte)), in_microseconds(p.gap));
}

}  // namespace

void cannot_check(StepResult& result, std::span<const std::string_view> claims, const std::string& why) {
  for (const std::string_view claim : claims)
    result.findings.push_back({std::string(claim), Verdict::cannot_be_checked, "", why});
}

std::string signed_percent(double fraction) { return fmt::format("{:+.2f} %", 100 * fraction); }

Extremes extremes(std::span<const Transfer> transfers, bool to_device) {
  Extremes e;
  double worst = -1;
  for (const Transfer& t : transfers) {
    if (t.to_device != to_device) continue;
    ++e.points;
    e.over = std::max(e.over, t.error());
    e.under = std::min(e.under, t.error());
    if (std::abs(t.error()) > worst) {
      worst = std::abs(t.error());
      e.worst_size = t.total;
    }
  }
  return e;
}

Finding judge_table1(const loggp::Parameters& h2d, const loggp::Parameters& d2h) {
  const auto same = [](const loggp::Parameters& ours, const loggp::Parameters& published) {
    return near(ours.latency_overhead / published.latency_overhead, 1, same_link) &&
           near(ours.per_byte.seconds, published.per_byte.seconds, same_link) &&
           near(ours.gap / published.gap, 1, same_link);
  };
  Finding f{"table1", Verdict::holds,
            fmt::format("to the GPU {}; to the host {}", parameters_text(h2d), parameters_text(d2h)), ""};
  if (same(h2d, table1(true)) && same(d2h, table1(false))) return f;
  f.verdict = Verdict::does_not_hold;
  f.why = fmt::format("{:.3g} and {:.3g} times the published bandwidth, {:.2g} and {:.2g} times the gap",
                      table1(true).per_byte.seconds / h2d.per_byte.seconds,
                      table1(false).per_byte.seconds / d2h.per_byte.seconds, h2d.gap / table1(true).gap,
                      d2h.gap / table1(false).gap);
  return f;
}

Finding judge_latency(const loggp::Parameters& h2d, const loggp::Parameters& d2h) {
  const auto text = [](const loggp::Parameters& p) {
    return fmt::format("g {:.4g} µs, L+o {:.4g} µs", in_microseconds(p.gap), in_microseconds(p.latency_overhead));
  };
  const bool in = h2d.gap < h2d.latency_overhead;
  const bool out = d2h.gap < d2h.latency_overhead;
  Finding f{"latency", Verdict::holds, fmt::format("to the GPU {}; to the host {}", text(h2d), text(d2h)), ""};
  if (in && out) return f;
  f.verdict = in || out ? Verdict::holds_with_a_change : Verdict::does_not_hold;
  f.why = in || out ? fmt::format("only of copies to the {}", in ? "GPU" : "host") : "in neither direction";
  return f;
}

Finding judge_stream_creation(Seconds creation, Seconds gap) {
  const Seconds each = creation / published_uses;
  const double share = each / gap;
  Finding f{"stream-creation", Verdict::holds,
            fmt::format("creating and destroying a stream takes {}; over {:.0f} uses {} each, {:.2g} % of g = {}",
                        to_string(creation), published_uses, to_string(each), 100 * share, to_string(gap)),
            ""};
  if (share <= tie) return f;
  f.verdict = Verdict::does_not_hold;
  f.why = fmt::format("{:.0f} uses are needed until it is {:.0f} % of g", std::ceil(creation / (tie * gap)), 100 * tie);
  return f;
}

Finding judge_line(std::string_view claim, std::span<const Transfer> transfers, bool to_device) {
  double off = 0;
  double off_published = 0;
  const Transfer* one = nullptr;
  const Transfer* most = nullptr;
  for (const Transfer& t : transfers) {
    if (t.to_device != to_device) continue;
    off = std::max(off, std::abs(t.error()));
    off_published =
        std::max(off_published, std::abs(loggp::transfer(table1(to_device), t.total, t.copies) / t.observed - 1));
    if (one == nullptr || t.copies < one->copies) one = &t;
    if (most == nullptr || t.copies > most->copies) most = &t;
  }
  if (one == nullptr || one->copies != 1 || most->copies == 1)
    return {std::string(claim), Verdict::cannot_be_checked, "", "there are no two numbers of streams to compare"};
  Finding f{
      std::string(claim), Verdict::holds,
      fmt::format("{} in one stream, {} in {}; the line through L+o, G and g found here is off by {:.2f} % at most",
                  to_string(one->observed), to_string(most->observed), most->copies, 100 * off),
      ""};
  const double published = to_device ? worst_to_device : worst_to_host_too_short;
  if (off_published <= published) return f;
  f.verdict = off <= straight ? Verdict::holds_with_a_change : Verdict::does_not_hold;
  f.why = off <= straight
              ? "a straight line too, with the parameters of this link"
              : fmt::format("one L+o and one g do not describe all these copies within {:.0f} %", 100 * straight);
  return f;
}

std::vector<Finding> judge_transfer_errors(std::span<const Transfer> transfers) {
  std::vector<Finding> findings;
  const auto text = [](const Extremes& e) {
    return fmt::format("{} to {} (predicted over observed), {} points, the largest at {}", signed_percent(e.under),
                       signed_percent(e.over), e.points, to_string(e.worst_size));
  };
  const Extremes in = extremes(transfers, true);
  const Extremes out = extremes(transfers, false);
  Finding h2d{"error-h2d", Verdict::holds, text(in), ""};
  if (std::max(in.over, -in.under) > worst_to_device) {
    h2d.verdict = Verdict::does_not_hold;
    h2d.why = fmt::format("more than {:.2f} %", 100 * worst_to_device);
  } else if (in.under < -rounding) {
    h2d.verdict = Verdict::holds_with_a_change;
    h2d.why = in.over > rounding ? "as small, but of both signs" : "as small, but with too short a time";
  }
  Finding d2h{"error-d2h", Verdict::holds, text(out), ""};
  if (std::max(out.over, -out.under) > worst_to_host_too_short) {
    d2h.verdict = Verdict::does_not_hold;
    d2h.why = fmt::format("more than {:.2f} %", 100 * worst_to_host_too_short);
  } else if (out.over > worst_to_host_too_long) {
    d2h.verdict = Verdict::holds_with_a_change;
    d2h.why = "within the larger of the two errors, but times are predicted too long by more than 0.65 %";
  }
  Bytes smallest = transfers.empty() ? Bytes{} : transfers.front().total;
  Bytes largest = smallest;
  for (const Transfer& t : transfers) {
    smallest = std::min(smallest, t.total);
    largest = std::max(largest, t.total);
  }
  Finding where{"largest-error", Verdict::holds,
                fmt::format("at {} to the GPU, at {} to the host, of {} to {}", to_string(in.worst_size),
                            to_string(out.worst_size), to_string(smallest), to_string(largest)),
                ""};
  const int at_smallest = (in.worst_size == smallest) + (out.worst_size == smallest);
  const double worst_of_all = std::max({in.over, -in.under, out.over, -out.under});
  if (worst_of_all < rounding) {
    where = {"largest-error", Verdict::cannot_be_checked, "", "the times are those of the model itself"};
  } else if (smallest == largest) {
    where = {"largest-error", Verdict::cannot_be_checked, "", "one size only was run"};
  } else if (at_smallest < 2) {
    where.verdict = at_smallest == 1 ? Verdict::holds_with_a_change : Verdict::does_not_hold;
    where.why = at_smallest == 1 ? "in one direction only" : "";
  }
  findings.push_back(std::move(h2d));
  findings.push_back(std::move(d2h));
  findings.push_back(std::move(where));
  return findings;
}

std::vector<Finding> judge_duplex(const DuplexRates& found) {
  const auto rates = [](const van_werkhoven_2014::UnderLoad& l) {
    return fmt::format("{} and {}", to_string(bandwidth(l.h2d)), to_string(bandwidth(l.d2h)));
  };
  const auto factor = [&](const van_werkhoven_2014::UnderLoad& l) {
    return std::pair{l.h2d.seconds / found.alone.h2d.seconds, l.d2h.seconds / found.alone.d2h.seconds};
  };
  std::string seen = fmt::format("to the GPU and to the host, alone {}", rates(found.alone));
  if (found.copies) seen += fmt::format("; duplex copies {}", rates(*found.copies));
  if (found.mapped) seen += fmt::format("; copies concurrent with mapped writes {}", rates(*found.mapped));
  if (!found.copies && !found.mapped) {
    const std::string why = "no duplex rates of this device are known";
    return {{"table2", Verdict::cannot_be_checked, "", why}, {"contention", Verdict::cannot_be_checked, "", why}};
  }
  const auto same = [](const van_werkhoven_2014::UnderLoad& ours, std::size_t row) {
    const auto& theirs = table2()[row].per_byte;
    return near(ours.h2d.seconds, theirs.h2d.seconds, same_link) &&
           near(ours.d2h.seconds, theirs.d2h.seconds, same_link);
  };
  const bool as_published = (found.copies && same(*found.copies, pcie2_explicit)) ||
                            (found.mapped && (same(*found.mapped, pcie2_mapped) || same(*found.mapped, pcie3_mapped)));
  Finding table{"table2", as_published ? Verdict::holds : Verdict::does_not_hold, seen,
                as_published ? "" : fmt::format("no row of the table is within {:.0f} %", 100 * same_link)};

  Finding contention{"contention", Verdict::holds, "", ""};
  const auto describe = [&](std::string_view what, const van_werkhoven_2014::UnderLoad& l) {
    const auto [in, out] = factor(l);
    if (!contention.observed.empty()) contention.observed += "; ";
    contention.observed +=
        fmt::format("beside {} a byte to the GPU takes {:.2f} and to the host {:.2f} times as long", what, in, out);
    return std::max(in, out) > 1 + slowed;
  };
  const bool by_copies = found.copies && describe("copies", *found.copies);
  const bool by_mapped = found.mapped && describe("mapped writes", *found.mapped);
  const bool worse = !found.copies || !found.mapped || factor(*found.mapped).first > factor(*found.copies).first;
  if (!by_copies && !by_mapped) {
    contention.verdict = Verdict::does_not_hold;
  } else if (found.mapped && (!by_mapped || !worse)) {
    contention.verdict = Verdict::holds_with_a_change;
    contention.why = fmt::format(
        "a byte to the GPU takes {:.2f} times as long concurrent with mapped writes{}", factor(*found.mapped).first,
        found.copies ? fmt::format(", and {:.2f} times concurrent with copies", factor(*found.copies).first)
                     : std::string());
  } else if (!found.mapped) {
    contention.verdict = Verdict::holds_with_a_change;
    contention.why = "of copies concurrent with copies; nothing is known of mapped writes";
  }
  return {table, contention};
}

}  // namespace shiplap::experiments::werkhoven
