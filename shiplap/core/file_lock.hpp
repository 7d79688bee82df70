// A lock that processes share, on one host or on several with a shared file system.
#pragma once

#include <string>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Holds a lock for the updates of a file while it lives, so that a process that reads the file and writes it anew
/// loses nothing that another one wrote meanwhile. The lock is of a second file, `.NAME.lock` beside it, because the
/// file itself is replaced. It is gone when the process ends, however it ends.
class FileLock {
 public:
  /// Longest time to wait for other processes. An update takes milliseconds.
  static constexpr Seconds longest_wait{30};

  /// Waits until no other process holds the lock of `path`. Throws Error that names the path and the reason of the
  /// operating system, also when another process still holds the lock after `limit`. A file system may have no locks at
  /// all, as Lustre without its mount option `flock`; there nothing is locked, and `missing` says so.
  explicit FileLock(const std::string& path, Seconds limit = longest_wait);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// Why nothing is locked, as a clause for a message; empty when the lock is held.
  const std::string& missing() const { return missing_; }

 private:
  int descriptor_ = -1;
  std::string missing_;
};

}  // namespace shiplap
