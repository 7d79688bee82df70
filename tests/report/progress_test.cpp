#include "shiplap/report/progress.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace shiplap {
namespace {

/// A terminal whose other end the test reads.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (master_ >= 0 && grantpt(master_) == 0 && unlockpt(master_) == 0)
      stream = fdopen(::open(ptsname(master_), O_RDWR | O_NOCTTY), "w");
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (stream != nullptr) std::fclose(stream);
    ::close(master_);
  }
  /// What has been written within the time, up to the first text.
  std::string read_within(int milliseconds) const {
    pollfd ready{.fd = master_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, milliseconds) <= 0) return "";
    std::string text(1000, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(master_, text.data(), text.size()))));
    return text;
  }

  std::FILE* stream = nullptr;

 private:
  int master_;
};

std::string text_in(std::FILE* file) {
  std::rewind(file);
  std::string text(1000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

TEST(Progress, says_in_a_file_how_far_it_is_and_how_long_it_took_but_not_more_often_than_asked_for) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    Progress often(file, Seconds{0});
    often.update("copy.pinned.h2d", 3, 12);
    Progress rarely(file, Seconds{3600});
    rarely.update("never", 4, 12);
  }
  EXPECT_EQ(text_in(file), "[ 3/12] copy.pinned.h2d, after 0 s\n");
  std::fclose(file);
}

TEST(ElapsedProgress, says_on_a_terminal_what_has_taken_how_long_and_removes_it) {
  const Terminal terminal;
  if (terminal.stream == nullptr) GTEST_SKIP() << "no terminal can be opened here";
  {
    const ElapsedProgress progress("planning", terminal.stream, Seconds{0.01});
    EXPECT_NE(terminal.read_within(10'000).find("planning … 0 s"), std::string::npos);
  }
  EXPECT_NE(terminal.read_within(10'000).find("\x1b[K"), std::string::npos);
}

TEST(ElapsedProgress, says_nothing_of_what_is_soon_over) {
  const Terminal terminal;
  if (terminal.stream == nullptr) GTEST_SKIP() << "no terminal can be opened here";
  { const ElapsedProgress progress("planning", terminal.stream, Seconds{3600}); }
  EXPECT_EQ(terminal.read_within(1), "");
}

}  // namespace
}  // namespace shiplap
