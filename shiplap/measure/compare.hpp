// Comparison of two profiles, of one node at two times or of two nodes.
#pragma once

#include <string>
#include <vector>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/measure/figures.hpp"

namespace shiplap {

enum class Change : std::uint8_t {
  same,      ///< within the tolerance
  better,    ///< faster by more than the tolerance at both ends of the interval
  degraded,  ///< slower by more than the tolerance at both ends of the interval
  unclear,   ///< the intervals are too wide to tell
};
EnumNames<Change> names_of(Change);
std::string to_string(Change);

struct ComparedFigure {
  Figure baseline;
  Figure now;
  Estimate slower;  ///< time now over time of the baseline, with its 95 % interval; above 1 is slower
  Change change = Change::same;
};

struct Comparison {
  std::vector<ComparedFigure> figures;  ///< figures that both profiles have
  std::vector<std::string> failed;      ///< points of the baseline whose bytes were wrong now
  std::vector<std::string> only_in_baseline;
  std::vector<std::string> only_now;
  bool baseline_simulated = false;  ///< whether the baseline was measured on a virtual device
  bool now_simulated = false;       ///< whether the profile that is judged was measured on a virtual device
  struct Condition {
    std::string name;
    std::string baseline;
    std::string now;
  };
  std::vector<Condition> conditions;  ///< conditions that differ

  std::size_t count(Change) const;
  /// Whether any figure is worse or any point failed.
  bool degraded() const;
};

/// Compares `now` with `baseline`. A figure is worse when two conditions hold. First, its time is longer by more than
/// `tolerance` (0.05 is 5 %) at both ends of the interval of the ratio, which combines both 95 % intervals as
/// independent. Second, its fast samples (`Figure::fast`) are longer than the baseline's figure by as much, because a
/// node that still reaches a time in some samples has not become slower. Figures that vary more between runs have a
/// larger tolerance: 150 % where the CPU copies, faults pages or calls the system, 100 % for chains, 25 % for other
/// host times, launches and copies up to 64 KiB, 8 % for kernels that access host memory and for copies concurrent with
/// them. Figures that were measured with other counts are not compared. When a profile has no measured points, the
/// figures are those of the parameters of both (`parameter_figures`). Throws UsageError for a negative tolerance,
/// Error when the profiles have no figure in common.
Comparison compare(const Profile& baseline, const Profile& now, double tolerance = 0.05);

/// Writes the document `shiplap/comparison`.
Json to_json(const Comparison&);
/// Reads the names, times and changes of figures, and all else of the document. Throws Error that names the key.
void from_json(const JsonReader&, Comparison&);
Json json_schema(const Comparison&);  ///< the JSON Schema of the document

}  // namespace shiplap
