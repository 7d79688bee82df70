#include "shiplap/core/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <set>
#include <string>
#include <system_error>

namespace shiplap {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view temporary_prefix = ".shiplap-";
constexpr std::string_view temporary_suffix = ".tmp";
/// A file is written in much less time than this.
constexpr std::time_t longest_use = 24 * 3600;

/// Removes the file unless a process uses it.
void remove_if_abandoned(const fs::path& file) {
  // A named pipe must not suspend this process, and a link is none of our files.
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int descriptor = ::open(file.c_str(), O_RDWR | flags);  // NFS locks only what can be written
  if (descriptor < 0 && errno == EACCES) descriptor = ::open(file.c_str(), O_RDONLY | flags);
  if (descriptor < 0) return;
  struct stat about {};
  const bool is_file = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  const bool is_locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const bool is_in_use = is_locked ? false : errno == EWOULDBLOCK || std::time(nullptr) - about.st_mtime < longest_use;
  if (is_file && !is_in_use) ::unlink(file.c_str());
  ::close(descriptor);
}

void remove_abandoned(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(temporary_prefix) && name.ends_with(temporary_suffix)) remove_if_abandoned(*entry);
  }
}

/// Whether this is the first question about the folder.
bool is_first_in(const fs::path& folder) {
  static std::mutex mutex;
  static std::set<fs::path> folders;
  const std::lock_guard lock(mutex);
  return folders.insert(folder).second;
}

}  // namespace

TemporaryFile::TemporaryFile(const fs::path& folder) {
  if (is_first_in(folder)) remove_abandoned(folder);
  while (!make(folder)) continue;
}

/// Returns whether the file was made; false when the name was taken.
bool TemporaryFile::make(const fs::path& folder) {
  static std::atomic<unsigned> counter{0};
  path_ = folder / fmt::format("{}{}-{}{}", temporary_prefix, ::getpid(), counter++, temporary_suffix);
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0 && (errno == EEXIST || errno == EINTR)) return false;
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category());
  // Between these calls another process may take the new file for an abandoned one. Where the file system has no locks,
  // nobody does.
  const bool is_taken = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat about {};
  if (!is_taken && (::fstat(descriptor_, &about) != 0 || about.st_nlink > 0)) return true;
  ::close(descriptor_);
  return false;
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
  ::close(descriptor_);
}

int TemporaryFile::write(std::string_view content) const {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor_, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int TemporaryFile::replace(const fs::path& other) {
  if (::fsync(descriptor_) != 0) return errno;
  // Some file systems report a failed write only when a descriptor is closed. The one with the lock stays open.
  const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || ::close(copy) != 0) return errno;
  if (::rename(path_.c_str(), other.c_str()) != 0) return errno;
  path_.clear();
  return 0;
}

}  // namespace shiplap
