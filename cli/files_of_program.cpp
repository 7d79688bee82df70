#include "cli/files_of_program.hpp"

namespace shiplap::cli {

namespace fs = std::filesystem;

fs::path own_program() { return fs::read_symlink("/proc/self/exe"); }

std::optional<fs::path> library_of_program(const std::string& file_name) {
  const fs::path folder = own_program().parent_path();
  for (const char* const place : {".", "../lib/shiplap", "../lib64/shiplap", "../lib/x86_64-linux-gnu/shiplap"}) {
    const fs::path found = folder / place / file_name;
    if (fs::exists(found)) return fs::canonical(found);
  }
  return std::nullopt;
}

}  // namespace shiplap::cli
