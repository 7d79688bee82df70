// The fastest strategies for jobs of many sizes and kernel times on one profile.
#pragma once

#include <string>
#include <vector>

#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The jobs of a map: their arrays are alike but for their size.
struct MapQuestion {
  MemoryKind memory = MemoryKind::pinned;  ///< memory that the arrays live in
  double in_fraction = 0.5;  ///< input bytes over all bytes of a job, from 0 to 1; the map takes the nearest 64th
  /// All bytes of a job, in and out, in ascending order, each a multiple of 64 bytes. Jobs that do not fit into the
  /// host memory of the profile are planned too.
  std::vector<Bytes> sizes{};
  std::vector<Seconds> kernels{};  ///< kernel times of the whole job on resident data, in ascending order
};

/// Sizes from 1 MiB to 16 GiB (powers of two) and kernel times from 10 µs to 1 s (two in a decade).
MapQuestion default_map_question();

/// The best choice of one strategy.
struct MapChoice {
  Choice choice;                ///< the strategy and its parameters
  Interval<Seconds> predicted;  ///< predicted time with its 90 % interval
};

/// One job of the map.
struct MapCell {
  Bytes size;                   ///< all bytes, in and out
  Seconds kernel{0};            ///< kernel time of the whole job
  Seconds bound{0};             ///< the time that no strategy is below
  std::vector<MapChoice> best;  ///< the best choice of each strategy that can do the job, fastest first
};

/// All jobs of a question.
struct StrategyMap {
  std::string profile;         ///< name of the profile
  Origin profile_origin;       ///< where its figures come from
  std::string profile_hash;    ///< `parameter_hash` of the profile
  MapQuestion question;        ///< what the map is about
  std::vector<MapCell> cells;  ///< by kernel time, then by size
};

/// Plans every job of the question, on all cores, with three streams, chunks of one size, and neither graphs nor
/// batches. Throws UsageError for a fraction outside of 0 to 1 and for a question without sizes or kernel times,
/// Unsupported when no strategy can do a job.
StrategyMap strategy_map(const Profile&, const MapQuestion& = default_map_question());

}  // namespace shiplap
