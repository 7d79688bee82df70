#include "shiplap/core/printable.hpp"

#include <cstdint>

namespace shiplap {
namespace {

/// Length of the UTF-8 character at the begin of the text; 0 when there is none, or it is a control character.
std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0u) != 0x80) return 0;
  const bool too_long = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool no_character = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  // What turns the direction of text (U+061C, 200E, 200F, 202A to 202E, 2066 to 2069) or ends lines (2028, 2029) can
  // make one name look like another.
  const bool is_control = (first == 0xc2 && byte(1) < 0xa0) || (first == 0xd8 && byte(1) == 0x9c) ||
                          (first == 0xe2 && byte(1) == 0x80 &&
                           (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae))) ||
                          (first == 0xe2 && byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
  return too_long || no_character || is_control ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t characters = 0;
  std::size_t before_last = 0;  // size of `out` before its last character
  while (!text.empty()) {
    if (characters == most) return out.substr(0, before_last) + "…";
    const std::size_t length = length_of_character(text);
    before_last = out.size();
    out += length == 0 ? "?" : std::string(text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
    ++characters;
  }
  return out;
}

}  // namespace shiplap
