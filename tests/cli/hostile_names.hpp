// Hostile text in every place where a file of others may hold text, and what output may show of it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/json_forward.hpp"

namespace shiplap::testing {

/// Formula of a spreadsheet, escape sequences, line breaks, ends of texts in HTML, shell, JSON and C++, and characters
/// that turn the direction of text. The line that it forges begins with `forged`.
inline constexpr std::string_view forged = "FORGED";
std::string hostile();

/// A text or a key in documents: its path without indices of arrays, so that rows of a table count once.
struct PlaceOfText {
  std::string path;
  bool is_key = false;
  auto operator<=>(const PlaceOfText&) const = default;
};

/// The places of texts in documents, of which a file has one, or one on each line: every text, and one key of each
/// object.
std::vector<PlaceOfText> places_of_texts(const std::vector<Json>& documents);

/// The documents with hostile text at the first text of each of these places: instead of it, or behind it.
std::vector<Json> planted(const std::vector<Json>& documents, const std::vector<PlaceOfText>& places, bool behind);

/// What is wrong with text for a terminal, or "".
std::string problem_on_terminal(const std::string& text);
/// What is wrong with a page, or "": hostile text has become an element, an attribute or the end of a script.
std::string problem_in_page(const std::string& html);
/// What is wrong with a CSV file, or "": a field that a spreadsheet computes.
std::string problem_in_csv(const std::string& csv);
/// What is wrong with a program in C++, or "": a line that hostile text has begun.
std::string problem_in_program(const std::string& program);

}  // namespace shiplap::testing
