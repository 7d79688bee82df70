// Questions to the file system. What the system refuses is an Error that names the path, never an exception of
// std::filesystem: calls of std::filesystem elsewhere take an error code.
#pragma once

#include <filesystem>
#include <vector>

namespace shiplap {

/// Whether a file or folder has this name. Throws Error when the system cannot tell, as for a loop of symbolic links, a
/// name that is too long or a folder that must not be searched.
bool is_there(const std::filesystem::path&);
/// Whether this is a folder. Throws Error when the system cannot tell.
bool is_folder(const std::filesystem::path&);
/// The paths of what is in a folder, sorted. Throws Error when it cannot be listed.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// The file that symbolic links with this name lead to, whether it is there or not; the path itself where it is none.
/// Throws Error for a loop of links.
std::filesystem::path file_behind_links(const std::filesystem::path&);
/// Whether both are one file: one inode, or, of files that are not there yet, one name in one folder. The names may
/// differ in case where the file system takes them for one; an empty file is then made in the folder for a moment.
/// Whatever the system does not tell counts as different.
bool are_one_file(const std::filesystem::path&, const std::filesystem::path&);

}  // namespace shiplap
