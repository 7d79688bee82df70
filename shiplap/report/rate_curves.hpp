// Curves of measured figures over one of their arguments.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/document/document.hpp"
#include "shiplap/measure/figures.hpp"

namespace shiplap::document {

/// A primitive with its name for people.
struct NamedPrimitive {
  std::string name;       ///< "pinned H2D"
  std::string primitive;  ///< "copy.pinned.h2d"
  std::string thing;      ///< what its curve is of, for its colour: "h2d"
  std::string dashes{};   ///< dashes of its curve; "": solid
};

/// The rate of each primitive over an argument such as "bytes" or "blocks". Where several figures have the same
/// argument (other widths, other numbers of copies), the fastest counts. Primitives with fewer than two points are left
/// out.
std::vector<Series> rate_curves(std::span<const shiplap::Figure>, const std::vector<NamedPrimitive>&,
                                std::string_view argument);
/// The time of one op in the same way.
std::vector<Series> time_curves(std::span<const shiplap::Figure>, const std::vector<NamedPrimitive>&,
                                std::string_view argument);
/// The rate of the link by its generation and width; empty when the conditions lack it.
std::vector<Limit> link_limits(const Profile&);

}  // namespace shiplap::document
