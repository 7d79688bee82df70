// A page as one HTML file that needs no network: text and tables as HTML, figures as data that its script draws.
#pragma once

#include <string>

#include "shiplap/report/page/figure.hpp"

namespace shiplap::page {

/// Whether this build has the plotting library, D3, without which there are no pages.
bool has_plots();

/// Writes the page. Texts are data to it: markup in them is shown and control characters become '?'. Texts of more than
/// `longest_text` characters are cut, sentences later. Long tables begin closed. A policy in the page forbids all
/// requests and every script but its own. Throws Unsupported when the build has no D3.
std::string html(const Page&);

/// Most characters of a text of a file.
constexpr std::size_t longest_text = 300;

}  // namespace shiplap::page
