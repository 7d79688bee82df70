#include "shiplap/report/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

namespace shiplap {
namespace {

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

Progress::Progress(std::FILE* stream) : stream_(stream), terminal_(isatty(fileno(stream)) == 1) {}

Progress::~Progress() { clear(); }

void Progress::update(std::string_view what, std::size_t done, std::size_t total) {
  if (!terminal_) return;
  const std::size_t digits = std::to_string(total).size();
  std::string line = total > 0 ? fmt::format("[{:>{}}/{}] {}", done, digits, total, what) : std::string(what);
  // A line that wraps could not be taken back; one column stays free for the cursor.
  const std::size_t most = terminal_width(stream_) - 1;
  if (line.size() > most) line.resize(most);
  std::fputs(fmt::format("\r\x1b[K{}", line).c_str(), stream_);
  std::fflush(stream_);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  shown_ = false;
}

}  // namespace shiplap
