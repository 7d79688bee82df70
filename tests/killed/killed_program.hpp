// Runs a program and kills it on the way: after a time, or at one of its calls that change files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// A command line, the folder in which it runs, and the folder of its cache. Its output goes to /dev/null, its messages
/// to the file `messages`.
struct ProgramRun {
  std::vector<std::string> words;
  std::filesystem::path folder;
  std::filesystem::path cache;
  std::filesystem::path messages;
};

/// How a program ended.
struct ProgramEnd {
  bool was_killed = false;
  int code = -1;          ///< exit code, or 128 and the number of the signal
  std::size_t calls = 0;  ///< calls that changed files, when they were counted
};

/// Starts the program and returns its process.
int start_program(const ProgramRun&);
/// Waits for the end of a process.
ProgramEnd wait_for_program(int process);
ProgramEnd run_program_to_its_end(const ProgramRun&);
/// Sends SIGKILL after this time, if the program has not ended by then.
ProgramEnd kill_program_after(const ProgramRun&, Seconds);
/// Sends SIGKILL when the program's first thread is about to make call number `call`, counted from 0, of those that
/// change files: opening to write, writing, flushing, renaming, removing, locking. All are counted when there are
/// fewer. Throws std::system_error when this process may not trace another one.
ProgramEnd kill_program_at_call(const ProgramRun&, std::size_t call);

}  // namespace shiplap
