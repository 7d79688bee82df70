// What is kept, and how to go on, when the user interrupts a long command.
#pragma once

#include <array>
#include <csignal>
#include <string>

namespace shiplap::cli {

/// While the object lives, SIGINT and SIGTERM print "interrupted: …" on stderr before they end this process. Signals
/// that are ignored stay so. There is one object at a time.
class InterruptionNote {
 public:
  explicit InterruptionNote(const std::string& what_is_kept);
  ~InterruptionNote();
  InterruptionNote(const InterruptionNote&) = delete;
  InterruptionNote& operator=(const InterruptionNote&) = delete;

 private:
  std::array<struct sigaction, 2> before_{};
};

}  // namespace shiplap::cli
