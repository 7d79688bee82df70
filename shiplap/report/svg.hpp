// A timeline as a self-contained SVG picture: a row for each engine, a bar for each op, coloured by chunk. Several
// timelines (predicted above observed) share one time axis.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// One timeline of the picture. Refers to its schedule and timeline, which must outlive it.
struct SvgPanel {
  std::string label;  ///< "predicted"
  const Schedule& schedule;
  const Timeline& timeline;
};

struct SvgOptions {
  std::string title = {};
  std::string subtitle = {};
  std::optional<Seconds> bound = {};  ///< drawn as a dashed line
  unsigned width = 960;               ///< px
};

/// Text with every character that XML gives a meaning written as an entity.
std::string xml_escape(std::string_view text);

/// The picture has its own background, light or dark as the reader's system asks, and reads on both. Every op of every
/// panel is one `<rect class="op …">` whose tooltip names it. Throws as `engine_rows`.
std::string svg(std::span<const SvgPanel> panels, const SvgOptions& = {});

}  // namespace shiplap
