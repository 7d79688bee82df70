// Measurements as figures of a node: what one op more of a kind takes, so that two nodes, or two days, can be compared.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

struct Figure {
  std::string primitive;                    ///< "burst.pinned.h2d"
  std::map<std::string, double> arguments;  ///< that tell it from others of its primitive: {"bytes": 1048576}
  /// Of one op more where the primitive was measured with several counts, of one on average where with a single count;
  /// with its 95 % interval.
  Interval<Seconds> time;
  /// The same from a fast sample of each count in place of the median: a tenth of all samples, those of a visit that
  /// was set aside among them, are as fast, and one at least. What disturbs a node only adds time.
  Seconds fast{0};
  /// What the op moves, both ways together, where the figure is a bandwidth: as a rate it is `bytes / time`.
  std::optional<Bytes> bytes{};
  std::optional<double> limit{};  ///< what the hardware allows for these bytes, in bytes per second (limits.hpp)
  std::string clock{};            ///< "events" or "host"
  std::vector<double> counts{};   ///< of ops, that were measured
};

/// By primitive in the order of the measurements, then by arguments. Measurements that were not verified are left out.
/// The limits come from the conditions.
std::vector<Figure> figures(std::span<const Measurement>, const Conditions& = {});

/// What one run of the measured point moves, both ways together; nullopt where that is no bandwidth.
std::optional<Bytes> bytes_of_run(const Measurement&);

/// "burst.pinned.h2d, 1 MiB", "mapped.read, 16 blocks, 8 MiB, width 16".
std::string name_of(const Figure&);

}  // namespace shiplap
