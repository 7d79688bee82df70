// Words that a shell offers while a command line is typed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli11.hpp"

namespace shiplap::cli {

/// The values in the type of an option such as "KIND:{pageable,pinned,managed}"; none where it has no braces.
std::vector<std::string> members_of(const std::string& type);

/// What can stand in place of the last word: names of commands, options with their descriptions, and values that are
/// known, such as strategies, workloads and built-in profiles, also behind "--option=" and behind the commas of a list.
/// Each is a line, and a tab comes before its description. Nothing where a file or another value is expected. `words`
/// are the words behind the name of the program, and the last one, which may be empty, is incomplete.
/// packaging/completions holds scripts of shells that ask for this by `shiplap complete -- WORDS`.
std::string completions(const CLI::App& program, std::span<const std::string_view> words);

}  // namespace shiplap::cli
