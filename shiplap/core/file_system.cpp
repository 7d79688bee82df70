#include "shiplap/core/file_system.hpp"

#include <fmt/format.h>
#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>

#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/temporary_file.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_read(const fs::path& path, const std::error_code& why) {
  throw Error(fmt::format("cannot read {}: {}", printable(path.string()), why.message()));
}

fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  // A part of the path that is a file, or that is missing, is an answer too.
  if (status.type() == fs::file_type::none) cannot_read(path, error);
  return status;
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

std::optional<struct stat> inode_of(const fs::path& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? std::optional(found) : std::nullopt;
}

bool is_one_inode(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Whether names in this folder that differ in case are of one file.
bool ignores_case(const fs::path& folder) try {
  const TemporaryFile file(folder);
  std::string other_case = file.path().filename().string();
  std::ranges::transform(other_case, other_case.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  return inode_of(folder / other_case).has_value();
} catch (const std::system_error&) {
  return false;  // nothing can be written there
}

}  // namespace

bool is_there(const fs::path& path) { return fs::exists(status_of(path)); }

bool is_folder(const fs::path& path) { return fs::is_directory(status_of(path)); }

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    entries.push_back(entry->path());
  if (error) cannot_read(folder, error);
  std::ranges::sort(entries);
  return entries;
}

fs::path file_behind_links(const fs::path& path) {
  constexpr int most_links = 40;  // as Linux follows
  fs::path file = path;
  for (int followed = 0; followed < most_links; ++followed) {
    std::error_code is_no_link;
    const fs::path next = folder_of(file) / fs::read_symlink(file, is_no_link);
    // A link below /proc leads to an open file, whatever name it shows.
    if (is_no_link || (!inode_of(next) && inode_of(file))) return file;
    file = next;
  }
  throw Error(fmt::format("cannot follow {}: {}", printable(path.string()),
                          std::make_error_code(std::errc::too_many_symbolic_link_levels).message()));
}

bool are_one_file(const fs::path& one, const fs::path& other) try {
  // The file that /dev/stdout stands for can have no name, so that only its inode tells.
  const auto inode = inode_of(one);
  const auto other_inode = inode_of(other);
  if (inode || other_inode) return inode && other_inode && is_one_inode(*inode, *other_inode);
  const fs::path file = file_behind_links(one);
  const fs::path other_file = file_behind_links(other);
  const auto folder = inode_of(folder_of(file));
  const auto other_folder = inode_of(folder_of(other_file));
  if (!folder || !other_folder || !is_one_inode(*folder, *other_folder)) return false;
  const std::string name = file.filename().string();
  const std::string other_name = other_file.filename().string();
  return name == other_name || (::strcasecmp(name.c_str(), other_name.c_str()) == 0 && ignores_case(folder_of(file)));
} catch (const Error&) {
  return false;  // a loop of links, which is nowhere written
}

}  // namespace shiplap
