#include "shiplap/core/printable.hpp"

#include <algorithm>
#include <cstdint>

namespace shiplap {
namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

/// Length of the ANSI sequence of colours and weights at the begin of the text; 0 when there is none.
std::size_t length_of_colours(std::string_view text) {
  constexpr std::string_view begin = "\x1b[";
  if (!text.starts_with(begin)) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", begin.size());
  return end != text.npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

std::size_t length_of_printable(std::string_view text) {
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

char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (length == 1 || text.size() < length) {
    text.remove_prefix(1);
    return lead;
  }
  char32_t code = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (byte(i) & 0x3fu);
  text.remove_prefix(length);
  return code;
}

std::string printable(std::string_view text, std::size_t most) {
  if (text.size() <= most && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string out;
  std::size_t characters = 0;
  std::size_t before_last = 0;  // size of `out` before its last character
  while (!text.empty()) {
    if (characters == most) return out.substr(0, before_last) + "…";
    const std::size_t length = length_of_printable(text);
    before_last = out.size();
    if (length > 0)
      out += text.substr(0, length);
    else
      out += text.front() == '\n' || text.front() == '\t' || text.front() == '\r' ? ' ' : '?';
    text.remove_prefix(length == 0 ? 1 : length);
    ++characters;
  }
  return out;
}

std::string printable_lines(std::string_view text, bool colours) {
  std::string out;
  while (!text.empty()) {
    const std::size_t kept = text.front() == '\n' ? 1 : colours ? length_of_colours(text) : 0;
    if (kept > 0) {
      out += text.substr(0, kept);
      text.remove_prefix(kept);
      continue;
    }
    const std::string_view part = text.substr(0, text.find_first_of("\n\x1b", 1));
    out += printable(part);
    text.remove_prefix(part.size());
  }
  return out;
}

std::string shell_word(std::string_view text) {
  const auto is_safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:,=+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_safe)) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace shiplap
