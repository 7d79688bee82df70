// Chooses what moves scattered blocks between host memory and a GPU: copies, a batch, a strided copy, or a kernel and
// its grid.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/profile/neighbour.hpp"
#include "shiplap/schedule/blocks.hpp"
#include "shiplap/schedule/place.hpp"

namespace shiplap {

struct Profile;

/// Blocks that are moved together.
struct BlockSet {
  Bytes block{};                         ///< size of a block; more than 0
  std::uint64_t blocks = 1;              ///< number of blocks; more than 0
  bool to_device = true;                 ///< true: from the pool to the GPU (gather); false: to the pool (scatter)
  MemoryKind pool = MemoryKind::pinned;  ///< memory of the pool
  bool regular = false;  ///< whether the blocks are at equal distances, so that a strided copy moves them
  friend bool operator==(const BlockSet&, const BlockSet&) = default;
};

/// What runs on the GPU while the blocks move, and what a mover may cost it.
struct MoverLimits {
  /// Most time that is added to the neighbour while the mover runs, as a fraction of its time alone. Absent: no limit.
  std::optional<double> max_slowdown{};
  /// A kernel that runs meanwhile. Absent: times are those on an idle GPU, and `max_slowdown` is kept for the neighbour
  /// that loses most, which is bound by device memory and has very short thread blocks.
  std::optional<Neighbour> neighbour{};
  friend bool operator==(const MoverLimits&, const MoverLimits&) = default;
};

/// Times of a mover for a set of blocks, and its effect on a neighbour.
struct MoverTime {
  Mover mover;  ///< the mover
  /// Time from the call until the last block has arrived, concurrent with the neighbour and without other traffic on
  /// the link.
  Seconds time{0};
  Bandwidth rate{};  ///< bytes of all blocks over `time`
  Seconds call{0};   ///< host time of the call or calls
  /// Added time of the neighbour, as a fraction of its time alone, while such blocks move again and again. Without a
  /// neighbour: that of the one that loses most. 0 when it was not measured.
  double slowdown = 0;
};

/// Times that differ by less than this fraction are equal for `mover_times`. It is about what measured times of one
/// point differ by from run to run.
inline constexpr double equal_mover_times = 0.01;

/// The times of all movers that the profile knows for such blocks, with each measured grid of the kernel, best first.
/// The best is the one with the smallest slowdown, and then the smallest grid, among those that take less than 1 %
/// longer than the fastest: a difference that a measurement hardly shows is not worth SMs of a neighbour. The order of
/// the others follows from the same rule, applied to those that are left. Movers that may slow a neighbour down by more
/// than `max_slowdown`, by the upper ends of the measured intervals, are left out. A kernel moves blocks of less than
/// 1 GiB.
///
/// Throws UsageError for an empty set or a member of MoverLimits out of range. Throws Unsupported when the profile has
/// no figures for moving blocks, and when `max_slowdown` or `neighbour` is given and the profile does not say what
/// kernels and movers cost each other. A mover of which it does not say so is left out.
std::vector<MoverTime> mover_times(const Profile&, std::uint16_t gpu, std::uint16_t numa_node, const BlockSet&,
                                   const MoverLimits& = {});

/// A mover with the reason why it was chosen.
struct MoverChoice {
  MoverTime best;      ///< the first of `mover_times`
  std::string reason;  ///< one sentence
};
/// The best mover. Throws as `mover_times` does, and Unsupported when every mover exceeds `max_slowdown`.
MoverChoice choose_mover(const Profile&, std::uint16_t gpu, std::uint16_t numa_node, const BlockSet&,
                         const MoverLimits& = {});

/// The best mover of blocks of a size or larger.
struct MoverFrom {
  Bytes block;                 ///< smallest size of a block
  std::optional<Mover> mover;  ///< the best mover from this size up to the next entry; nullopt: none keeps the limit
  friend bool operator==(const MoverFrom&, const MoverFrom&) = default;
};
/// The best movers of a number of blocks, by size of a block.
struct Crossovers {
  std::uint64_t blocks = 1;     ///< number of blocks
  bool to_device = true;        ///< true: from the pool to the GPU (gather); false: to the pool (scatter)
  std::vector<MoverFrom> best;  ///< by increasing size; the first entry begins at `smallest_crossover`
};
inline constexpr Bytes smallest_crossover{256};         ///< smallest size that `crossovers` considers
inline constexpr Bytes largest_crossover{4ull << 20u};  ///< largest size that `crossovers` considers

/// The sizes that `crossovers` considers, in increasing order: 16 for each power of two. The sizes in the profile are
/// farther apart, so a finer division would show nothing but the interpolation between them.
std::vector<Bytes> crossover_sizes();
/// The sizes at which the best mover changes. `set.block` is ignored. Sizes whose blocks together exceed the memory of
/// the GPU are left out. Throws as `mover_times` does.
Crossovers crossovers(const Profile&, std::uint16_t gpu, std::uint16_t numa_node, const BlockSet& set,
                      const MoverLimits& = {});

}  // namespace shiplap
