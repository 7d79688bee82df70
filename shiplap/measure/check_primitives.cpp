// The primitives behind the figures of a check. The names of the figures are those of check.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/check.hpp"

namespace shiplap {
namespace {

using PrimitiveNames = std::vector<std::string>;

// Groups of primitives that are fitted together.
const PrimitiveNames copy_primitives{"copy.pinned.h2d", "copy.pinned.d2h", "burst.pinned.h2d", "burst.pinned.d2h"};
const PrimitiveNames duplex_primitives{"duplex.pinned.h2d", "duplex.pinned.d2h"};
const PrimitiveNames device_memory_primitives{"kernel.stream"};
const PrimitiveNames arithmetic_primitives{"kernel.multiply_add"};
// The rates of zero-copy kernels are fitted as one table, which is missing when a part of it is missing.
const PrimitiveNames zero_copy_primitives{"launch.gap",
                                          "mapped.read",
                                          "mapped.write",
                                          "mapped.both",
                                          "mapped.read.beside.d2h",
                                          "copies.d2h.beside.read",
                                          "mapped.write.beside.h2d",
                                          "copies.h2d.beside.write"};

/// The groups behind a figure, in the order in which a check measures them. What most users ask for comes first,
/// because a deadline may end the measurement.
struct FigureGroups {
  std::string_view figure;
  std::vector<const PrimitiveNames*> groups;
};
const std::vector<FigureGroups> figure_groups{
    {"the link as it is trained", {&copy_primitives}},
    {"copies to the GPU", {&copy_primitives}},
    {"copies from the GPU", {&copy_primitives}},
    {"the slower direction against the faster", {&copy_primitives}},
    {"copies to the GPU while copies from it run", {&copy_primitives, &duplex_primitives}},
    {"copies from the GPU while copies to it run", {&copy_primitives, &duplex_primitives}},
    {"kernels that read host memory", {&copy_primitives, &zero_copy_primitives}},
    {"kernels that write host memory", {&copy_primitives, &zero_copy_primitives}},
    {"device memory", {&device_memory_primitives}},
    {"fp32 multiply-adds", {&arithmetic_primitives}},
    {"bytes that arrived",
     {&copy_primitives, &duplex_primitives, &device_memory_primitives, &arithmetic_primitives, &zero_copy_primitives}}};

}  // namespace

std::vector<std::string> primitives_for(std::string_view figure) {
  const auto row = std::ranges::find(figure_groups, figure, &FigureGroups::figure);
  if (row == figure_groups.end()) throw Error(fmt::format("a check has no figure \"{}\"", figure));
  std::vector<std::string> names;
  for (const PrimitiveNames* group : row->groups) names.insert(names.end(), group->begin(), group->end());
  return names;
}

std::vector<std::string> checked_primitives() { return primitives_for("bytes that arrived"); }

}  // namespace shiplap
