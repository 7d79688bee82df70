// The movers of scattered blocks on a node by size of a block, for people (report/movers_report) and for programs
// (JSON).
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
  static constexpr const char* schema = "shiplap/movers";  ///< the value of "schema" in JSON
  static constexpr std::uint64_t version = 1;              ///< version of the JSON

  std::string profile;                 ///< name of the profile
  std::string profile_hash;            ///< `parameter_hash` of the profile
  std::string profile_origin;          ///< where its figures come from
  MoverQuestion question;              ///< what the table is about
  std::vector<MoverRow> rows;          ///< by number of blocks, direction and size, which is a power of two
  std::vector<Crossovers> crossovers;  ///< by direction and number of blocks
};

/// The table of the first GPU and the first NUMA node: sizes from 256 B to 4 MiB. Throws as `mover_times` does, and as
/// `crossovers` does.
MoverTable mover_table(const Profile&, const MoverQuestion&);
/// Writes the table as docs/schema/movers.schema.json describes it.
Json to_json(const MoverTable&);

}  // namespace shiplap
