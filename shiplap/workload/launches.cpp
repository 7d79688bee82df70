#include "shiplap/workload/launches.hpp"

#include <algorithm>
#include <cmath>

namespace shiplap {

std::uint64_t launches_of(const Job& job, std::uint64_t items) {
  const double of_items = job.launches_per_item * static_cast<double>(items);
  return std::max<std::uint64_t>(1, job.launches + static_cast<std::uint64_t>(std::llround(of_items)));
}

std::uint64_t blocks_of(const Job& job, std::uint64_t items) {
  return (items + job.items_per_block - 1) / job.items_per_block * job.blocks_per_item_group;
}

std::uint64_t wave_of(const Job& job, std::uint64_t resident_threads) {
  if (job.cost.resident_blocks > 0) return job.cost.resident_blocks;
  return std::max<std::uint64_t>(1, resident_threads / job.threads_per_block);
}

std::uint64_t items_of(const Job& job, std::uint64_t blocks) {
  return std::max<std::uint64_t>(1, blocks / job.blocks_per_item_group) * job.items_per_block;
}

Seconds time_of_threads(const Job& job, std::uint64_t items, std::uint64_t blocks) {
  const auto& limited = job.cost.limited;
  if (limited.empty() || limited[0].items == 0 || limited[0].blocks == 0 || blocks == 0) return Seconds{0};
  const auto rounds = [&](std::uint64_t all, std::uint64_t at_once) {
    return static_cast<double>((blocks_of(job, all) + at_once - 1) / at_once);
  };
  const KernelCost::Limited& few = limited.front();
  if (limited.size() == 1) return few.work.value * (rounds(items, blocks) / rounds(few.items, few.blocks));
  const KernelCost::Limited& many = limited.back();
  const Seconds more = std::max(Seconds{0}, many.work.value - few.work.value);
  const double further =
      (static_cast<double>(items) - static_cast<double>(few.items)) / static_cast<double>(many.items - few.items);
  const Seconds as_measured = std::max(Seconds{0}, few.work.value + more * further);
  return as_measured * (rounds(items, blocks) / rounds(items, few.blocks));
}

Seconds kernel_time(const Job& job, std::uint64_t items, std::uint64_t blocks, std::uint64_t at_once) {
  const Seconds any_grid =
      job.cost.launch_time(items, std::min(job.items, items * at_once) - std::min(job.items, items));
  return blocks == 0 ? any_grid : std::max(any_grid, time_of_threads(job, items, blocks));
}

LaunchGrid launch_grid(const Job& job, std::uint64_t items, std::uint64_t resident_threads, std::uint64_t at_once) {
  LaunchGrid result;
  result.blocks = std::max<std::uint64_t>(1, blocks_of(job, items));
  const std::uint64_t resident = resident_threads == 0 ? result.blocks : wave_of(job, resident_threads);
  result.resident_blocks = result.full_rate_blocks = resident;
  if (job.cost.points.empty()) return result;
  // The fraction of the GPU's rate that the launch uses over its whole time. It is 1 when the launch is as fast per
  // item as the whole job, or as all launches that may run at the same time if these do not fill the GPU together.
  const bool fills = at_once >= (resident + result.blocks - 1) / result.blocks || at_once >= job.items / items;
  // A tile with fewer items than it can have takes as long as a full one. Without tiles, unused threads end early.
  const std::uint64_t unit = job.blocks_per_item_group > 1 ? job.items_per_block : 1;
  const std::uint64_t as_if = (items + unit - 1) / unit * unit;
  const std::uint64_t together = fills ? (job.items + unit - 1) / unit * unit : as_if * at_once;
  const Seconds at_full_rate =
      job.cost.launch_time(together) * (static_cast<double>(as_if) / static_cast<double>(together));
  const Seconds alone = kernel_time(job, items, 0, at_once);
  constexpr double least_fraction = 1e-6;  // keeps the quotient below finite
  constexpr double most_waves = 1e9;       // keeps the conversion to an integer in range
  constexpr double rounding = 1e-9;        // relative rounding error of the two times
  const double part = at_full_rate / alone;
  const double fraction = part < 1 - rounding ? std::max(least_fraction, part) : 1.0;
  // All waves are full but the last one: (waves - 1 + filled) / waves = fraction.
  const std::uint64_t by_blocks = (result.blocks + resident - 1) / resident;
  const auto by_rate = fraction < 1 ? static_cast<std::uint64_t>(std::min(most_waves, 1 / (1 - fraction))) : by_blocks;
  const std::uint64_t waves = std::clamp<std::uint64_t>(by_rate, 1, by_blocks);
  const double at_full = static_cast<double>(result.blocks) / (static_cast<double>(waves) * fraction);
  // Rounded down, so that launches that run at the same time do not use more than the GPU's rate together. Where that
  // would be one wave more, the last wave is full but for less than one block in each wave. It then counts as full.
  const auto whole = static_cast<std::uint64_t>(at_full * (1 + rounding));
  const bool takes_another_wave = waves > 1 && whole * waves < result.blocks;
  result.full_rate_blocks = std::max<std::uint64_t>(1, takes_another_wave ? whole + 1 : whole);
  return result;
}

}  // namespace shiplap
