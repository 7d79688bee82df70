// Stands in for gzip_stream.cpp in builds without zlib.
#include <fmt/format.h>

#include <istream>

#include "shiplap/advise/text_stream.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"

namespace shiplap {

std::unique_ptr<std::istream> open_gzip(const std::filesystem::path& file) {
  throw Unsupported(fmt::format(
      "{}: it is compressed with gzip, and zlib was not found when this build was made; write `gunzip --keep "
      "{}` and give the file without .gz, or install zlib1g-dev and build again",
      file.string(), shell_word(file.string())));
}

}  // namespace shiplap
