// A folder that goes away with its object.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace shiplap {

/// An empty folder with a name of its own where the system has temporary files. What is in it goes away with it.
class TemporaryFolder {
 public:
  /// Throws std::system_error when it cannot be made.
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "shiplap-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace shiplap
