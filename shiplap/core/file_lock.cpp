#include "shiplap/core/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

constexpr Seconds shortest_pause = milliseconds(1);
constexpr Seconds longest_pause = milliseconds(50);

/// Opens a file to lock it, and makes it when there is none. Returns a descriptor, or -1 with errno. Another user's
/// file may be readable only, which is enough for a lock except on NFS.
int open_to_lock(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor >= 0 || errno != EACCES) return descriptor;
  const int readable = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (readable < 0) errno = EACCES;
  return readable;
}

/// Locks the file when no other process has it by the deadline. Returns 0 or errno.
int lock_by(const Deadline& deadline, int descriptor) {
  for (Seconds pause = shortest_pause; ::flock(descriptor, LOCK_EX | LOCK_NB) != 0;) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK || deadline.passed()) return errno;
    sleep_for(std::min(pause, deadline.left()));
    pause = std::min(2 * pause, longest_pause);
  }
  return 0;
}

bool has_no_locks(int error) { return error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK; }

}  // namespace

FileLock::FileLock(const std::string& path, Seconds limit) {
  const std::filesystem::path file(path);
  const std::string lock = (file.parent_path() / fmt::format(".{}.lock", file.filename().string())).string();
  descriptor_ = open_to_lock(lock);
  const int failure = descriptor_ < 0 ? errno : lock_by(Deadline(steady_time() + limit), descriptor_);
  if (failure == 0) return;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (failure == EWOULDBLOCK)
    throw Error(
        fmt::format("cannot lock {}: another process has held {} for {}; look for one that hangs (fuser {}), end it "
                    "and try again",
                    path, lock, to_string(limit), lock));
  const std::string reason = std::generic_category().message(failure);
  if (!has_no_locks(failure)) throw Error(fmt::format("cannot lock {}: {}: {}", path, lock, reason));
  missing_ = fmt::format(
      "its file system has no locks ({}), so that processes that write it at the same time may lose "
      "each other's entries",
      reason);
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  ::flock(descriptor_, LOCK_UN);  // a forked process has the descriptor too
  ::close(descriptor_);
}

}  // namespace shiplap
