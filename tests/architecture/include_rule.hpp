// The rule of who may include whom, as a pure function of source texts, so that a planted violation can be tried.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/architecture/source_files.hpp"

namespace shiplap {

/// The names between the quotes or angle brackets of the file's #include lines. Comments and raw string literals (which
/// may hold a program) do not count.
struct Include {
  std::string name;
  bool angled = false;
};
std::vector<Include> includes(std::string_view text);

/// One sentence for each violation: "path: what is wrong". Tests may include anything; only their headers are checked.
std::vector<std::string> include_rule_violations(std::span<const SourceFile> files);

/// One sentence for each file of the library, the program and the experiments that knows threads and is in none of
/// `threaded`, rooms ("device/virtual") and beginnings of names ("plan/strategy_map"), and for each of these that knows
/// none. The CUDA device is left out.
std::vector<std::string> thread_rule_violations(std::span<const SourceFile> files,
                                                std::span<const std::string> threaded);

}  // namespace shiplap
