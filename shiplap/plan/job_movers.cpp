#include "shiplap/plan/job_movers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/mover_choice.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {
namespace {

/// Number of chunks of a typical pipeline: movers are compared on the blocks of one of them.
constexpr std::uint64_t typical_chunks = 8;

/// Movers are compared on the first GPU.
constexpr std::uint16_t first_gpu = 0;

/// The kernel of a job runs while the blocks move. The time of its thread blocks is known when the number of those that
/// fit on the GPU is.
std::optional<Neighbour> neighbour_in(const Profile& profile, const Job& job) {
  // Movers without figures would be left out, so all must have them.
  const auto is_complete = [](const std::vector<MutualSlowdown>& rows) {
    return !rows.empty() && rows.front().grid == 0 &&
           std::ranges::all_of(rows, [](const MutualSlowdown& row) { return row.added.has_value(); });
  };
  const std::optional<BlockModel>& blocks = profile.link(first_gpu).blocks;
  if (!blocks || !is_complete(blocks->beside_gather) || !is_complete(blocks->beside_scatter)) return std::nullopt;
  Neighbour neighbour;
  if (job.cost.resident_blocks == 0 || job.cost.points.empty()) return neighbour;
  const std::uint64_t groups = (job.items - 1) / std::max<std::uint64_t>(1, job.items_per_block) + 1;
  const double waves =
      static_cast<double>(groups * job.blocks_per_item_group) / static_cast<double>(job.cost.resident_blocks);
  neighbour.thread_block = job.cost.launch_time(job.items) / std::max(1.0, waves);
  return neighbour;
}

/// The array that moves the most bytes as blocks in one direction; null without one.
const Array* largest(const Job& job, bool to_device) {
  const Array* found = nullptr;
  for (const Array& array : job.arrays)
    if (array.blocks && (to_device ? is_input(array.role) : is_output(array.role)))
      if (found == nullptr || array.size > found->size) found = &array;
  return found;
}

/// Whether all arrays that move blocks in one direction are regular, so that a strided copy can move each of them.
bool are_regular(const Job& job, bool to_device) {
  return std::ranges::all_of(job.arrays, [&](const Array& array) {
    const bool moves = array.blocks && (to_device ? is_input(array.role) : is_output(array.role));
    return !moves || array.blocks->indices.data == nullptr;
  });
}

/// The movers of one direction, the best first; nullopt alone when no array moves blocks in this direction.
std::vector<std::optional<Mover>> movers_of(const Job& job, const Profile& profile, const SearchSpace& space,
                                            bool own_streams, bool to_device) {
  const Array* const array = largest(job, to_device);
  if (array == nullptr) return {std::nullopt};
  std::vector<MoverTime> times =
      mover_times(profile, first_gpu, any_numa_node,
                  {.block = array->blocks->block,
                   .blocks = std::max<std::uint64_t>(1, array->blocks->count / typical_chunks),
                   .to_device = to_device,
                   .pool = array->memory,
                   .regular = are_regular(job, to_device)},
                  {.max_slowdown = space.max_slowdown, .neighbour = neighbour_in(profile, job)});
  std::erase_if(times, [&](const MoverTime& time) {
    const bool is_allowed =
        space.movers.empty() || std::ranges::find(space.movers, time.mover.kind) != space.movers.end();
    return !is_allowed || (time.mover.kind == Mover::Kind::kernel && !own_streams);
  });
  if (times.empty())
    throw Unsupported(fmt::format(
        "{}: no mover is left for the blocks of array {}: allow other movers, or more slowdown of the kernel", job.name,
        array->name));
  std::vector<std::optional<Mover>> movers{times.front().mover};
  std::set<Mover::Kind> kinds{times.front().mover.kind};
  for (const MoverTime& time : times)
    if (kinds.insert(time.mover.kind).second) movers.emplace_back(time.mover);
  const auto first_kernel =
      std::ranges::find(times, Mover::Kind::kernel, [](const MoverTime& t) { return t.mover.kind; });
  if (first_kernel == times.end()) return movers;
  std::set<std::uint32_t> grids;
  for (const MoverTime& time : times)
    if (time.mover.kind == Mover::Kind::kernel) grids.insert(time.mover.grid);
  const auto at = grids.find(first_kernel->mover.grid);
  const auto add = [&](std::uint32_t grid) { movers.emplace_back(Mover{.kind = Mover::Kind::kernel, .grid = grid}); };
  if (at != grids.begin()) add(*std::prev(at));
  if (std::next(at) != grids.end()) add(*std::next(at));
  return movers;
}

}  // namespace

std::vector<JobMovers> movers_worth_trying(const Job& job, const Profile& profile, const SearchSpace& space,
                                           bool own_streams) {
  const auto gathers = movers_of(job, profile, space, own_streams, true);
  const auto scatters = movers_of(job, profile, space, own_streams, false);
  std::vector<JobMovers> all;
  for (const auto& gather : gathers) all.push_back({.gather = gather, .scatter = scatters.front()});
  for (std::size_t i = 1; i < scatters.size(); ++i) all.push_back({.gather = gathers.front(), .scatter = scatters[i]});
  return all;
}

}  // namespace shiplap
