#include "shiplap/sim/compute.hpp"

#include <algorithm>
#include <functional>

#include "shiplap/sim/constants.hpp"
#include "shiplap/sim/kernel_order.hpp"
#include "shiplap/sim/link.hpp"

namespace shiplap::sim {

Compute::Kernel Compute::many_launches(Kernel kernel) {
  kernel.full_rate_blocks *= (kernel.blocks + kernel.full_rate_blocks - 1) / kernel.full_rate_blocks;
  kernel.max_resident_blocks = kernels_at_once * kernel.blocks;
  return kernel;
}

void Compute::arrive(const Kernel& kernel) {
  std::uint32_t slot = 0;
  if (idle_slots_.empty()) {
    slot = static_cast<std::uint32_t>(running_.size());
    running_.emplace_back();
  } else {
    slot = idle_slots_.back();
    idle_slots_.pop_back();
  }
  // A grid of several waves runs in waves of `full_rate_blocks`. A grid that fits at once occupies only its own blocks.
  const bool fits_at_once = kernel.blocks <= kernel.max_resident_blocks;
  const std::uint64_t waves = (kernel.blocks + kernel.full_rate_blocks - 1) / kernel.full_rate_blocks;
  running_[slot] = {.op = kernel.op,
                    .remaining = kernel.blocks,
                    .full_rate_blocks = kernel.full_rate_blocks,
                    .max_resident_blocks = fits_at_once ? kernel.max_resident_blocks : kernel.full_rate_blocks,
                    .wave_time = kernel.work / static_cast<double>(waves),
                    .memory_bound = kernel.memory_bound,
                    .thread_block = kernel.thread_block,
                    .cohorts = 0,
                    .started = false};
  waiting_.push_back(slot);
}

void Compute::advance_clock(double now) {
  full_speed_time_ += (now - updated_) * speed();
  updated_ = now;
}

void Compute::find_next_event() {
  next_event_ = running_cohorts_.empty()
                    ? never
                    : updated_ + std::max(0.0, running_cohorts_.front().end - full_speed_time_) / speed();
}

void Compute::start_next(double now) {
  advance_clock(now);
  while (!waiting_.empty()) {
    const std::uint32_t slot = waiting_.front();
    Running& kernel = running_[slot];
    if (!concurrent_ && running_cohorts_.size() > kernel.cohorts) break;  // another kernel is still running
    const auto fitting =
        static_cast<std::uint64_t>(free_space_ * static_cast<double>(kernel.max_resident_blocks) + rounding_of_blocks);
    const std::uint64_t blocks = std::min(kernel.remaining, fitting);
    if (blocks == 0) break;
    if (!kernel.started) {
      kernel.started = true;
      memory_bound_ = kernel.memory_bound;
      thread_block_ = kernel.thread_block;
      kernels_.first_blocks_started(kernel.op, now);
    }
    // The whole GPU is free, so no other kernel can start between full waves: all waves but the last are one cohort.
    std::uint64_t waves = 1;
    if (blocks == kernel.max_resident_blocks && kernel.remaining > kernel.max_resident_blocks)
      waves = (kernel.remaining - 1) / kernel.max_resident_blocks;
    kernel.remaining -= blocks * waves;
    ++kernel.cohorts;
    const Cohort cohort{.end = full_speed_time_ + static_cast<double>(waves) * kernel.wave_time,
                        .slot = slot,
                        .space = static_cast<double>(blocks) / static_cast<double>(kernel.max_resident_blocks),
                        .rate = static_cast<double>(blocks) / static_cast<double>(kernel.full_rate_blocks)};
    free_space_ -= cohort.space;
    demanded_rate_ += cohort.rate;
    running_cohorts_.push_back(cohort);
    std::ranges::push_heap(running_cohorts_, std::greater<>());
    if (kernel.remaining > 0) break;
    waiting_.pop_front();
    kernels_.last_blocks_started(kernel.op, now);
  }
  find_next_event();
  update_beside(now);
}

void Compute::update_beside(double now) {
  if (link_ == nullptr) return;
  const bool busy = !running_cohorts_.empty();
  const Beside beside{.rate = busy ? std::min(1.0, demanded_rate_) : 0.0,
                      .memory_bound = memory_bound_,
                      .thread_block = busy ? thread_block_ : 0.0};
  if (beside == beside_) return;
  link_->update_progress(now);
  beside_ = beside;
  link_->update_progress(now);
  link_->kernels_changed(now);
}

void Compute::set_slowdown(By by, const KernelSlowdown& slowdown, double now) {
  advance_clock(now);
  slowdowns_[static_cast<std::size_t>(by)] = slowdown;
  find_next_event();
}

OpIndex Compute::advance() {
  const double now = next_event_;
  advance_clock(now);
  std::ranges::pop_heap(running_cohorts_, std::greater<>());
  const Cohort cohort = running_cohorts_.back();
  running_cohorts_.pop_back();
  full_speed_time_ = cohort.end;  // removes the rounding error of `advance_clock`
  const bool idle = running_cohorts_.empty();
  free_space_ = idle ? 1.0 : free_space_ + cohort.space;
  demanded_rate_ = idle ? 0.0 : demanded_rate_ - cohort.rate;
  find_next_event();
  Running& kernel = running_[cohort.slot];
  if (--kernel.cohorts > 0 || kernel.remaining > 0) return no_op;
  idle_slots_.push_back(cohort.slot);
  return kernel.op;
}

}  // namespace shiplap::sim
