#include "shiplap/cluster/share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "shiplap/cluster/share_job.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

constexpr double relative_rounding = 1e-12;

/// Cuts between units of items, and the time of a rank for what lies between two cuts.
class Cuts {
 public:
  Cuts(const Job& job, const std::vector<NodeTimes>& times) : job_(job), times_(times) {
    unit_ = job.items / job.items_per_block >= times.size() ? job.items_per_block : 1;
    units_ = (job.items + unit_ - 1) / unit_;
  }
  std::uint64_t units() const { return units_; }
  std::size_t ranks() const { return times_.size(); }
  std::uint64_t item(std::uint64_t cut) const { return std::min(cut * unit_, job_.items); }
  /// Average items before the cut.
  double before(std::uint64_t cut) const { return items_before(job_, item(cut)); }
  Seconds time(std::size_t rank, std::uint64_t from, std::uint64_t to) const {
    return to > from ? times_[rank].at(before(to) - before(from)) : Seconds{0};
  }

  /// The last cut that the rank reaches from `from` within `limit`.
  std::uint64_t last(std::size_t rank, std::uint64_t from, Seconds limit) const {
    const double begin = before(from);
    return partition(from, units_, [&](std::uint64_t cut) { return times_[rank].at(before(cut) - begin) <= limit; });
  }
  /// The first cut from which the rank reaches `to` within `limit`.
  std::uint64_t first(std::size_t rank, std::uint64_t to, Seconds limit) const {
    const double end = before(to);
    std::uint64_t low = 0;
    std::uint64_t high = to;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (times_[rank].at(end - before(middle)) <= limit)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
  /// The cut whose average items before it are closest to `items`.
  std::uint64_t nearest(double items) const {
    const std::uint64_t below = partition(0, units_, [&](std::uint64_t cut) { return before(cut) <= items; });
    if (below == units_) return below;
    return items - before(below) <= before(below + 1) - items ? below : below + 1;
  }
  /// Whether all items are done within `limit`. A rank that takes all it can never leaves more to those behind it, so
  /// taking all it can is optimal.
  bool are_done_within(Seconds limit) const {
    std::uint64_t cut = 0;
    for (std::size_t rank = 0; rank < ranks() && cut < units_; ++rank) cut = last(rank, cut, limit);
    return cut == units_;
  }

 private:
  /// The last of [from, to] for which `holds`, which holds for `from` and for none behind one for which it does not.
  template <class Holds>
  static std::uint64_t partition(std::uint64_t from, std::uint64_t to, const Holds& holds) {
    while (from < to) {
      const std::uint64_t middle = from + (to - from + 1) / 2;
      if (holds(middle))
        from = middle;
      else
        to = middle - 1;
    }
    return from;
  }

  const Job& job_;
  const std::vector<NodeTimes>& times_;
  std::uint64_t unit_ = 1;
  std::uint64_t units_ = 1;
};

double items_of_all(const std::vector<NodeTimes>& times, Seconds limit) {
  double sum = 0;
  for (const NodeTimes& node : times) sum += node.items_within(limit);
  return sum;
}

/// The time in which the ranks do all items if these can be cut anywhere: no cut is faster.
Seconds time_of_exact_shares(const std::vector<NodeTimes>& times, double all) {
  Seconds high{0};
  for (const NodeTimes& node : times)
    high = std::max(high, node.is_capped() ? node.fixed() + node.points().back().time : node.at(all));
  Seconds low{0};
  for (int i = 0; i < 200 && high - low > high * relative_rounding; ++i) {
    const Seconds middle = low + (high - low) / 2;
    (items_of_all(times, middle) >= all ? high : low) = middle;
  }
  return high;
}

/// The least time in which all items are done with cuts between units. Nothing is faster than `exact`.
Seconds least_time_of_cuts(const Cuts& cuts, Seconds exact) {
  if (cuts.are_done_within(exact)) return exact;
  Seconds low = exact;
  Seconds high = exact;
  do {
    high *= 2;
    if (!std::isfinite(high.count()) || high > exact * 1e12)
      throw Unsupported(
          "the memory of all ranks together does not hold the shares of the job: use more ranks, or nodes with more "
          "memory");
  } while (!cuts.are_done_within(high));
  while (high - low > high * relative_rounding) {
    const Seconds middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (cuts.are_done_within(middle) ? high : low) = middle;
  }
  return high;
}

/// The first cut behind each rank from which the ranks behind it can still end within `limit`.
std::vector<std::uint64_t> first_cuts(const Cuts& cuts, Seconds limit) {
  std::vector<std::uint64_t> result(cuts.ranks());
  std::uint64_t cut = cuts.units();
  for (std::size_t rank = cuts.ranks(); rank-- > 0;) {
    result[rank] = cut;
    cut = cuts.first(rank, cut, limit);
  }
  return result;
}

}  // namespace

Seconds Shares::longest() const { return predicted.empty() ? Seconds{0} : *std::ranges::max_element(predicted); }

Shares share(const Job& job, std::vector<NodeTimes> times) {
  if (times.empty()) throw UsageError(fmt::format("{}: 0 ranks: a job is shared among at least 1", job.name));
  require_valid(job);
  const Cuts cuts(job, times);
  const double all = cuts.before(cuts.units());
  const Seconds exact = time_of_exact_shares(times, all);
  const Seconds limit = least_time_of_cuts(cuts, exact);
  const std::vector<std::uint64_t> first = first_cuts(cuts, limit);
  Shares result;
  std::uint64_t cut = 0;
  double ideal_end = 0;
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    ideal_end += times[rank].items_within(exact);
    const std::uint64_t wanted = cuts.nearest(std::min(ideal_end, all));
    const std::uint64_t end =
        std::clamp(std::max(wanted, cut), first[rank], std::max(first[rank], cuts.last(rank, cut, limit)));
    result.items.push_back({cuts.item(cut), cuts.item(end) - cuts.item(cut)});
    result.predicted.push_back(cuts.time(rank, cut, end));
    cut = end;
  }
  result.times = std::move(times);
  return result;
}

}  // namespace shiplap
