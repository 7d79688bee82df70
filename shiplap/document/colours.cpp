#include "shiplap/document/colours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace shiplap::document {
namespace {

constexpr std::array named_colours{ThingColour{"h2d", "#2474c2", "#6cb0f5"},
                                   ThingColour{"d2h", "#b45309", "#f0a35c"},
                                   ThingColour{"kernel", "#1b7a58", "#5fd0a5"},
                                   ThingColour{"both", "#7d55c7", "#b79cf2"},
                                   ThingColour{"host", "#5b6675", "#9aa5b1"},
                                   ThingColour{"streams", "#5a5fd0", "#a3a8ff"},
                                   ThingColour{"implicit", "#0b7f86", "#5ccfd0"},
                                   ThingColour{"hybrid", "#a84f86", "#e39bc6"},
                                   ThingColour{"hybrid-mirror", "#70702a", "#c9c768"},
                                   ThingColour{"explicit", "#8a5a3c", "#d0a184"},
                                   ThingColour{"pageable", "#c2342b", "#ff8a80"},
                                   ThingColour{"staged", "#8f3fb0", "#d59af0"},
                                   ThingColour{"managed", "#4a6b8a", "#8fb3d4"},
                                   ThingColour{"managed-prefetch", "#3f7d2c", "#8fd07a"},
                                   ThingColour{"managed-implicit", "#9a5b00", "#e0b050"},
                                   ThingColour{"good", "#1a7f4b", "#56d38c"},
                                   ThingColour{"warn", "#9a6200", "#e3b341"},
                                   ThingColour{"bad", "#b3261e", "#ff7b72"},
                                   ThingColour{"same", "#566170", "#9aa5b1"},
                                   ThingColour{"copies", "#8a5a3c", "#d0a184"},
                                   ThingColour{"batch", "#5a5fd0", "#a3a8ff"},
                                   ThingColour{"strided", "#a84f86", "#e39bc6"}};
/// Series without a colour of their own use those of the things from this index on.
constexpr std::size_t first_lent_colour = 5;
constexpr std::size_t lent_colours = 10;

}  // namespace

std::span<const ThingColour> thing_colours() { return named_colours; }

std::string_view colour_of(std::string_view thing) {
  const auto found = std::ranges::find(named_colours, thing, &ThingColour::thing);
  return found == named_colours.end() ? "" : found->light;
}

std::string lighter(std::string_view colour) {
  constexpr double kept = 0.7;
  std::string out = "#";
  for (std::size_t at = 1; at < colour.size(); at += 2) {
    int channel = 0;
    std::from_chars(&colour[at], &colour[at] + 2, channel, 16);
    out += fmt::format("{:02x}", static_cast<int>(255 - kept * (255 - channel) + 0.5));
  }
  return out;
}

std::string colour_variables() {
  std::string light;
  std::string dark;
  const auto add = [&](const std::string& variable, const ThingColour& one) {
    light += fmt::format(" --{}: {};", variable, one.light);
    dark += fmt::format(" --{}: {};", variable, one.dark);
  };
  for (const ThingColour& one : named_colours) add(fmt::format("of-{}", one.thing), one);
  for (std::size_t i = 0; i < lent_colours; ++i) add(fmt::format("c{}", i), named_colours[first_lent_colour + i]);
  return fmt::format(
      ":root {{{0} }}\n@media (prefers-color-scheme: dark) {{ :root {{{1} }} }}\n@media print {{ :root {{{0} }} }}\n",
      light, dark);
}

}  // namespace shiplap::document
