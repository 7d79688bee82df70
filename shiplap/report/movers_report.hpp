// The movers of scattered blocks as tables, and the sizes of a block at which another mover is better.
#pragma once

#include <string>

#include "shiplap/document/text.hpp"
#include "shiplap/plan/mover_table.hpp"

namespace shiplap {

/// What moves blocks fastest, by their size, for each direction and number of blocks. In detail: a table by size of a
/// block with the best mover, its time and rate, the next mover of another kind with its rate, the host time for each
/// block, and the time that is added to a neighbour; and all crossovers.
std::string movers_report(const MoverTable&, const TextStyle& = {}, document::Detail = document::Detail::figures);

/// The crossovers in one line: "H2D, 1,024 blocks: kernel of 4 blocks below 512 KiB, batch above".
std::string to_string(const Crossovers&);

}  // namespace shiplap
