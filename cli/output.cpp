#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>

namespace shiplap::cli {
namespace {

int first_error = 0;

void keep_error(int error) {
  if (first_error == 0) first_error = error != 0 ? error : EIO;
}

}  // namespace

void print_verbatim(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) keep_error(errno);
}

int flush_output() noexcept {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) keep_error(errno);
  return first_error;
}

void print_error(std::string_view text) noexcept {
  // Without memory and without a buffer. stderr has none.
  [[maybe_unused]] const std::size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace shiplap::cli
