// Text of others, such as names in files, made safe to show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shiplap {

/// The text as valid UTF-8 without control characters, and without those that turn the direction of text: a tab and a
/// line break become a space, and each other byte that is none of it becomes '?'. With `most`, at most this number of
/// characters, the last of which is "…" when some were cut off.
std::string printable(std::string_view text, std::size_t most = std::string::npos);

/// Text of several lines, each of them `printable`. With `colours`, ANSI sequences of colours and weights
/// ("ESC [ digits m") stay too.
std::string printable_lines(std::string_view text, bool colours = false);

/// Length of the UTF-8 character at the begin of a text that is not empty; 0 when `printable` would replace it.
std::size_t length_of_printable(std::string_view text);

/// Removes the first UTF-8 character from a text that is not empty and returns its code point. A byte that begins no
/// character is returned as it is.
char32_t take_code_point(std::string_view& text);

/// The text as one word of a POSIX shell: in single quotes, unless it has only characters that are not special there.
std::string shell_word(std::string_view text);

}  // namespace shiplap
