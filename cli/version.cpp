#include "cli/version.hpp"

#include <fmt/format.h>

#include "shiplap/core/formats.hpp"
#include "shiplap/version.h"

namespace shiplap::cli {
namespace {

std::string part(std::string_view version, std::string_view absent) {
  return std::string(version.empty() ? absent : version);
}

/// Every format with its version, in lines of at most 100 columns.
std::string formats_text() {
  constexpr std::size_t width = 89;  // beside the margin and a comma
  std::string text;
  std::size_t column = 0;
  for (const FileFormat& format : file_formats) {
    const std::string entry = fmt::format("{} {}", format.schema.substr(format.schema.find('/') + 1), format.version);
    if (!text.empty()) {
      const bool fits = column + 2 + entry.size() <= width;
      text += fits ? ", " : ",\n         ";
      column = fits ? column + 2 : 0;
    }
    text += entry;
    column += entry.size();
  }
  return text;
}

}  // namespace

const char* version() { return SHIPLAP_VERSION; }

std::string version_text(std::string_view program) {
  return fmt::format(
      "{} {}\n"
      "commit   {}\n"
      "CUDA     {}\n"
      "reports  {}\n"
      "nsys     {}\n"
      "MPI      {}\n"
      "formats  {}",
      program, version(), commit(), part(SHIPLAP_CUDA_VERSION, "none: this build opens virtual devices only"),
      part(SHIPLAP_D3_VERSION, "none: this build has no D3"),
      part(SHIPLAP_SQLITE_VERSION, "none: this build has no SQLite"),
      part(SHIPLAP_MPI_VERSION, "none: ranks of fleet check talk by files"), formats_text());
}

}  // namespace shiplap::cli
