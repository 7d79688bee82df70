// A timeline as a self-contained SVG picture: a row for each engine, a bar for each op, coloured by engine. Several
// timelines (predicted above observed) share one time axis.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// One timeline of the picture. The schedule and the timeline must outlive it.
struct SvgPanel {
  std::string label;  ///< "predicted"
  const Schedule& schedule;
  const Timeline& timeline;
};

struct SvgOptions {
  std::string title = {};
  std::string subtitle = {};
  std::optional<Seconds> bound = {};  ///< drawn as a dashed line
  std::string numbers = "chunk";      ///< what the number of a bar counts: `Op::chunk` may stand for something else
  unsigned width = 960;               ///< px
};

/// Draws the panels one below the other. The picture has a background of its own, light or dark by the setting of the
/// reader's system. Every op of every panel is a `<rect class="op …">` with a tooltip that names it. Throws as
/// `engine_rows` does.
std::string svg(std::span<const SvgPanel> panels, const SvgOptions& = {});

}  // namespace shiplap
