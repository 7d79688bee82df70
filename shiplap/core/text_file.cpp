#include "shiplap/core/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/file_system.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/temporary_file.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

std::string system_reason(int error) { return std::generic_category().message(error); }

// Owns a file descriptor.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

[[noreturn]] void cannot_write(const std::string& path, int error) {
  const bool no_folder = error == ENOENT || error == ENOTDIR;
  throw Error(fmt::format("cannot write {}: {}{}", printable(path), system_reason(error),
                          no_folder ? "; create the folder first" : ""));
}

[[noreturn]] void cannot_read(const std::string& path, int error) {
  throw Error(fmt::format("cannot read {}: {}", printable(path), system_reason(error)));
}

/// Reads an open file to its end.
std::string text_of(const File& file, const std::string& path, std::uint64_t most) {
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(path, errno);
    if (got == 0) return text;
    if (text.size() + static_cast<std::size_t>(got) > most) refuse_size(path, most);
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// Whether the path is a symbolic link that the kernel would not follow where fs.protected_symlinks is on: in a sticky
/// folder in which everybody may write, and neither of this user nor of the folder's owner.
bool is_planted_link(const fs::path& path) {
  struct stat link {};
  struct stat folder {};
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode) || ::stat(parent.c_str(), &folder) != 0) return false;
  const bool is_shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  return is_shared && link.st_uid != ::geteuid() && link.st_uid != folder.st_uid;
}

}  // namespace

void refuse_size(const std::string& source, std::uint64_t most) {
  throw Error(
      fmt::format("{}: it has more than {}, and no more is read of such a file; give a file that shiplap has "
                  "written",
                  printable(source), to_string(Bytes{most})));
}

std::string read_text_file(const std::string& path, std::uint64_t most) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) cannot_read(path, errno);
  return text_of(file, path, most);
}

std::string read_regular_file(const std::string& path, std::uint64_t most) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat about {};
  // A socket cannot be opened at all.
  if ((file.get() < 0 && errno != ENXIO) || (file.get() >= 0 && ::fstat(file.get(), &about) != 0))
    cannot_read(path, errno);
  if (S_ISDIR(about.st_mode)) cannot_read(path, EISDIR);
  if (!S_ISREG(about.st_mode))
    throw Error(fmt::format(
        "cannot read {}: it is a pipe, a socket or a device, and only a regular file is read here; remove it",
        printable(path)));
  return text_of(file, path, most);
}

void write_file_atomically(const std::string& path, std::string_view content) {
  if (is_planted_link(path))
    throw Error(fmt::format(
        "cannot write {}: it is a symbolic link of another user in a folder where everybody may write, and could lead "
        "to any file; remove it or name a file in a folder of yours",
        printable(path)));
  // A symbolic link stays, and its target is replaced.
  const fs::path target = file_behind_links(path);
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) cannot_write(path, errno);
  if (exists && S_ISDIR(old.st_mode)) cannot_write(path, EISDIR);
  // Renaming would replace a device or a pipe by a regular file.
  if (exists && !S_ISREG(old.st_mode))
    throw Error(fmt::format("cannot write {}: not a regular file; give the path of a file", printable(path)));

  try {
    TemporaryFile file(target.parent_path());
    int failure = exists && ::fchmod(file.descriptor(), old.st_mode & 07777) != 0 ? errno : 0;
    if (failure == 0) failure = file.write(content);
    if (failure == 0) failure = file.replace(target);
    if (failure != 0) cannot_write(path, failure);
  } catch (const std::system_error& refused) {
    cannot_write(path, refused.code().value());
  }
}

void write_document(const std::string& path, std::string_view content) {
  if (content.size() > limits::document_bytes)
    throw Error(fmt::format(
        "cannot write {}: it would have {}, and no more than {} of such a file is read; ask for less in one file",
        printable(path), to_string(Bytes{content.size()}), to_string(Bytes{limits::document_bytes})));
  write_file_atomically(path, content);
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(fmt::format("cannot make the folder {}: {}", printable(folder.string()), error.message()));
}

}  // namespace shiplap
