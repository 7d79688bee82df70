// What may move the blocks of a job: the movers that a search tries.
#pragma once

#include <optional>
#include <vector>

#include "shiplap/plan/ranking.hpp"
#include "shiplap/schedule/blocks.hpp"

namespace shiplap {

struct Profile;

/// Movers of both directions. nullopt where no array of the job moves blocks in that direction.
struct JobMovers {
  std::optional<Mover> gather{};   ///< Choice::mover_h2d
  std::optional<Mover> scatter{};  ///< Choice::mover_d2h
};

/// Movers worth trying for a job with blocks, the best in isolation first (`mover_times`). Each other entry changes the
/// first for H2D or for D2H only: another kind of mover, or the next smaller or larger grid. A kernel may move blocks
/// only with `own_streams`, in a high-priority stream (Stream::urgent), so that its thread blocks run before waiting
/// ones of the job's kernels. Without, copy engines move the blocks in the job's streams.
///
/// Movers that `SearchSpace::movers` or `SearchSpace::max_slowdown` excludes are left out. Throws Unsupported when the
/// profile has no figures for moving blocks or no mover is left.
std::vector<JobMovers> movers_worth_trying(const Job&, const Profile&, const SearchSpace&, bool own_streams);

}  // namespace shiplap
