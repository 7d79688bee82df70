// The colours of pictures: each thing has one in all of them, whether a page or an SVG shows it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shiplap::document {

/// A thing with its colours, as in "#2474c2". Both have a contrast of at least 4.5 to 1 with the background that they
/// are for, and with the text on them: white on `light`, nearly black on `dark`.
struct ThingColour {
  std::string_view thing;  ///< "h2d", "d2h", "both", "kernel", "host", a strategy, a kind of mover, a judgement
  std::string_view light;  ///< on a light background
  std::string_view dark;   ///< on a dark background
};

/// All things that have a colour of their own. Directions and kernels come first.
std::span<const ThingColour> thing_colours();
/// The colour of the thing on a light background; "" for a thing without one.
std::string_view colour_of(std::string_view thing);
/// The colour mixed with white, for every other one of neighbours with the same colour.
std::string lighter(std::string_view colour);
/// A style sheet for a page, for light and dark screens and for print: a variable for each thing, as in `--of-h2d`, and
/// `--c0` to `--c9` for series without a colour of their own.
std::string colour_variables();

}  // namespace shiplap::document
