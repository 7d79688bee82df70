// Words that a shell offers while a command line is typed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/cli11.hpp"

namespace shiplap::cli {

/// What can stand in place of the last word: names of commands, options with their descriptions, and values that are
/// known, such as strategies, workloads and built-in profiles. Each is a line, and a tab comes before its description.
/// Nothing where a file or another value is expected. `words` are the words behind the name of the program, and the
/// last one, which may be empty, is incomplete. packaging/completions holds scripts of shells that ask for this by
/// `shiplap complete -- WORDS`.
std::string completions(const CLI::App& program, std::span<const std::string_view> words);

}  // namespace shiplap::cli
