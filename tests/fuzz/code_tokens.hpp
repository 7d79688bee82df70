// The tokens of C++ text, as far as they tell code from text in it. It shares nothing with the emitter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shiplap::fuzz {

/// The tokens of a program without its comments: an identifier or keyword as itself, "1" for a number, "\"\"" for a
/// literal, and every other character as itself. Lines that end with a backslash continue, also in comments, as the
/// standard has it. Throws Broken for a character that no code has, and for a literal or comment without an end.
std::vector<std::string> code_tokens(std::string_view program);

}  // namespace shiplap::fuzz
