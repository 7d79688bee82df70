#include "shiplap/sim/link.hpp"

#include <algorithm>

#include "shiplap/sim/copy_engine.hpp"
#include "shiplap/sim/shared_paths.hpp"
#include "shiplap/sim/zero_copy_kernels.hpp"

namespace shiplap::sim {

void Link::update_progress(double now) {
  for (CopyEngine* engine : engines_)
    if (engine->moves()) engine->update_progress(now);
  if (zero_copy_->is_running()) zero_copy_->update_progress(now);
  tell_others(now);
}

void Link::tell_others(double now) {
  if (shared_ != nullptr) shared_->rates_changed(now);
}

void Link::kernels_changed(double now) { zero_copy_->kernels_changed(now); }

void Link::set_kernel_waits(StreamIndex stream, bool waits, double now) {
  std::uint32_t& kernels = waiting_kernels_[stream];
  kernels += waits ? 1u : ~0u;
  if (kernels != (waits ? 1u : 0u)) return;
  const std::uint32_t after = waiting_streams_ + (waits ? 1u : ~0u);
  const bool rates_change = std::max(waiting_streams_, after) == streams_that_slow_copies;
  if (rates_change) update_progress(now);
  waiting_streams_ = after;
  if (rates_change) update_progress(now);
}

}  // namespace shiplap::sim
