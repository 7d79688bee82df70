// The primitives behind the figures of a check. The names of the figures are those of check.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/check.hpp"

namespace shiplap {
namespace {

/// Groups of primitives that are fitted together, in the order in which a check measures them. What most users ask for
/// comes first, because a deadline may end the measurement.
enum class PrimitiveGroup : std::uint8_t { copies, duplex, device_memory, arithmetic, zero_copy };

constexpr std::array copy_primitives{"copy.pinned.h2d", "copy.pinned.d2h", "burst.pinned.h2d", "burst.pinned.d2h"};
constexpr std::array duplex_primitives{"duplex.pinned.h2d", "duplex.pinned.d2h"};
// The rates of zero-copy kernels are fitted as one table, which is missing when a part of it is missing.
constexpr std::array zero_copy_primitives{"launch.gap",
                                          "mapped.read",
                                          "mapped.write",
                                          "mapped.both",
                                          "mapped.read.beside.d2h",
                                          "copies.d2h.beside.read",
                                          "mapped.write.beside.h2d",
                                          "copies.h2d.beside.write"};

std::vector<std::string> primitives_of(PrimitiveGroup group) {
  switch (group) {
    case PrimitiveGroup::copies:
      return {copy_primitives.begin(), copy_primitives.end()};
    case PrimitiveGroup::duplex:
      return {duplex_primitives.begin(), duplex_primitives.end()};
    case PrimitiveGroup::device_memory:
      return {"kernel.stream"};
    case PrimitiveGroup::arithmetic:
      return {"kernel.multiply_add"};
    case PrimitiveGroup::zero_copy:
      return {zero_copy_primitives.begin(), zero_copy_primitives.end()};
  }
  throw Error("a group of primitives that does not exist");
}

constexpr std::array all_groups{PrimitiveGroup::copies, PrimitiveGroup::duplex, PrimitiveGroup::device_memory,
                                PrimitiveGroup::arithmetic, PrimitiveGroup::zero_copy};

struct FigureGroups {
  std::string_view figure;
  std::vector<PrimitiveGroup> groups;
};
const std::vector<FigureGroups>& figure_groups() {
  using enum PrimitiveGroup;
  static const std::vector<FigureGroups> table{{"the link as it is trained", {copies}},
                                               {"copies to the GPU", {copies}},
                                               {"copies from the GPU", {copies}},
                                               {"the slower direction against the faster", {copies}},
                                               {"copies to the GPU beside copies from it", {copies, duplex}},
                                               {"copies from the GPU beside copies to it", {copies, duplex}},
                                               {"kernels that read host memory", {copies, zero_copy}},
                                               {"kernels that write host memory", {copies, zero_copy}},
                                               {"device memory", {device_memory}},
                                               {"fp32 multiply-adds", {arithmetic}},
                                               {"bytes that arrived", {all_groups.begin(), all_groups.end()}}};
  return table;
}

}  // namespace

std::vector<std::string> primitives_for(std::string_view figure) {
  const auto& table = figure_groups();
  const auto row = std::ranges::find(table, figure, &FigureGroups::figure);
  if (row == table.end()) throw Error(fmt::format("a check has no figure \"{}\"", figure));
  std::vector<std::string> names;
  for (const PrimitiveGroup group : row->groups)
    for (std::string& name : primitives_of(group)) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> checked_primitives() { return primitives_for("bytes that arrived"); }

}  // namespace shiplap
