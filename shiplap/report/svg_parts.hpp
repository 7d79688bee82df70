// Parts of self-contained SVG pictures: the document with its colours for light and dark, and text.
#pragma once

#include <string>
#include <string_view>

namespace shiplap {

/// The text with XML's special characters written as entities.
std::string xml_escape(std::string_view text);
/// A line of text. `classes` are of the style sheet, and `anchor` is "start", "middle" or "end".
std::string svg_text(double x, double y, std::string_view classes, std::string_view content,
                     std::string_view anchor = "start");
/// The whole picture: a card with the body on it. Sizes are in px.
std::string svg_document(unsigned width, double height, std::string_view label, std::string_view body);

}  // namespace shiplap
