#include "shiplap/report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <chrono>
#include <string>
#include <utility>

#include "shiplap/core/printable.hpp"
#include "shiplap/core/thread.hpp"
#include "shiplap/report/terminal.hpp"

namespace shiplap {
namespace {

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool is_silenced = false;

}  // namespace

void Progress::silence() { is_silenced = true; }

Progress::Progress(std::FILE* stream, Seconds apart)
    : stream_(stream), terminal_(is_ansi_terminal(fileno(stream))), apart_(apart) {}

Progress::~Progress() { clear(); }

void Progress::update(std::string_view what, std::size_t done, std::size_t total) {
  if (is_silenced) return;
  const std::size_t digits = std::to_string(total).size();
  const std::string line = total > 0 ? fmt::format("[{:>{}}/{}] {}", done, digits, total, what) : std::string(what);
  if (!terminal_) return update_in_lines(line);
  // A line that wraps could not be removed. One column stays free for the cursor.
  std::fputs(fmt::format("\r\x1b[K{}", printable(line, terminal_width(stream_) - 1)).c_str(), stream_);
  std::fflush(stream_);
  shown_ = true;
}

void Progress::update_in_lines(const std::string& line) {
  const auto now = std::chrono::steady_clock::now();
  if (Seconds{now - last_} < apart_) return;
  last_ = now;
  std::fputs(fmt::format("{}, after {:.0f} s\n", printable(line), Seconds{now - begin_}.count()).c_str(), stream_);
  std::fflush(stream_);
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  shown_ = false;
}

ElapsedProgress::ElapsedProgress(std::string what, std::FILE* stream, Seconds silent)
    : thread_(start_thread([this, what = std::move(what), stream, silent](const std::stop_token& stop) {
        Progress progress(stream);
        Seconds elapsed = silent;
        std::unique_lock lock(mutex_);
        const auto is_over = [&](Seconds time) {
          return stopped_.wait_for(lock, stop, time, [&] { return stop.stop_requested(); });
        };
        for (Seconds wait = silent; !is_over(wait); wait = Seconds{1}, elapsed += wait)
          progress.update(is_ansi_terminal(fileno(stream)) ? fmt::format("{} … {:.0f} s", what, elapsed.count())
                                                           : what);
      })) {}

}  // namespace shiplap
