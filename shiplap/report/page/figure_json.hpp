// Figures as the JSON that the script of a page reads.
#pragma once

#include "shiplap/core/json_forward.hpp"
#include "shiplap/report/page/figure.hpp"

namespace shiplap::page {

/// Writes a figure that the script draws. Numbers have 7 significant digits, and texts are printable and at most
/// `longest_text` characters long. Throws Error for a table, which is HTML.
Json to_json(const Figure&);

}  // namespace shiplap::page
