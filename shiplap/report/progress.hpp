// A line on stderr that shows how far a command is. Nothing is shown when stderr is not a terminal.
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

  /// Replaces the line, cut to the width of the terminal: "[ 12/340] copy.pinned.h2d bytes=4096", or `what` alone when
  /// `total` is 0.
  void update(std::string_view what, std::size_t done = 0, std::size_t total = 0);
  /// Removes the line, so that other output can follow.
  void clear();
  /// From now on nothing is shown in this process.
  static void silence();

 private:
  std::FILE* stream_;
  bool terminal_;
  bool shown_ = false;
};

/// Shows once a second, while the object exists, how long something has taken.
class ElapsedProgress {
 public:
  /// Shows lines as "planning … 3 s", the first one after `silent`, and only when `stream` is a terminal.
  explicit ElapsedProgress(std::string what, std::FILE* stream = stderr, Seconds silent = Seconds{2});

 private:
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // must be the last member, so that it ends before the members that it uses
};

}  // namespace shiplap
