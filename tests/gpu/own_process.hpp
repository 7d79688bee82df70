// Runs one disabled test of this program in a process of its own: a process whose context is broken cannot go on, nor
// can one that forks with a context use it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace shiplap::testing {

/// How a process ended.
struct Ended {
  bool by_itself = false;  ///< whether it ended within the time limit; otherwise it was killed
  int status = 0;          ///< as waitpid gives it
  std::string output{};    ///< what it wrote to stdout and stderr
};

/// This program as a further process that runs one test, also a disabled one.
class OwnProcess {
 public:
  /// `settings` are environment variables, as in "NAME=value".
  OwnProcess(const std::string& test, const std::vector<std::string>& settings);
  /// Kills the process if it still runs.
  ~OwnProcess();
  OwnProcess(const OwnProcess&) = delete;
  OwnProcess& operator=(const OwnProcess&) = delete;

  /// Waits for its end. Starting CUDA takes seconds on a node with many GPUs.
  Ended wait(std::chrono::seconds limit = std::chrono::seconds(60));
  /// Waits until the output contains this text. Returns whether it does within a minute.
  bool says(const std::string& text) const;
  void kill();

 private:
  std::string output() const;

  pid_t child_ = 0;
  std::string path_;
};

}  // namespace shiplap::testing
