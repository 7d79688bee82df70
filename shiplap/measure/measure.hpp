// Measures a device: runs the table of primitives on it and fits a profile to the times.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/device/measurable_device.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// Number of points that are measured, and time for each.
enum class Effort : std::uint8_t {
  quick,     ///< few points, about 15 s for a GPU
  standard,  ///< all points, about 90 s
  full,      ///< five seconds for each point, as in Comm|Scope's five runs of a second (Pearson et al. 2019, section 3)
};

/// A primitive: one row of the table of what is measured.
struct Primitive {
  std::string name;  ///< name: "copy.pinned.h2d"
  std::string summary;
  std::string clock;  ///< clock: "events" or "host"
  /// Whether it is measured with Effort::full or when `MeasureOptions` name it, because no parameter of a profile needs
  /// it.
  bool on_request = false;
};
std::span<const Primitive> primitives();

struct SkippedPrimitive {
  std::string primitive;
  std::string reason;
};
struct FailedPoint {
  std::string point;
  std::string reason;
};

/// Result of a measurement. Every point is visited twice (with Effort::full once), for half of its samples each time
/// (`Measurement::visits`). Points whose samples are all equal are visited once.
struct MeasureResult {
  std::vector<Measurement> measurements;
  std::vector<SkippedPrimitive> skipped;
  std::vector<FailedPoint> failed;  ///< points whose bytes were wrong or whose ops the device refused
  /// Names of the primitives that were not measured in whole before the deadline. The result has none of their points,
  /// because a fit to a part of a row could be far off.
  std::vector<std::string> late{};
  /// State of the device right after sampling, as last read. `gpu.clocks_held_by` collects all reasons that were read,
  /// and `gpu.link_loaded` is the fastest speed that was read.
  Conditions state{};
};

struct MeasureOptions {
  Effort effort = Effort::standard;
  Bytes largest{1ull << 30};  ///< size of the largest copy
  Bytes smallest{};           ///< least bytes of a point; smaller points are left out
  std::string only = "*";     ///< glob over the names of primitives
  /// Names of the primitives to measure, in this order. When it is empty, `only` selects them in the order of the
  /// table.
  std::vector<std::string> rows{};
  /// No run begins after this moment. A row whose points do not all have samples by then is left out; a second visit
  /// that is not complete by then is left out of its point. The last run ends later, by its own length.
  Deadline deadline{};
  /// Called before each point, with the number of points that are done.
  std::function<void(std::string_view point, std::size_t done, std::size_t total)> progress;
  /// Measurements of an earlier run on the same node with the same effort. Points that were verified in that run are
  /// not measured again.
  std::vector<Measurement> have{};
  Conditions state{};  ///< state of the device in that run (`MeasureResult::state`)
  /// Called after each row with the result so far, including what `have` holds for the remaining rows.
  std::function<void(const MeasureResult&)> row_done{};
};

/// Measures all rows of the table. A row that fails is reported in the result, and the next row follows. Memory is
/// released between rows. Where the process may use several NUMA nodes, the calling thread and the threads of a row run
/// on cores of the node that has the row's memory, as far as the calling thread may use them. Its own mask is restored
/// afterwards. Throws UsageError when `only` matches nothing or `rows` names no primitive.
MeasureResult measure(MeasurableDevice&, const MeasureOptions& = {});

/// Fits the measurements to a profile of one GPU and its link; see docs/reference/parameters.md for each parameter's
/// definition. Parameters without measurements are listed in `missing`. The profile of a virtual device has the origin
/// `simulated` and a name that ends in "-simulated".
Profile fit(std::span<const Measurement>, const DeviceInfo&);
/// Fits the samples of a measured profile again, by this version. Name, origin, source and conditions stay. Throws
/// UsageError when the profile was measured neither on a GPU nor on a virtual device, or holds no samples.
Profile fit_again(const Profile&);

}  // namespace shiplap
