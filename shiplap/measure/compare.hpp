// Two profiles of one node, or of two: which figures became worse.
#pragma once

#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/measure/figures.hpp"

namespace shiplap {

enum class Change : std::uint8_t {
  same,      ///< within the tolerance
  better,    ///< better by more than the tolerance at either end of the intervals
  degraded,  ///< worse by more than the tolerance at either end of the intervals
  unclear,   ///< the intervals are too wide to tell
};
std::string to_string(Change);

struct ComparedFigure {
  Figure baseline;
  Figure now;
  Estimate slower;  ///< time now over time then, with its 95 % interval: above 1 is worse
  Change change = Change::same;
};

struct Comparison {
  std::vector<ComparedFigure> figures;  ///< of both profiles
  std::vector<std::string> failed;      ///< points of the baseline whose bytes did not arrive now
  std::vector<std::string> only_in_baseline;
  std::vector<std::string> only_now;
  struct Condition {
    std::string name;
    std::string baseline;
    std::string now;
  };
  std::vector<Condition> conditions;  ///< those that differ

  std::size_t count(Change) const;
  /// Whether a figure is worse, or failed.
  bool degraded() const;
};

/// A figure is worse when its time is longer by more than `tolerance` (0.05 is 5 %) even at the favourable end of the
/// interval of the ratio, in which both 95 % intervals are combined as independent, and its fast samples
/// (`Figure::fast`) take longer than the baseline's figure by as much: what a node reached in some runs it has not
/// lost. Figures that differ more from run to run (host times, copies up to 64 KiB and launches 25 %, kernels that
/// access host memory 8 %) must exceed that. Figures that were measured with other counts are not compared. Throws
/// UsageError when the tolerance is not at least 0, Error when the profiles have no figure in common.
Comparison compare(const Profile& baseline, const Profile& now, double tolerance = 0.05);

Json to_json(const Comparison&);

}  // namespace shiplap
