// Fields of CSV files.
#pragma once

#include <string>

namespace shiplap {

/// The text as a quoted CSV field (RFC 4180): quotes in it are doubled.
inline std::string csv_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace shiplap
