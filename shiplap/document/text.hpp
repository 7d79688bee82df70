// A section as text: for a terminal, and as Markdown.
#pragma once

#include <cstdint>
#include <string>

#include "shiplap/document/document.hpp"

namespace shiplap::document {

/// How much of a section is printed.
enum class Detail : std::uint8_t { figures, all };

/// The headlines, the sentences, and the tables with their notes; a section without headlines begins with its title.
/// Plots, timelines and maps are left out. Unless `all` is asked for, `Section::details` are left out too, and
/// `Section::brief` stands for the figures where it is not empty.
std::string text(const Section&, const TextStyle& = {}, Detail = Detail::figures);

/// The same in Markdown with headings, from the title on, and never with `Section::brief`.
std::string markdown(const Section&, Detail = Detail::figures);

}  // namespace shiplap::document
