#include "shiplap/cluster/node_times.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "shiplap/cluster/share_job.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap {

NodeTimes::NodeTimes(std::vector<Point> points, bool is_capped, Seconds fixed)
    : points_(std::move(points)), capped_(is_capped), fixed_(fixed) {
  if (points_.empty()) throw UsageError("the times of a node need at least one point");
  for (const Point& point : points_)
    if (!(point.items > 0) || !(point.time > Seconds{0}) || !std::isfinite(point.items + point.time.count()))
      throw UsageError("the times of a node are for a number of items and a time that are finite and more than 0");
  std::ranges::sort(points_, {}, &Point::items);
  const auto same_items = [](const Point& a, const Point& b) { return a.items == b.items; };
  points_.erase(std::unique(points_.begin(), points_.end(), same_items), points_.end());
  for (std::size_t i = 1; i < points_.size(); ++i) points_[i].time = std::max(points_[i].time, points_[i - 1].time);
}

NodeTimes NodeTimes::with(Point point) const {
  std::vector<Point> points = points_;
  std::erase_if(points, [&](const Point& known) { return known.items == point.items; });
  points.push_back(point);
  return NodeTimes(std::move(points), capped_, fixed_);
}

NodeTimes NodeTimes::slower_by(double factor) const {
  std::vector<Point> points = points_;
  for (Point& point : points) point.time *= factor;
  return NodeTimes(std::move(points), capped_, fixed_);
}

Seconds NodeTimes::at_zero() const {
  if (points_.size() == 1) return Seconds{0};
  const Point& low = points_[0];
  const Point& high = points_[1];
  return std::max(Seconds{0}, low.time - (high.time - low.time) * (low.items / (high.items - low.items)));
}

Seconds NodeTimes::last_slope() const {
  const Point& last = points_.back();
  if (points_.size() == 1) return last.time / last.items;
  const Point& before = points_[points_.size() - 2];
  return (last.time - before.time) / (last.items - before.items);
}

Seconds NodeTimes::at(double items) const {
  if (items <= 0) return Seconds{0};
  const Point& last = points_.back();
  if (items > last.items) {
    if (capped_) return Seconds{std::numeric_limits<double>::infinity()};
    return fixed_ + last.time + last_slope() * (items - last.items);
  }
  const auto above = std::ranges::lower_bound(points_, items, {}, &Point::items);
  const Point low = above == points_.begin() ? Point{0, at_zero()} : *(above - 1);
  return fixed_ + low.time + (above->time - low.time) * ((items - low.items) / (above->items - low.items));
}

double NodeTimes::items_within(Seconds time) const {
  const Seconds left = time - fixed_;
  const Point& last = points_.back();
  if (left >= last.time) {
    if (capped_) return last.items;
    const Seconds slope = last_slope();
    return slope > Seconds{0} ? last.items + (left - last.time) / slope : std::numeric_limits<double>::max();
  }
  const auto above = std::ranges::upper_bound(points_, left, {}, &Point::time);
  const Point low = above == points_.begin() ? Point{0, at_zero()} : *(above - 1);
  if (left <= low.time) return left < low.time ? 0 : low.items;
  return low.items + (above->items - low.items) * ((left - low.time) / (above->time - low.time));
}

namespace {

/// `count` items in the middle of the job, which have a halo on both sides.
ItemRange in_the_middle(const Job& job, std::uint64_t count) {
  const std::uint64_t first = (job.items - count) / 2 / job.items_per_block * job.items_per_block;
  return {first, count};
}

PlanOptions options_for_shares(PlanOptions options) {
  options.race = Seconds{0};
  options.check_reach = false;
  return options;
}

/// Memory for the arrays of a share that have none, for as long as the object lives.
class ZeroArrays {
 public:
  ZeroArrays(Device& device, Job& job) {
    for (Array& array : job.arrays) {
      if (array.data != nullptr || size_on_host(array).count == 0) continue;
      memory_.push_back(device.allocate(Place::host(), array.memory, size_on_host(array)));
      array.data = memory_.back().data();
      std::memset(array.data, 0, size_on_host(array).count);
    }
  }

 private:
  std::vector<Memory> memory_;
};

/// Numbers of items around the equal share, by increasing size.
std::vector<std::uint64_t> sizes_around(const Job& job, unsigned ranks) {
  constexpr double smallest = 0.125;  // as a fraction of the equal share
  constexpr double largest = 8;
  const double equal = static_cast<double>(job.items) / ranks;
  std::vector<std::uint64_t> sizes;
  for (double part = smallest; part <= largest; part *= 2) {
    const auto items = static_cast<std::uint64_t>(std::llround(equal * part));
    const std::uint64_t unit = items >= job.items_per_block ? job.items_per_block : 1;
    sizes.push_back(std::clamp<std::uint64_t>(items / unit * unit, 1, job.items));
  }
  sizes.push_back(job.items);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace

Job with_kernel_cost(const Node& node, const Job& job, unsigned ranks, const PlanOptions& options) {
  if (!node.has_gpu() || !job.cost.points.empty()) return job;
  const ItemRange share = in_the_middle(job, std::max<std::uint64_t>(1, job.items / ranks));
  Job part = job_of_share(job, share);
  const ZeroArrays zeros(*node.device, part);
  Job result = job;
  const double here = items_before(job, share.first + share.count) - items_before(job, share.first);
  result.cost =
      cost_at_density(plan(node, part, options_for_shares(options)).job.cost, static_cast<double>(share.count) / here);
  return result;
}

NodeTimes::Point planned_point(const Node& node, const Job& job, ItemRange share, const PlanOptions& options) {
  const Plan planned = plan(node, job_of_share(job, share), options_for_shares(options));
  return {items_before(job, share.first + share.count) - items_before(job, share.first),
          planned.chosen.predicted.value};
}

NodeTimes node_times_of(const Node& node, const Job& job, const std::vector<std::uint64_t>& sizes,
                        const PlanOptions& options) {
  std::vector<NodeTimes::Point> points;
  bool capped = false;
  for (const std::uint64_t size : sizes) {
    try {
      points.push_back(planned_point(node, job, in_the_middle(job, size), options));
    } catch (const Unsupported&) {
      if (points.empty()) throw;
      capped = true;
      break;
    }
  }
  return NodeTimes(std::move(points), capped);
}

NodeTimes node_times(const Node& node, const Job& given, unsigned ranks, const PlanOptions& options) {
  if (ranks == 0) throw UsageError("0 ranks: a job is shared among at least 1");
  require_valid(given);
  const Job job = with_kernel_cost(node, given, ranks, options);
  return node_times_of(node, job, sizes_around(job, ranks), options);
}

}  // namespace shiplap
