// Signals that would end this process, held back while it has something to clean up.
#pragma once

namespace shiplap::cli {

/// While the object lives, SIGINT, SIGQUIT, SIGTERM and SIGHUP do not end this process unless it ignored them before.
/// While a program runs, they are for the program: SIGTERM and SIGHUP are passed on to it, and the keys that send
/// SIGINT and SIGQUIT reach it anyway. Otherwise a signal takes effect when the object goes. There is one object at a
/// time.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Signals are for this process from now on, also those that have been held so far.
  void are_for(int process);
  /// No other process runs any more.
  void are_for_this_process();
};

}  // namespace shiplap::cli
