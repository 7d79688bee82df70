#include "shiplap/plan/mover_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/names.hpp"

namespace shiplap {
namespace {

/// Size from which on a block is too large for the kernel of a mover.
constexpr Bytes too_large_for_kernel{1ull << 30u};

/// The figures that times of moving a set of blocks are computed from.
struct MoverFigures {
  const Profile* profile;
  const GpuModel* gpu;
  const LinkModel* link;
  const BlockModel* model;
};

MoverFigures figures_of(const Profile& profile, std::uint16_t gpu, std::uint16_t numa_node) {
  const LinkModel& link = profile.link(gpu, numa_node);
  if (!link.blocks)
    throw Unsupported(
        fmt::format("profile {} has no figures for moves of scattered blocks, so no mover can be chosen: measure the "
                    "node (shiplap measure)",
                    profile.name));
  return {.profile = &profile, .gpu = &profile.gpus.at(gpu), .link = &link, .model = &*link.blocks};
}

void require_valid(const BlockSet& set, const MoverLimits& limits) {
  if (set.block.count == 0 || set.blocks == 0)
    throw UsageError("a set of blocks is empty, so nothing can move it: give at least one block of at least 1 B");
  if (limits.max_slowdown && !(*limits.max_slowdown >= 0))
    throw UsageError(fmt::format("`max_slowdown` {}: give a fraction of 0 or more", *limits.max_slowdown));
  if (!limits.neighbour) return;
  if (!(limits.neighbour->memory_bound >= 0 && limits.neighbour->memory_bound <= 1))
    throw UsageError(fmt::format("`memory_bound` {}: give a number from 0 to 1", limits.neighbour->memory_bound));
  if (!(limits.neighbour->thread_block >= Seconds{0}))
    throw UsageError(
        fmt::format("`thread_block` {} s: give a time of 0 or more", limits.neighbour->thread_block.count()));
}

/// The rows of a mover for such blocks; null when the profile has none.
const std::vector<BlockTime>* rows_of(const MoverFigures& figures, Mover::Kind kind, const BlockSet& set) {
  const auto found = figures.model->movers.find(name_in_profile({.kind = kind}, set.pool, set.to_device));
  return found == figures.model->movers.end() || found->second.empty() ? nullptr : &found->second;
}

const std::vector<MutualSlowdown>& beside_of(const MoverFigures& figures, const BlockSet& set) {
  return set.to_device ? figures.model->beside_gather : figures.model->beside_scatter;
}

/// The part of the rate of large copies that copies of these blocks reach. They take so much of the device memory's
/// bandwidth.
double part_of_link_rate(const MoverFigures& figures, const BlockSet& set, Seconds time) {
  const PerByte per_byte = (set.to_device ? figures.link->h2d : figures.link->d2h).per_byte.value;
  return std::min(1.0, in_bytes(set.block * set.blocks) * per_byte.seconds / time.count());
}

/// The part of the time in which the thread blocks of a mover's kernel occupy SMs, when moves of such a set follow each
/// other: not while a move is launched, and not while it waits for SMs.
double part_on_sms(const GpuModel& gpu, const BlockCost& alone, Seconds wait) {
  const Seconds launch = gpu.launch_latency ? gpu.launch_latency->value : Seconds{0};
  const Seconds gap = gpu.kernel_gap ? gpu.kernel_gap->value : Seconds{0};
  const Seconds on_sms = std::max(Seconds{0}, alone.time - launch);
  return on_sms > Seconds{0} ? on_sms / (on_sms + gap + wait) : 1.0;
}

/// A limit without a neighbour is kept for the one that loses most: bound by memory, with thread blocks so short that
/// the mover never waits for SMs.
constexpr Neighbour loses_most{.memory_bound = 1, .thread_block = Seconds{0}};

/// What the neighbour loses while such blocks move again and again; nullopt when it was not measured.
std::optional<Interval<double>> loss_of(const MoverFigures& figures, const BlockSet& set, const Neighbour& neighbour,
                                        const Mover& mover, const BlockCost& cost) {
  const bool is_kernel = mover.kind == Mover::Kind::kernel;
  const std::uint32_t grid = is_kernel ? busy_grid(mover, set.block, set.block, set.blocks) : 0;
  const std::optional<MutualSlowdown> beside = beside_at(beside_of(figures, set), grid);
  if (!beside) return std::nullopt;
  const Seconds wait = beside->added ? neighbour.thread_block * beside->added->wait.value : Seconds{0};
  const double part = is_kernel ? part_on_sms(*figures.gpu, cost, wait) : part_of_link_rate(figures, set, cost.time);
  const Interval<double> loss = added_to_neighbour(*beside, neighbour);
  return Interval<double>{part * loss.value, part * loss.low, part * loss.high};
}

/// What the neighbour adds to the time of the op; nullopt when it was not measured.
std::optional<Seconds> added_by(const MoverFigures& figures, const BlockSet& set, const Neighbour& neighbour,
                                const Mover& mover) {
  const std::optional<MutualSlowdown> beside = beside_at(beside_of(figures, set), mover.grid);
  if (!beside || !beside->added) return std::nullopt;
  const MovedBlocks moved{.block = set.block, .blocks = set.blocks, .calls = calls_of(mover, set.blocks)};
  return added_to_move(*beside->added, neighbour, moved).value;
}

/// Adds a mover, unless its neighbour may lose more than the limit, or a figure that is needed was not measured.
void add(std::vector<MoverTime>& times, const MoverFigures& figures, const BlockSet& set, const MoverLimits& limits,
         const Mover& mover, const BlockCost& cost) {
  const auto loss = loss_of(figures, set, limits.neighbour.value_or(loses_most), mover, cost);
  if (limits.max_slowdown && !(loss && loss->high <= *limits.max_slowdown)) return;
  Seconds time = cost.time;
  if (limits.neighbour) {
    const auto added = added_by(figures, set, *limits.neighbour, mover);
    if (!added) return;
    time += *added;
  }
  times.push_back({.mover = mover,
                   .time = time,
                   .rate = set.block * set.blocks / time,
                   .call = cost.call,
                   .slowdown = loss ? loss->value : 0});
}

void add_kernels(std::vector<MoverTime>& times, const MoverFigures& figures, const BlockSet& set,
                 const MoverLimits& limits) {
  const std::vector<BlockTime>* rows = rows_of(figures, Mover::Kind::kernel, set);
  if (rows == nullptr || set.block >= too_large_for_kernel) return;
  for (const std::uint32_t grid : grids_of(*rows))
    add(times, figures, set, limits, {.kind = Mover::Kind::kernel, .grid = grid},
        block_cost(*rows, grid, set.block, set.blocks));
}

void add_copies(std::vector<MoverTime>& times, const MoverFigures& figures, const BlockSet& set,
                const MoverLimits& limits) {
  for (const auto kind : {Mover::Kind::copies, Mover::Kind::batch, Mover::Kind::strided}) {
    const std::vector<BlockTime>* rows = rows_of(figures, kind, set);
    if (rows == nullptr || (kind == Mover::Kind::strided && !set.regular)) continue;
    add(times, figures, set, limits, {.kind = kind}, block_cost(*rows, 0, set.block, set.blocks));
  }
}

bool knows_pool(const MoverFigures& figures, const BlockSet& set) {
  for (const auto kind : {Mover::Kind::copies, Mover::Kind::batch, Mover::Kind::kernel, Mover::Kind::strided})
    if (rows_of(figures, kind, set) != nullptr) return true;
  return false;
}

/// Moves the best of [first, end) to `first`: those that take less than 1 % longer than the fastest are equally fast.
void bring_best_to_front(std::vector<MoverTime>::iterator first, std::vector<MoverTime>::iterator end) {
  const Seconds fastest = std::ranges::min_element(first, end, {}, &MoverTime::time)->time;
  const auto cost = [&](const MoverTime& m) {
    const bool slower = m.time >= fastest * (1 + equal_mover_times) && m.time > fastest;
    return std::tuple(slower, m.slowdown, m.mover.grid, m.time);
  };
  const auto best = std::ranges::min_element(first, end, {}, cost);
  std::rotate(first, best, best + 1);  // the others keep their order
}

std::string described(const MoverTime& m) {
  return fmt::format("{} in {} ({})", to_string(m.mover), to_string(m.time), to_string(m.rate));
}

/// Why the first of the times was chosen.
std::string reason_of(std::span<const MoverTime> times, const BlockSet& set, const MoverLimits& limits) {
  const MoverTime& best = times.front();
  std::string reason = fmt::format("{} block{} of {} move {} by {}", set.blocks, set.blocks == 1 ? "" : "s",
                                   to_string(set.block), set.to_device ? "H2D" : "D2H", described(best));
  if (times.size() > 1) {
    const MoverTime& next = times[1];
    reason += fmt::format(", and by {}", described(next));
    if (next.time < best.time) reason += ", which is less than 1 % faster and costs a neighbour more";
  } else {
    reason += ", and no other mover is known for them";
    if (limits.max_slowdown) reason += " within the limit";
  }
  if (limits.max_slowdown)
    reason += fmt::format("; a neighbour becomes {:.2g} % slower and may become {:.2g} % slower", 100 * best.slowdown,
                          100 * *limits.max_slowdown);
  return reason;
}

/// `mover_times`, of which there is at least one.
std::vector<MoverTime> some_mover_times(const Profile& profile, std::uint16_t gpu, std::uint16_t numa_node,
                                        const BlockSet& set, const MoverLimits& limits) {
  std::vector<MoverTime> times = mover_times(profile, gpu, numa_node, set, limits);
  if (times.empty())
    throw Unsupported(fmt::format("no mover in profile {} moves blocks of {} {} and keeps `max_slowdown`: allow more",
                                  profile.name, to_string(set.block), set.to_device ? "H2D" : "D2H"));
  return times;
}

}  // namespace

std::vector<MoverTime> mover_times(const Profile& profile, std::uint16_t gpu, std::uint16_t numa_node,
                                   const BlockSet& set, const MoverLimits& limits) {
  require_valid(set, limits);
  const MoverFigures figures = figures_of(profile, gpu, numa_node);
  if (!knows_pool(figures, set))
    throw Unsupported(fmt::format(
        "profile {} has no figures for moves of scattered blocks {} a pool in {} memory, so no mover can be chosen: "
        "measure the node (shiplap measure), or use a pinned pool",
        profile.name, set.to_device ? "from" : "to", to_string(set.pool)));
  const std::vector<MutualSlowdown>& beside = beside_of(figures, set);
  const bool is_missing =
      limits.neighbour ? std::ranges::none_of(beside, [](const MutualSlowdown& row) { return row.added.has_value(); })
                       : limits.max_slowdown && beside.empty();
  if (is_missing)
    throw Unsupported(
        fmt::format("profile {} does not say what movers and kernels concurrent with them cost each other, so {} "
                    "cannot be considered: "
                    "measure the node in full (shiplap measure), or do without",
                    figures.profile->name, limits.neighbour ? "`neighbour`" : "`max_slowdown`"));
  std::vector<MoverTime> times;
  add_copies(times, figures, set, limits);
  add_kernels(times, figures, set, limits);
  for (auto next = times.begin(); next != times.end(); ++next) bring_best_to_front(next, times.end());
  return times;
}

MoverChoice choose_mover(const Profile& profile, std::uint16_t gpu, std::uint16_t numa_node, const BlockSet& set,
                         const MoverLimits& limits) {
  const std::vector<MoverTime> times = some_mover_times(profile, gpu, numa_node, set, limits);
  return {.best = times.front(), .reason = reason_of(times, set, limits)};
}

std::vector<Bytes> crossover_sizes() {
  constexpr std::uint64_t steps = 16;  // for each power of two
  std::vector<Bytes> sizes;
  for (Bytes octave = smallest_crossover; octave < largest_crossover; octave = octave * 2)
    for (std::uint64_t step = 0; step < steps; ++step) sizes.push_back(octave + octave / steps * step);
  sizes.push_back(largest_crossover);
  return sizes;
}

Crossovers crossovers(const Profile& profile, std::uint16_t gpu, std::uint16_t numa_node, const BlockSet& set,
                      const MoverLimits& limits) {
  Crossovers found{.blocks = set.blocks, .to_device = set.to_device, .best = {}};
  BlockSet at = set;
  for (const Bytes size : crossover_sizes()) {
    if (!found.best.empty() && size.count > profile.gpus.at(gpu).memory.count / set.blocks) break;
    at.block = size;
    const std::vector<MoverTime> times = mover_times(profile, gpu, numa_node, at, limits);
    const std::optional<Mover> best = times.empty() ? std::nullopt : std::optional(times.front().mover);
    if (found.best.empty() || found.best.back().mover != best) found.best.push_back({.block = size, .mover = best});
  }
  return found;
}

}  // namespace shiplap
