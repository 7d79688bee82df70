// The movers of scattered blocks on a node, for each size of a block, for people (report/movers_report) and for
// programs (JSON).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/plan/mover_choice.hpp"

namespace shiplap {

/// What a table of movers is about.
struct MoverQuestion {
  MemoryKind pool = MemoryKind::pinned;         ///< memory of the pool
  bool regular = false;                         ///< whether the blocks are at equal distances
  std::vector<std::uint64_t> counts{1024};      ///< numbers of blocks with a row for each size
  std::vector<std::uint64_t> crossover_counts;  ///< numbers of blocks with crossovers; empty: those of `counts`
  MoverLimits limits{};                         ///< what a mover may cost a neighbour
};

/// The movers of one set of blocks.
struct MoverRow {
  BlockSet set;                   ///< the blocks
  std::vector<MoverTime> movers;  ///< all movers within the limits, best first; empty when there is none
};

/// The movers of a node.
struct MoverTable {
  std::string profile;                 ///< name of the profile
  std::string profile_hash;            ///< `parameter_hash` of the profile
  std::string profile_origin;          ///< where its figures come from
  MoverQuestion question;              ///< what the table is about
  std::vector<MoverRow> rows;          ///< sorted by number of blocks, then direction, then size of a block
  std::vector<Crossovers> crossovers;  ///< sorted by direction, then number of blocks
};

/// Each mover's times for blocks of 256 B to 4 MiB (powers of two), and the crossovers, for the first GPU and the first
/// NUMA node. Throws as `mover_times` and `crossovers` do.
MoverTable mover_table(const Profile&, const MoverQuestion&);
/// Writes the document `shiplap/movers`.
Json to_json(const MoverTable&);
/// Reads the document. Throws Error that names the key.
void from_json(const JsonReader&, MoverTable&);
Json json_schema(const MoverTable&);  ///< the JSON Schema of the document

}  // namespace shiplap
