#include "tests/architecture/source_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace shiplap {
namespace {

namespace fs = std::filesystem;

const fs::path& project_root() {
  static const fs::path root = SHIPLAP_SOURCE_DIR;
  return root;
}

}  // namespace

SourceFile source_file(std::string_view path) {
  std::ifstream in(project_root() / path, std::ios::binary);
  return {std::string(path), std::string(std::istreambuf_iterator<char>(in), {})};
}

std::vector<SourceFile> source_files(std::initializer_list<std::string_view> folders,
                                     std::initializer_list<std::string_view> extensions) {
  std::vector<SourceFile> files;
  for (const std::string_view folder : folders) {
    if (!fs::exists(project_root() / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(project_root() / folder))
      if (std::ranges::find(extensions, entry.path().extension().string()) != extensions.end())
        files.push_back(source_file(entry.path().lexically_relative(project_root()).generic_string()));
  }
  return files;
}

}  // namespace shiplap
