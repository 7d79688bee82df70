// A program of the user, run with the library that records its use of GPUs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/held_signals.hpp"

namespace shiplap::cli {

/// How the program ended, and what was recorded.
struct RecordedProgram {
  int exit_code = 0;  ///< exit code of the program; 128 and the signal's number after a signal
  std::vector<std::filesystem::path> recordings;  ///< one file for each process that used a GPU
  std::vector<std::string> refused;               ///< why processes were not recorded
};

/// Runs the program and waits for it. Its input, output, environment and signals are its own, except for the variables
/// by which CUDA finds the recorder; signals that are held are for it meanwhile. Recordings are written into `folder`.
/// `seconds` is the length of a recording; 0: to the end. Throws Unsupported when there is no recorder or another tool
/// records, Error when the program cannot be started.
RecordedProgram run_recorded(const std::vector<std::string>& words, const std::filesystem::path& folder,
                             unsigned seconds, HeldSignals&);

}  // namespace shiplap::cli
