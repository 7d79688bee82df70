// Figures as the JSON that the script of a page reads.
#pragma once

#include <cstddef>

#include "shiplap/core/json.hpp"
#include "shiplap/document/document.hpp"

namespace shiplap::document {

/// Most characters of a text of a file.
constexpr std::size_t longest_text = 300;

/// Writes a figure that the script draws. Numbers have 7 significant digits, and texts are printable and at most
/// `longest_text` characters long. Throws Error for a table, which is HTML.
Json to_json(const Figure&);
/// Writes a plot as `to_json(const Figure&)` does.
Json to_json(const Plot&);
/// Reads a plot that `to_json` has written; its note and its colours are not read. Throws Error that names the key.
void from_json(const JsonReader&, Plot&);
/// The JSON Schema of a plot.
Json json_schema(const Plot&);

}  // namespace shiplap::document
