// Schedules that together make every kind of call: each brings its first buffer in chunks to its last one, and inverts
// it on the way as often as its name says.
#pragma once

#include <cstdint>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap::testing {

inline constexpr std::uint32_t transfer_chunks = 3;
inline constexpr Bytes transfer_chunk{64};

/// Copies in and out and kernels in a stream each.
Schedule three_streams_inverting();
/// A stream for each chunk: all of them end, and none waits for another.
Schedule stream_per_chunk_inverting();
/// One chunk of device memory for all chunks: each must leave it before the next one comes.
Schedule ring_of_one_chunk_inverting();
/// Two batches of copies.
Schedule batches_inverting_nothing();
/// Blocks that every mover gathers or scatters, in an urgent stream and in another one.
Schedule blocks_inverting();
/// Managed memory that is brought to the GPU and back by prefetches.
Schedule prefetches_inverting();
/// Kernels access managed memory that stays on the host by advice.
Schedule advised_inverting();
/// Two host threads: one copies through rings and waits for the GPU, one submits and pins, allocates and makes a
/// stream.
Schedule host_agents_inverting();
/// Two host threads that only copy and submit: CUDA waits for all kernels when memory is released.
Schedule host_copies_inverting();
/// Two GPUs and two host threads, of which one goes to and fro between the GPUs.
Schedule two_gpus_inverting_twice();
/// The second host thread works on gpu 1. In between it allocates memory on gpu 0 and creates a stream, and releases
/// neither.
Schedule allocation_on_another_gpu_inverting();

}  // namespace shiplap::testing
