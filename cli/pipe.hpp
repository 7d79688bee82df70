// A pipe from another process, read without waiting.
#pragma once

#include <poll.h>

#include <array>
#include <string>

namespace shiplap::cli {

/// Other processes do not inherit it. Throws Error that names the call when the system refuses one.
class Pipe {
 public:
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int write_end() const { return ends_[1]; }
  void close_write_end() { close_end(1); }
  /// What `poll` waits for until something was written.
  pollfd wait_for() const { return {.fd = ends_[0], .events = POLLIN, .revents = 0}; }
  /// Appends what has been written so far.
  void take(std::string& text);

 private:
  void close_end(std::size_t end);
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace shiplap::cli
