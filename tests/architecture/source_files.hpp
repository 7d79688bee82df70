// The files of the project, as the architecture tests read them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace shiplap {

/// One file of the project: its path from the project's root, with '/', and its content.
struct SourceFile {
  std::string path;
  std::string text;
};

/// The file at a path from the project's root.
SourceFile source_file(std::string_view path);
/// The files with one of these extensions (".hpp") in these folders of the project. Folders that do not exist are
/// skipped.
std::vector<SourceFile> source_files(std::initializer_list<std::string_view> folders,
                                     std::initializer_list<std::string_view> extensions);

}  // namespace shiplap
