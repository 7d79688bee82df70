#include "cli/pipe.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "shiplap/core/error.hpp"

namespace shiplap::cli {
namespace {

[[noreturn]] void pipe_failed(const char* call) {
  throw Error(fmt::format("the output of another process cannot be read: {} failed: {}", call,
                          std::generic_category().message(errno)));
}

}  // namespace

Pipe::Pipe() {
  if (pipe2(ends_.data(), O_CLOEXEC) != 0) pipe_failed("pipe2");
  fcntl(ends_[0], F_SETFL, O_NONBLOCK);
}

Pipe::~Pipe() {
  close_end(0);
  close_end(1);
}

void Pipe::take(std::string& text) {
  std::array<char, 4096> piece{};
  while (ends_[0] >= 0) {
    const ssize_t n = ::read(ends_[0], piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n < 0) pipe_failed("read");
    if (n == 0) return close_end(0);
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
}

void Pipe::close_end(std::size_t end) {
  if (ends_[end] >= 0) ::close(ends_[end]);
  ends_[end] = -1;
}

}  // namespace shiplap::cli
