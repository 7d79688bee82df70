// The predicted time of a node for any number of items of a job: plans of a few numbers, and lines between them.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/pipeline/plan.hpp"

namespace shiplap {

/// The time that a node takes for its share of a job, by the number of items of average density (see items_before). It
/// is linear between points, below the first and beyond the last one, and never decreases. No items take no time.
class NodeTimes {
 public:
  /// The predicted time of one number of items.
  struct Point {
    double items = 0;  ///< items of average density, more than 0
    Seconds time{0};   ///< predicted time of one run
  };

  /// The times of a node. With `is_capped` the node cannot do more items than the last point has, because its memory
  /// does not hold them: more items take an infinite time. `fixed` is added to the time of every share that has items,
  /// such as the time of an exchange of halos. Throws UsageError for no points, and for numbers that are not positive.
  explicit NodeTimes(std::vector<Point> points, bool is_capped = false, Seconds fixed = Seconds{0});

  /// These times with one more point.
  NodeTimes with(Point) const;
  /// These times multiplied by `factor`, except `fixed`.
  NodeTimes slower_by(double factor) const;

  /// The time of a share with this many items of average density.
  Seconds at(double items) const;
  /// The most items of average density whose time is at most `time`; 0 when there are none.
  double items_within(Seconds time) const;

  /// The points by increasing items.
  const std::vector<Point>& points() const { return points_; }
  /// Whether the node cannot do more items than the last point has.
  bool is_capped() const { return capped_; }
  /// The time that is added to that of every share with items.
  Seconds fixed() const { return fixed_; }

 private:
  /// The line below the first point begins here.
  Seconds at_zero() const;
  /// Time of an item beyond the last point.
  Seconds last_slope() const;

  std::vector<Point> points_;
  bool capped_;
  Seconds fixed_;
};

/// Plans shares of several sizes, around the equal share among `ranks` ranks, on the node. Where the kernel's time is
/// neither stated nor derived, it is measured once on the node's GPU for an equal share; arrays without memory are
/// zeros meanwhile. Sizes that do not fit into the node's memory are left out.
///
/// Throws UsageError for no ranks, a `carried` array, or as `plan` does.
NodeTimes node_times(const Node&, const Job&, unsigned ranks, const PlanOptions& = {});

/// Plans shares of these numbers of items, which increase, in the middle of the job. Throws as node_times does, and
/// UsageError for no sizes.
NodeTimes node_times_of(const Node&, const Job&, const std::vector<std::uint64_t>& sizes, const PlanOptions& = {});

/// The point of a share that is planned as it is.
NodeTimes::Point planned_point(const Node&, const Job&, ItemRange share, const PlanOptions& = {});

/// The job with the cost of its kernel, measured as node_times measures it. A job that states its cost, and one for a
/// node without a GPU, stay as they are.
Job with_kernel_cost(const Node&, const Job&, unsigned ranks, const PlanOptions& = {});

}  // namespace shiplap
