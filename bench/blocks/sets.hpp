// Sets of scattered blocks drawn at random: the chosen mover beside the best of a sweep over all movers and grids.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "shiplap/device/measurable_device.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap::bench {

/// What runs on the GPU while the blocks move.
enum class Beside : std::uint8_t { none, compute, memory };

/// Blocks that are moved together.
struct Set {
  Bytes block;
  std::uint64_t blocks = 1;
  bool to_device = true;
  std::uint64_t seed = 0;  ///< seed of the indices
  bool sorted = false;     ///< whether the indices increase
  bool aligned = true;     ///< whether the size is a multiple of 256 bytes, otherwise of 16
  Beside neighbour = Beside::none;
  std::optional<double> max_slowdown{};  ///< most that the neighbour may lose, as a fraction
};

/// What one mover took.
struct MoverResult {
  Mover mover;
  Seconds predicted{0};       ///< by the simulator without a neighbour, and by `mover_times` beside one
  double predicted_loss = 0;  ///< time that the neighbour loses while the mover runs all the time, as a fraction
  Seconds time{0};            ///< median, concurrent with the neighbour if there is one
  double loss = 0;            ///< observed loss of the neighbour, as `predicted_loss`
};

struct SetResult {
  Set set;
  std::vector<MoverResult> movers;
  std::optional<std::size_t> chosen{};  ///< index of the mover that the profile chooses; nullopt: none keeps the limit
  std::optional<std::size_t> best{};    ///< index of the fastest mover that keeps the limit; nullopt: none does
  double regret = 0;  ///< time of the chosen over that of the best, minus 1; 0 when one of them is absent
};

/// Draws `count` sets and measures them. `done` is called after each.
std::vector<SetResult> run_sets(MeasurableDevice&, const Profile&, unsigned count, std::uint64_t seed,
                                const std::function<void(const SetResult&)>& done);

}  // namespace shiplap::bench
