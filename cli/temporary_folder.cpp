#include "cli/temporary_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "shiplap/core/error.hpp"

namespace shiplap::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view folder_prefix = "shiplap-advise-";

/// Opens a folder of this user and locks it. Returns its descriptor; -1 for what is none or is locked already.
int lock_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat about {};
  if (::fstat(descriptor, &about) == 0 && about.st_uid == ::geteuid() && about.st_nlink > 0 &&
      ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &about) == 0 && about.st_nlink > 0)
    return descriptor;
  ::close(descriptor);
  return -1;
}

void remove_abandoned_folders(const fs::path& place) {
  std::error_code error;
  for (fs::directory_iterator entry(place, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(folder_prefix)) continue;
    const int descriptor = lock_folder(entry->path());
    if (descriptor < 0) continue;
    std::error_code ignored;
    fs::remove_all(entry->path(), ignored);
    ::close(descriptor);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  if (error)
    throw Error(
        fmt::format("there is no folder for temporary files ({}), so that nothing can be recorded; set TMPDIR to a "
                    "folder that you can write",
                    error.message()));
  remove_abandoned_folders(place);
  // Between making and locking it, another process may take a new folder for an abandoned one.
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i)
    if (make(place)) return;
  throw Error(fmt::format("no folder in {} can be locked; name another place in TMPDIR", place.string()));
}

bool TemporaryFolder::make(const fs::path& place) {
  std::string name = (place / fmt::format("{}XXXXXX", folder_prefix)).string();
  if (mkdtemp(name.data()) == nullptr)
    throw Error(
        fmt::format("no folder can be made in {} ({}), so that nothing can be recorded; set TMPDIR to a folder that "
                    "you can write",
                    place.string(), std::generic_category().message(errno)));
  path_ = name;
  descriptor_ = lock_folder(path_);
  return descriptor_ >= 0;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(descriptor_);
}

}  // namespace shiplap::cli
