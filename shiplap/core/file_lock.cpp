#include "shiplap/core/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "shiplap/core/error.hpp"

namespace shiplap {

FileLock::FileLock(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string lock = (file.parent_path() / fmt::format(".{}.lock", file.filename().string())).string();
  const auto cannot = [&] {
    throw Error(fmt::format("cannot lock {}: {}: {}", path, lock, std::generic_category().message(errno)));
  };
  descriptor_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) cannot();
  while (::flock(descriptor_, LOCK_EX) != 0)
    if (errno != EINTR) {
      const int error = errno;
      ::close(descriptor_);
      errno = error;
      cannot();
    }
}

FileLock::~FileLock() {
  ::flock(descriptor_, LOCK_UN);  // a forked process has the descriptor too
  ::close(descriptor_);
}

}  // namespace shiplap
