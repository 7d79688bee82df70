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
/// Reads a plot that `to_json` has written; its note is not in the JSON. Throws Error that names the key.
Plot plot_from_json(const JsonReader&);

}  // namespace shiplap::document
