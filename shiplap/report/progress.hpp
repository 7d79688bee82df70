// How far a command is, on stderr: a line that is replaced on a terminal, and elsewhere a line every ten seconds.
#pragma once

#include <chrono>
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
  /// Where `stream` is no terminal, a line follows whenever `apart` has passed since the last one or since the begin.
  explicit Progress(std::FILE* stream = stderr, Seconds apart = Seconds{10});
  /// Removes the line of a terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces the line, cut to the width of the terminal: "[ 12/340] copy.pinned.h2d bytes=4096", or `what` alone when
  /// `total` is 0. Where `stream` is no terminal, the line also says how long it has taken.
  void update(std::string_view what, std::size_t done = 0, std::size_t total = 0);
  /// Removes the line, so that other output can follow.
  void clear();
  /// From now on nothing is shown in this process.
  static void silence();

 private:
  void update_in_lines(const std::string& line);

  std::FILE* stream_;
  bool terminal_;
  bool shown_ = false;
  Seconds apart_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

/// Shows once a second, while the object exists, how long something has taken.
class ElapsedProgress {
 public:
  /// Shows lines as "planning … 3 s", the first one after `silent`.
  explicit ElapsedProgress(std::string what, std::FILE* stream = stderr, Seconds silent = Seconds{2});

 private:
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // must be the last member, so that it ends before the members that it uses
};

}  // namespace shiplap
