// Imports traces of the PyTorch profiler (Kineto).
#pragma once

#include <filesystem>

#include "shiplap/advise/recording.hpp"

namespace shiplap {

/// Reads a trace that torch.profiler has exported with `export_chrome_trace` or `tensorboard_trace_handler` (2022 to
/// 2025), also compressed with gzip.
///
/// The recording has the copies, kernels and fills of all GPUs in the trace, the annotations of the program as ranges,
/// and the calls into CUDA that copy, launch, fill, wait, record events, or allocate, pin or free memory. Numbers of
/// calls are correlations, and numbers of GPUs, streams and events are those of the trace, but stream 7, which is the
/// default stream there, is stream 0 here. Annotations "ProfilerStep#1", "ProfilerStep#2" and so on are ranges named
/// "ProfilerStep". Times are in nanoseconds since the earliest start in the recording, and exact to 1 ns where the
/// trace is. `program` is the name of the process.
///
/// Waits are those of the category cuda_sync, which traces have only when the profiler was told to record it. A call
/// that waits and has no such event gives a wait that is inferred: cudaStreamSynchronize waits for the stream into
/// which its thread has submitted last, and cudaEventSynchronize for the stream whose work ended last before the call
/// ended. The order of streams by events is known from cuda_sync alone.
///
/// The trace says neither addresses nor contents, so both are 0, and it has no migrations of managed memory. Events
/// that are no valid JSON, or end before they start, are left out, and `lost` counts those among them that tell of
/// CUDA. A trace that breaks off gives its whole events, and `complete` is false.
///
/// Throws Error when the file cannot be read, has no work of a GPU, or is larger than 4 GiB without compression.
Recording read_torch_trace(const std::filesystem::path& file);

}  // namespace shiplap
