// A folder for files that nobody needs when the program has ended.
#pragma once

#include <filesystem>

namespace shiplap::cli {

/// A folder of its own where the operating system keeps temporary files, removed with everything in it. It is locked
/// while the object lives. A process that is killed leaves its folder behind; the next one removes the folders of this
/// user that no process has locked.
class TemporaryFolder {
 public:
  /// Throws Error that names the place and the reason of the operating system.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  bool make(const std::filesystem::path& place);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace shiplap::cli
