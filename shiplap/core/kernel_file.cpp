#include "shiplap/core/kernel_file.hpp"

#include <array>
#include <fstream>

namespace shiplap {

std::string text_of_kernel_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text;
  std::array<char, 4096> part{};
  // An iterator over the stream would throw what the system says of a read that fails.
  while (in.read(part.data(), part.size()), in.gcount() > 0)
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  return in.bad() ? std::string() : text;
}

}  // namespace shiplap
