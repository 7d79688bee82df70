// Timelines of JSON files as figures.
#pragma once

#include <string>

#include "shiplap/report/page/figure.hpp"
#include "shiplap/schedule/timeline_view.hpp"

namespace shiplap::page {

/// The timeline as rows of bars.
Panel panel_of(const TimelineView&, std::string label);

}  // namespace shiplap::page
