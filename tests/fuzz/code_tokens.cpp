#include "tests/fuzz/code_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_figure(char c) { return c >= '0' && c <= '9'; }

/// A compiler joins lines before it reads comments and literals.
std::string joined_lines(std::string_view text) {
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      std::size_t end = i + 1;
      while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
      if (end < text.size() && text[end] == '\n') {
        i = end;
        continue;
      }
    }
    joined.push_back(text[i]);
  }
  return joined;
}

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  std::vector<std::string> all() {
    while (!text_.empty()) next();
    return std::move(found_);
  }

 private:
  void next() {
    const char c = text_.front();
    if (text_.starts_with("//")) return skip_past("\n", true);
    if (text_.starts_with("/*")) return skip_past("*/", false);
    if (text_.starts_with("R\"(")) return take_literal(")\"");
    if (c == '"' || c == '\'') return quoted(c);
    if (is_letter(c)) return take("", [](char x) { return is_letter(x) || is_figure(x); });
    if (is_figure(c)) return take("1", [](char x) { return is_letter(x) || is_figure(x) || x == '.' || x == '\''; });
    const bool is_code = (c > 0x20 && c < 0x7f && c != '@' && c != '`' && c != '$') || c == ' ' || c == '\n';
    require(is_code, fmt::format("code has no byte {:#x}", static_cast<unsigned char>(c)));
    if (c > ' ') found_.emplace_back(1, c);
    text_.remove_prefix(1);
  }
  void skip_past(std::string_view end, bool may_end_with_text) {
    const std::size_t at = text_.find(end, 2);
    require(at != text_.npos || may_end_with_text, "a comment ends");
    text_.remove_prefix(at == text_.npos ? text_.size() : at + end.size());
  }
  void take_literal(std::string_view end) {
    found_.emplace_back("\"\"");
    skip_past(end, false);
  }
  void quoted(char quote) {
    std::size_t end = 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    require(end < text_.size() && text_[end] == quote, "a literal ends in its line");
    found_.emplace_back("\"\"");
    text_.remove_prefix(end + 1);
  }
  void take(const std::string& as, bool (*is_part)(char)) {
    const auto end = std::ranges::find_if_not(text_, is_part);
    const auto length = static_cast<std::size_t>(end - text_.begin());
    found_.push_back(as.empty() ? std::string(text_.substr(0, length)) : as);
    text_.remove_prefix(length);
  }

  std::string_view text_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> code_tokens(std::string_view program) {
  const std::string joined = joined_lines(program);
  return Tokens(joined).all();
}

}  // namespace shiplap::fuzz
