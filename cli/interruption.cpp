#include "cli/interruption.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/common.hpp"
#include "shiplap/core/printable.hpp"

namespace shiplap::cli {
namespace {

constexpr std::array interrupting_signals{SIGINT, SIGTERM};

std::string text_of_interruption;  // made before a signal may come, because a handler must not allocate memory

bool is_said = false;

// A second signal, as `timeout` sends it, may arrive in another thread. It is ignored until the text is written.
void say_and_end(int signal) {
  if (__atomic_test_and_set(&is_said, __ATOMIC_SEQ_CST)) return;
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, text_of_interruption.data(), text_of_interruption.size());
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

InterruptionNote::InterruptionNote(const std::string& what_is_kept) {
  is_said = false;
  text_of_interruption =
      "\n" + wrap(printable(fmt::format("interrupted: {}", what_is_kept)), style_of_stdout().width) + "\n";
  struct sigaction action {};
  action.sa_handler = say_and_end;
  for (std::size_t i = 0; i < interrupting_signals.size(); ++i) {
    ::sigaction(interrupting_signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(interrupting_signals[i], &action, nullptr);
  }
}

InterruptionNote::~InterruptionNote() {
  for (std::size_t i = 0; i < interrupting_signals.size(); ++i)
    ::sigaction(interrupting_signals[i], &before_[i], nullptr);
}

}  // namespace shiplap::cli
