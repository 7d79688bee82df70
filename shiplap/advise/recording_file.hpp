// Reads a recording from a file of any kind that is known.
#pragma once

#include <filesystem>

#include "shiplap/advise/recording.hpp"

namespace shiplap {

/// Reads a recording of `shiplap advise --record`, also from a pipe, an export of Nsight Systems (SQLite), or a trace
/// of the PyTorch profiler. The begin of the file tells which it is. Recordings and traces may be compressed with gzip.
///
/// Throws Error when the file cannot be read. For a file of another kind that people have, such as a report of Nsight
/// Systems before its export, the message says what it is and which command makes a file that can be read. Throws
/// UsageError for a program.
Recording read_recording_file(const std::filesystem::path& file);

}  // namespace shiplap
