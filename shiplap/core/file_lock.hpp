// A lock that processes share, on one host or on several with a shared file system.
#pragma once

#include <string>

namespace shiplap {

/// Holds a lock for the updates of a file while it lives, so that a process that reads the file and writes it anew
/// loses nothing that another one wrote meanwhile. The lock is of a second file, `.NAME.lock` beside it, because the
/// file itself is replaced. It is gone when the process ends, however it ends.
class FileLock {
 public:
  /// Waits until no other process holds the lock of `path`. Throws Error that names the path and the reason of the
  /// operating system.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace shiplap
