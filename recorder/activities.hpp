// The work of GPUs, as CUPTI's activity records report it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/advise/recording.hpp"

namespace shiplap::recorder {

/// Asks CUPTI to record copies, kernels, fills and NVTX ranges. Returns the reason when CUPTI refuses, else "".
std::string watch_activities();
/// Asks CUPTI to record migrations of managed memory, once the driver is initialised. Returns whether it does; systems
/// that do not count migrations have none in their recordings.
bool watch_migrations();
/// Whether the GPU's work is recorded. Switching takes CUPTI some milliseconds.
void record_activities(bool);
/// Takes what the GPUs have ended so far; with `all`, waits for what they have not. Streams have CUPTI's numbers, and
/// times are CUPTI's. Copies lack addresses and hashes.
std::vector<Record> take_activities(bool all);
/// Number of times that CUPTI got no memory for records, so that some were lost.
std::uint64_t lost_buffers();

}  // namespace shiplap::recorder
