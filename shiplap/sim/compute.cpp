#include "shiplap/sim/compute.hpp"

#include <algorithm>

namespace shiplap::sim {

void Compute::arrive(const Kernel& kernel) {
  std::uint32_t slot = 0;
  if (idle_slots_.empty()) {
    slot = static_cast<std::uint32_t>(running_.size());
    running_.emplace_back();
  } else {
    slot = idle_slots_.back();
    idle_slots_.pop_back();
  }
  const std::uint64_t waves = (kernel.blocks + kernel.resident - 1) / kernel.resident;
  running_[slot] = {.op = kernel.op,
                    .remaining = kernel.blocks,
                    .resident = kernel.resident,
                    .wave_time = kernel.work / static_cast<double>(waves),
                    .cohorts = 0,
                    .started = false};
  waiting_.push_back(slot);
}

void Compute::dispatch(double now, std::vector<Cohort>& cohorts, std::vector<Started>& first_started,
                       std::vector<Started>& all_started) {
  while (!waiting_.empty()) {
    const std::uint32_t slot = waiting_.front();
    Running& kernel = running_[slot];
    if (!concurrent_ && in_flight_ > kernel.cohorts) return;  // another kernel is still running
    const double capacity = static_cast<double>(kernel.resident);
    // The small constant keeps a share that was freed in pieces from losing a block to rounding.
    const auto room = static_cast<std::uint64_t>(free_ * capacity + 1e-6);
    const std::uint64_t blocks = std::min(kernel.remaining, room);
    if (blocks == 0) return;
    if (!kernel.started) {
      kernel.started = true;
      first_started.push_back({kernel.op, now});
    }
    // With the whole GPU free nobody can come in between full waves: take all but the last wave in one step.
    std::uint64_t waves = 1;
    if (blocks == kernel.resident && kernel.remaining > kernel.resident)
      waves = (kernel.remaining - 1) / kernel.resident;
    kernel.remaining -= blocks * waves;
    ++kernel.cohorts;
    ++in_flight_;
    const double share = static_cast<double>(blocks) / capacity;
    free_ -= share;
    cohorts.push_back({.end = now + static_cast<double>(waves) * kernel.wave_time, .slot = slot, .share = share});
    if (kernel.remaining > 0) return;
    all_started.push_back({kernel.op, now});
    waiting_.pop_front();
  }
}

std::uint32_t Compute::retire(const Cohort& cohort) {
  Running& kernel = running_[cohort.slot];
  free_ = --in_flight_ == 0 ? 1.0 : free_ + cohort.share;
  if (--kernel.cohorts > 0 || kernel.remaining > 0) return ~0u;
  idle_slots_.push_back(cohort.slot);
  return kernel.op;
}

}  // namespace shiplap::sim
