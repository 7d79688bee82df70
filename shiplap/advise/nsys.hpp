// Imports reports of NVIDIA Nsight Systems.
#pragma once

#include <filesystem>

#include "shiplap/advise/recording.hpp"

namespace shiplap {

/// Reads a report of Nsight Systems (2023 to 2025) that was exported with `nsys export --type sqlite`.
///
/// The recording has the copies, kernels, fills and migrations of all GPUs, what the program ordered by events and
/// waits, NVTX ranges that have ended, and the calls into CUDA that copy, launch, fill, wait, record events, or
/// allocate, pin or free memory. The numbers of calls, streams and events are those of CUPTI, but stream 7, which is
/// the default stream there, is stream 0 here. Calls have the names of the functions without suffixes such as "_v3020"
/// and "_ptsz". Threads are numbered in the order of their first calls. Times are in nanoseconds since the earliest
/// start in the recording.
///
/// A report of several processes gives the recording of the process whose work took the GPUs longest. The report says
/// neither addresses nor contents, so both are 0. It has the kernels of CUDA graphs only when the program was profiled
/// with `--cuda-graph-trace=node`, and records of events only when the events were traced.
///
/// A table that is absent counts as empty, because nsys writes only tables that have rows. Throws Error when the file
/// cannot be read, is no SQLite database or no export of nsys, or when a table lacks a column that is read or has a row
/// that ends before it starts.
Recording read_nsys(const std::filesystem::path& file);

}  // namespace shiplap
