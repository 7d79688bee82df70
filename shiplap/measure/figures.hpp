// Figures of a node derived from measurements: the time of one further op of a kind. They can be compared between nodes
// and between days.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

struct Figure {
  std::string primitive;                    ///< name of the primitive: "burst.pinned.h2d"
  std::map<std::string, double> arguments;  ///< arguments that identify the point of the primitive: {"bytes": 1048576}
  /// Time of one further op where the primitive was measured with several counts, else the average time of one op; with
  /// its 95 % interval.
  Interval<Seconds> time;
  /// The time as computed from a fast sample of each count instead of the median. A tenth of the samples, at least one,
  /// take at most as long as the fast sample; samples of a visit that was set aside count too. Disturbances only add
  /// time, so fast samples show what the node can do.
  Seconds fast{0};
  /// Bytes that the op moves, summed over both directions, where the figure is a bandwidth. The rate is `bytes / time`.
  std::optional<Bytes> bytes{};
  std::optional<double> limit{};  ///< limit of the hardware for this rate, in bytes per second (limits.hpp)
  std::string clock{};            ///< clock of the measurement: "events" or "host"
  std::vector<double> counts{};   ///< numbers of ops that were measured
};

/// Derives the figures, by primitive in the order of the measurements, then by arguments. Measurements that were not
/// verified are left out. The limits come from the conditions.
std::vector<Figure> figures(std::span<const Measurement>, const Conditions& = {});

/// Figures that the parameters of a profile give, for profiles without measured points: the time of one more large copy
/// over the first link, alone and in duplex, of pageable memory, inside the first GPU, and to its neighbours. They have
/// no counts.
std::vector<Figure> parameter_figures(const Profile&);

/// Bytes that one run of the measured point moves, summed over both directions; nullopt where the point measures no
/// bandwidth.
std::optional<Bytes> bytes_of_run(const Measurement&);

/// Whether a primitive moves its bytes in both directions, as "copy.pinned.both" and "copy.pinned.both.flushed" do.
bool moves_both_ways(std::string_view primitive);

/// Name of a figure for people: "burst.pinned.h2d, 1 MiB", "mapped.read, 16 blocks, 8 MiB, width 16".
std::string name_of(const Figure&);

}  // namespace shiplap
