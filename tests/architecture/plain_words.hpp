// The rule of plain words: phrases that comments, messages and docs do not use, as a pure function of texts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/architecture/source_files.hpp"

namespace shiplap {

/// One sentence for each forbidden phrase in a file: "path:line: says "…": what to say instead". Upper and lower case
/// are the same, only whole words count, and a phrase may continue on the next line. Includes are not checked.
std::vector<std::string> plain_word_violations(std::span<const SourceFile> files);

}  // namespace shiplap
