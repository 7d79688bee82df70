#include "cli/files_of_program.hpp"

#include <fmt/format.h>

#include <system_error>

#include "shiplap/core/error.hpp"

namespace shiplap::cli {

namespace fs = std::filesystem;

fs::path own_program() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw Error(fmt::format(
        "/proc/self/exe cannot be read ({}), so that this program does not find itself and the files beside "
        "it; mount /proc",
        error.message()));
  return program;
}

std::optional<fs::path> library_of_program(const std::string& file_name) {
  const fs::path folder = own_program().parent_path();
  for (const char* const place : {".", "../lib/shiplap", "../lib64/shiplap", "../lib/x86_64-linux-gnu/shiplap"}) {
    const fs::path found = folder / place / file_name;
    std::error_code missing;
    if (fs::path file = fs::canonical(found, missing); !missing) return file;
  }
  return std::nullopt;
}

}  // namespace shiplap::cli
