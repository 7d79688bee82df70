// A page as one HTML file that needs no network: text and tables as HTML, figures as data that its script draws.
#pragma once

#include <string>
#include <vector>

#include "shiplap/document/document.hpp"

namespace shiplap::page {

using document::Section;

/// A word that the page uses, with its meaning.
struct Word {
  std::string word{};
  std::string meaning{};
};

/// A whole page.
struct Page {
  std::string title{};
  std::vector<Section> sections{};  ///< their headlines stand on top too
  std::vector<Word> words{};        ///< what readers may not know
};

/// Whether this build has the plotting library, D3, without which there are no pages.
bool has_plots();

/// Writes the page. Texts are data to it: markup in them is shown and control characters become '?'. Texts of more than
/// `document::longest_text` characters are cut, sentences later. Long tables begin closed. A policy in the page forbids
/// all requests and every script but its own. Throws Unsupported when the build has no D3.
std::string html(const Page&);

}  // namespace shiplap::page
