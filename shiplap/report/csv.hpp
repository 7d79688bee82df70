// Fields of CSV files.
#pragma once

#include <string>
#include <string_view>

#include "shiplap/core/printable.hpp"

namespace shiplap {

/// The text as a quoted CSV field (RFC 4180): quotes in it are doubled. It is `printable`. A spreadsheet
/// would compute what begins with one of "=+-@", so that it gets an apostrophe in front.
inline std::string csv_quoted(const std::string& name) {
  const std::string text = printable(name);
  std::string out = "\"";
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) out += '\'';
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace shiplap
