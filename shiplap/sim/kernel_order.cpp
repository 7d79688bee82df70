#include "shiplap/sim/kernel_order.hpp"

#include "shiplap/sim/copy_engine.hpp"

namespace shiplap::sim {

void KernelOrder::release_copies(OpIndex kernel, double now) {
  released_[ops_[kernel].kernels_before] = true;
  while (released_up_to_ < released_.size() && released_[released_up_to_]) ++released_up_to_;
  for (CopyEngine* engine : engines_) engine->start_next(now);
}

}  // namespace shiplap::sim
