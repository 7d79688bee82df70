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
  std::optional<Mover> gather{};   ///< Choice::gather
  std::optional<Mover> scatter{};  ///< Choice::scatter
};

/// The movers worth trying for a job with blocks, the best by their own time first. Each of the others differs from the
/// first in one direction: another kind of mover, or the next smaller or larger grid. With `own_streams` a kernel may
/// move blocks; without, blocks share a stream with the job's kernels, and only copy engines move them, because a
/// mover's kernel must start before waiting blocks of these kernels (Stream::urgent).
///
/// The limits of the space hold: `SearchSpace::movers` and `SearchSpace::max_slowdown`. Throws Unsupported when the
/// profile has no figures for moving blocks or no mover is left.
std::vector<JobMovers> movers_worth_trying(const Job&, const Profile&, const SearchSpace&, bool own_streams);

}  // namespace shiplap
