// Text of others, such as names in files, made safe to show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shiplap {

/// The text as valid UTF-8 without control characters, and without those that turn the
/// direction of text: each byte that is none of it becomes '?'. With `most`, at most
/// this number of characters, the last of which is "…" when some were cut off.
std::string printable(std::string_view text, std::size_t most = std::string::npos);

}  // namespace shiplap
