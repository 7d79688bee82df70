#include "shiplap/advise/text_stream.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <ios>

#include "shiplap/core/error.hpp"

namespace shiplap {

bool is_gzip(const std::filesystem::path& file) {
  constexpr std::array<char, 2> gzip{'\x1f', '\x8b'};
  std::array<char, 2> begin{};
  std::ifstream in(file, std::ios::binary);
  in.read(begin.data(), begin.size());
  return in && begin == gzip;
}

std::unique_ptr<std::istream> open_text(const std::filesystem::path& file) {
  if (is_gzip(file)) return open_gzip(file);
  auto in = std::make_unique<std::ifstream>(file, std::ios::binary);
  if (!*in)
    throw Error(fmt::format("{}: it cannot be read; check that the file exists and may be read", file.string()));
  return in;
}

std::string read_block(std::istream& in, std::size_t most, const std::string& source) {
  std::string block(most, '\0');
  try {
    block.resize(static_cast<std::size_t>(in.rdbuf()->sgetn(block.data(), static_cast<std::streamsize>(most))));
  } catch (const std::ios_base::failure& failure) {
    throw Error(fmt::format("{}: it cannot be read: {}", source, failure.code().message()));
  }
  return block;
}

}  // namespace shiplap
