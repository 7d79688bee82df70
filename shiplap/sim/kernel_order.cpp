#include "shiplap/sim/kernel_order.hpp"

#include "shiplap/sim/copy_engine.hpp"

namespace shiplap::sim {

void KernelOrder::pass(OpIndex kernel, double now) {
  passed_[ops_[kernel].kernels_before] = true;
  while (passed_up_to_ < passed_.size() && passed_[passed_up_to_]) ++passed_up_to_;
  for (CopyEngine* engine : engines_) engine->start_next(now);
}

}  // namespace shiplap::sim
