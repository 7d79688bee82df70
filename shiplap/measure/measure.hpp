// Measures a device: the primitives as a data table, run through the device's own executor, and fitted to a profile.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

enum class Effort : std::uint8_t {
  quick,
  standard,
  full,  ///< five seconds for each point, as in Comm|Scope's five runs of a second (Pearson et al. 2019, section 3)
};

/// A measured way to move bytes or spend time: a row of the table.
struct Primitive {
  std::string_view name;  ///< "copy.pinned.h2d"
  std::string_view summary;
  std::string_view clock;  ///< "events" or "host"
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

/// The table is gone through twice (with Effort::full once), half of a point's samples each time: see
/// `Measurement::visits`. Points that were the same every time are not visited again.
struct MeasureResult {
  std::vector<Measurement> measurements;
  std::vector<SkippedPrimitive> skipped;
  std::vector<FailedPoint> failed;  ///< a verification that failed, an op that the device refused
  /// Of the device right after points were sampled: the last reading, of `gpu.clocks_held_by` all that were read, of
  /// `gpu.link_loaded` the fastest.
  Conditions state{};
};

struct MeasureOptions {
  Effort effort = Effort::standard;
  Bytes largest{1ull << 30};  ///< largest copy
  Bytes smallest{};           ///< points of fewer bytes are left out
  std::string only = "*";     ///< glob over primitive names
  /// Called before each point: name, arguments, done, total.
  std::function<void(std::string_view point, std::size_t done, std::size_t total)> progress;
  /// Of an earlier run on the same node with the same effort: points that were verified then are taken over.
  std::vector<Measurement> have{};
  Conditions state{};  ///< of the device in that run (`MeasureResult::state`)
  /// Called after each row with everything so far, and with what `have` has of the rows to come.
  std::function<void(const MeasureResult&)> row_done{};
};

/// Runs the table. A row that fails is reported, never an abort; memory is released between rows.
/// Throws UsageError when `only` matches nothing.
MeasureResult measure(MeasurableDevice&, const MeasureOptions& = {});

/// Fits the measurements to a profile of one GPU and its link; see docs/measuring.md for each parameter's definition.
/// Parameters without measurements are listed in `missing`.
Profile fit(std::span<const Measurement>, const DeviceInfo&);
/// The samples of a profile that was measured, fitted by this version: with its name, its source and its conditions.
/// Throws UsageError when it was not measured, or holds no samples.
Profile fit_again(const Profile&);

}  // namespace shiplap
