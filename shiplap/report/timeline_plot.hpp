// Timelines of JSON files as figures.
#pragma once

#include <string>

#include "shiplap/document/document.hpp"
#include "shiplap/schedule/timeline_view.hpp"

namespace shiplap::document {

/// The timeline as rows of bars.
Panel panel_of(const TimelineView&, std::string label);

}  // namespace shiplap::document
