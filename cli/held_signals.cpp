#include "cli/held_signals.hpp"

#include <signal.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace shiplap::cli {
namespace {

constexpr std::array held_signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP};
std::array<struct sigaction, held_signals.size()> earlier_actions{};

volatile std::sig_atomic_t program_to_signal = 0;
volatile std::sig_atomic_t pending_signal = 0;

void hold_signal(int signal) {
  const int before = errno;
  const int process = program_to_signal;
  if (process == 0) pending_signal = signal;
  if (process != 0 && (signal == SIGTERM || signal == SIGHUP)) kill(process, signal);
  errno = before;
}

}  // namespace

HeldSignals::HeldSignals() {
  program_to_signal = 0;
  pending_signal = 0;
  for (std::size_t i = 0; i < held_signals.size(); ++i) {
    sigaction(held_signals[i], nullptr, &earlier_actions[i]);
    if (earlier_actions[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = hold_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(held_signals[i], &action, nullptr);
  }
}

HeldSignals::~HeldSignals() {
  for (std::size_t i = 0; i < held_signals.size(); ++i) sigaction(held_signals[i], &earlier_actions[i], nullptr);
  if (const int signal = pending_signal; signal != 0) raise(signal);
}

void HeldSignals::are_for(int process) {
  program_to_signal = process;  // the handler leaves `pending_signal` alone from here on
  const int signal = pending_signal;
  pending_signal = 0;
  if (signal != 0) kill(process, signal);
}

void HeldSignals::are_for_this_process() { program_to_signal = 0; }

}  // namespace shiplap::cli
