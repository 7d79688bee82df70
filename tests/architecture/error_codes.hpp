// The rule that calls of std::filesystem take an error code, as a pure function of source texts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tests/architecture/source_files.hpp"

namespace shiplap {

/// One sentence for each call of std::filesystem that would throw what the system refuses: "path:line: what it is".
std::vector<std::string> error_code_violations(std::span<const SourceFile> files);

}  // namespace shiplap
