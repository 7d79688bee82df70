// The rate of each mover over the size of a block, as a self-contained SVG picture.
#pragma once

#include <cstdint>
#include <string>

#include "shiplap/plan/mover_table.hpp"

namespace shiplap {

/// Draws the movers of `blocks` blocks, which must be one of the counts of the table: one plot for each direction, a
/// curve for each kind of mover (the kernel with its best grid at each size), and a dashed line where another kind
/// becomes the best.
std::string movers_svg(const MoverTable&, std::uint64_t blocks);

}  // namespace shiplap
