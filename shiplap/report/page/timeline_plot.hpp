// Timelines of JSON files as figures.
#pragma once

#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/report/page/figure.hpp"

namespace shiplap::page {

/// Reads what timeline_json wrote into rows of bars. Throws Error that names the key.
Panel panel_of(const JsonReader& ops, std::string label);

}  // namespace shiplap::page
