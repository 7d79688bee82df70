// What a schedule and its bindings must be to run on one GPU, checked before anything is made for them.
#pragma once

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/api.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Throws Unsupported, naming the op, for what the CUDA device does not run: several host agents, copies by host
/// threads, prefetches, managed memory, further GPUs. The schedule must be sound.
void require_supported(const Schedule&);

/// Throws Error unless every buffer is bound to memory of the kind that the schedule says, and Unsupported when a
/// kernel has no CUDA function.
void require_fitting(const Schedule&, const Bindings&, int device, const Api&);

}  // namespace shiplap
