// The copies of a job alone, in both directions at the same time.
#pragma once

#include <cstdint>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/relay.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The schedule of the copies' stage of ideal overlap, without ops when nothing is copied. Its first buffers are the
/// job's arrays, and the others are on the GPU. Arrays larger than `device_memory` go through a buffer that fits.
/// Several GPUs copy equal parts. The copies are divided by the relay.
Schedule duplex_schedule(const Job&, Bytes device_memory, std::uint32_t gpus = 1, const Relay& = {});

}  // namespace shiplap
