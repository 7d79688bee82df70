#include "shiplap/sim/compute.hpp"

#include <algorithm>
#include <functional>

#include "shiplap/sim/constants.hpp"
#include "shiplap/sim/kernel_order.hpp"

namespace shiplap::sim {

Compute::Kernel Compute::fine_grained(Kernel kernel) {
  kernel.full_rate *= (kernel.blocks + kernel.full_rate - 1) / kernel.full_rate;
  kernel.room = kernels_at_once * kernel.blocks;
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
  // Waves fill the GPU; what fits at once takes of the room what it has blocks, however much of the rate that is.
  const std::uint64_t room = kernel.blocks > kernel.room ? kernel.full_rate : kernel.room;
  const std::uint64_t waves = (kernel.blocks + kernel.full_rate - 1) / kernel.full_rate;
  running_[slot] = {.op = kernel.op,
                    .remaining = kernel.blocks,
                    .full_rate = kernel.full_rate,
                    .room = room,
                    .wave_time = kernel.work / static_cast<double>(waves),
                    .cohorts = 0,
                    .started = false};
  waiting_.push_back(slot);
}

void Compute::pass(double now) {
  passed_ += (now - updated_) * speed();
  updated_ = now;
}

void Compute::foresee() {
  next_event_ =
      running_cohorts_.empty() ? never : updated_ + std::max(0.0, running_cohorts_.front().end - passed_) / speed();
}

void Compute::start_next(double now) {
  pass(now);
  while (!waiting_.empty()) {
    const std::uint32_t slot = waiting_.front();
    Running& kernel = running_[slot];
    if (!concurrent_ && running_cohorts_.size() > kernel.cohorts) break;  // another kernel is still running
    const auto room = static_cast<std::uint64_t>(free_ * static_cast<double>(kernel.room) + rounding_of_blocks);
    const std::uint64_t blocks = std::min(kernel.remaining, room);
    if (blocks == 0) break;
    if (!kernel.started) {
      kernel.started = true;
      kernels_.first_blocks_started(kernel.op, now);
    }
    // With the whole GPU free nobody can come in between full waves: take all but the last wave in one step.
    std::uint64_t waves = 1;
    if (blocks == kernel.room && kernel.remaining > kernel.room) waves = (kernel.remaining - 1) / kernel.room;
    kernel.remaining -= blocks * waves;
    ++kernel.cohorts;
    const Cohort cohort{.end = passed_ + static_cast<double>(waves) * kernel.wave_time,
                        .slot = slot,
                        .room = static_cast<double>(blocks) / static_cast<double>(kernel.room),
                        .rate = static_cast<double>(blocks) / static_cast<double>(kernel.full_rate)};
    free_ -= cohort.room;
    asked_for_ += cohort.rate;
    running_cohorts_.push_back(cohort);
    std::ranges::push_heap(running_cohorts_, std::greater<>());
    if (kernel.remaining > 0) break;
    waiting_.pop_front();
    kernels_.last_blocks_started(kernel.op, now);
  }
  foresee();
}

// The blocks of the first cohort end.
OpIndex Compute::advance() {
  const double now = next_event_;
  pass(now);
  std::ranges::pop_heap(running_cohorts_, std::greater<>());
  const Cohort cohort = running_cohorts_.back();
  running_cohorts_.pop_back();
  passed_ = cohort.end;  // whatever rounding made of it
  const bool idle = running_cohorts_.empty();
  free_ = idle ? 1.0 : free_ + cohort.room;
  asked_for_ = idle ? 0.0 : asked_for_ - cohort.rate;
  foresee();
  Running& kernel = running_[cohort.slot];
  if (--kernel.cohorts > 0 || kernel.remaining > 0) return no_op;
  idle_slots_.push_back(cohort.slot);
  return kernel.op;
}

}  // namespace shiplap::sim
