#include "tests/architecture/error_codes.hpp"

#include <algorithm>
#include <regex>
#include <set>

namespace shiplap {
namespace {

/// The arguments of a call, from behind its opening parenthesis.
std::string arguments_at(const std::string& text, std::size_t at) {
  int depth = 1;
  std::size_t end = at;
  for (; end < text.size(); ++end) {
    if (text[end] == '(' || text[end] == '{') ++depth;
    if ((text[end] == ')' || text[end] == '}') && --depth == 0) break;
  }
  return text.substr(at, end - at);
}

/// The names of error codes in a text.
std::set<std::string> error_codes(const std::string& text) {
  static const std::regex declared(R"(std::error_code&?\s+(\w+))");
  std::set<std::string> names;
  for (std::sregex_iterator found(text.begin(), text.end(), declared), end; found != end; ++found)
    names.insert((*found)[1]);
  return names;
}

/// Whether the call cannot throw: its last argument, or the one before the end of an iteration, is an error code, or it
/// looks at a status that is known.
bool takes_error_code(const std::string& arguments, const std::set<std::string>& codes) {
  if (arguments.find("status") != std::string::npos) return true;
  static const std::regex last(R"((\w+)\s*$)");
  std::smatch found;
  return std::regex_search(arguments, found, last) && codes.contains(found[1]);
}

}  // namespace

std::vector<std::string> error_code_violations(std::span<const SourceFile> files) {
  static const std::regex call(
      R"((?:\bfs|\bfilesystem)::(exists|is_\w+|status|symlink_status|canonical|weakly_canonical|absolute|relative|proximate|equivalent|file_size|last_write_time|create_\w+|copy|copy_file|remove|remove_all|rename|resize_file|read_symlink|space|permissions|temp_directory_path|current_path|hard_link_count|(?:recursive_)?directory_iterator(?:\s+\w+)?)\()");
  static const std::regex loop(R"(for \([^;(]*:\s+[\w:]*directory_iterator)");
  static const std::regex entry(R"(\bentry(?:->|\.)(?:exists|is_\w+|file_size|last_write_time|status|refresh)\(\))");
  std::vector<std::string> violations;
  for (const auto& [path, text] : files) {
    if (text.find("fs::") == std::string::npos && text.find("filesystem::") == std::string::npos) continue;
    const std::set<std::string> codes = error_codes(text);
    const auto add = [&, &file = path, &source = text](std::ptrdiff_t at, const std::string& what) {
      const auto line = 1 + std::count(source.begin(), source.begin() + at, '\n');
      violations.push_back(file + ":" + std::to_string(line) + ": " + what +
                           " throws what the system refuses: give it an error code, or call core/file_system");
    };
    for (std::sregex_iterator found(text.begin(), text.end(), call), end; found != end; ++found)
      if (!takes_error_code(arguments_at(text, static_cast<std::size_t>(found->position() + found->length())), codes))
        add(found->position(), (*found)[1]);
    for (const std::regex* one : {&loop, &entry}) {
      if (text.find("directory_iterator") == std::string::npos) break;
      for (std::sregex_iterator found(text.begin(), text.end(), *one), end; found != end; ++found)
        add(found->position(), found->str());
    }
  }
  return violations;
}

}  // namespace shiplap
