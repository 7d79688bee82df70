// One line on a terminal's stderr that says how far a command is; nothing at all when stderr is not a terminal.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "shiplap/core/units.hpp"

namespace shiplap {

class Progress {
 public:
  /// Shows something only when `stream` is a terminal.
  explicit Progress(std::FILE* stream = stderr);
  /// Removes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// "[ 12/340] copy.pinned.h2d bytes=4096", over the line before it and no wider than the terminal. Without a total
  /// when `total` is 0.
  void update(std::string_view what, std::size_t done = 0, std::size_t total = 0);
  /// Removes the line, so that other output can follow.
  void clear();

 private:
  std::FILE* stream_;
  bool terminal_;
  bool shown_ = false;
};

/// While it lives, says how long something has taken, once a second. It says nothing in the first two seconds.
class ElapsedProgress {
 public:
  /// "planning … 3 s". Shows something only when `stream` is a terminal.
  explicit ElapsedProgress(std::string what, std::FILE* stream = stderr, Seconds silent = Seconds{2});

 private:
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // the last member: it ends before what it uses
};

}  // namespace shiplap
