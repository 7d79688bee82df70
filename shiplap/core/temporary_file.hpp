// A file that is written under a temporary name and then takes the place of another one.
#pragma once

#include <filesystem>
#include <string_view>

namespace shiplap {

/// An open file with the name `.shiplap-PROCESS-NUMBER.tmp`. It is locked while the object lives, so that other
/// processes know that it is in use.
///
/// A process that is killed leaves such a file behind. Before a process makes its first temporary file in a folder, it
/// therefore removes those of which no process holds the lock. Where the file system has no locks, it removes those
/// that are older than a day.
class TemporaryFile {
 public:
  /// Makes the file. Throws std::system_error with the reason of the operating system.
  explicit TemporaryFile(const std::filesystem::path& folder);
  /// Closes the file, and removes it unless it has replaced another one.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Its name, until it has replaced another one.
  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  /// Appends. Returns 0 or the error of the operating system.
  int write(std::string_view) const;
  /// Flushes the file and gives it this name, which may be that of another file. What is written later is appended to
  /// the file under its new name. Returns 0 or the error of the operating system; the other file is then unchanged.
  int replace(const std::filesystem::path& other);

 private:
  bool make(const std::filesystem::path& folder);

  std::filesystem::path path_;  // empty once it has replaced another one
  int descriptor_ = -1;
};

}  // namespace shiplap
