#include "shiplap/plan/mover_table.hpp"

#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/names.hpp"

namespace shiplap {
namespace {

constexpr std::uint16_t gpu_of_table = 0;
constexpr std::uint16_t numa_node_of_table = any_numa_node;

/// Whether the blocks go to the GPU, as a direction.
constexpr TwoNames direction_of_blocks{"H2D", "D2H"};

}  // namespace

MoverTable mover_table(const Profile& profile, const MoverQuestion& question) {
  MoverTable table{.profile = profile.name,
                   .profile_hash = parameter_hash(profile),
                   .profile_origin = to_string(profile.origin),
                   .question = question,
                   .rows = {},
                   .crossovers = {}};
  BlockSet set{.block = smallest_crossover, .pool = question.pool, .regular = question.regular};
  for (const std::uint64_t count : question.counts)
    for (const bool to_device : {true, false})
      for (Bytes block = smallest_crossover; block <= largest_crossover; block = block * 2) {
        set.block = block;
        set.blocks = count;
        set.to_device = to_device;
        table.rows.push_back(
            {.set = set, .movers = mover_times(profile, gpu_of_table, numa_node_of_table, set, question.limits)});
      }
  for (const bool to_device : {true, false})
    for (const std::uint64_t count : question.crossover_counts.empty() ? question.counts : question.crossover_counts) {
      set.blocks = count;
      set.to_device = to_device;
      table.crossovers.push_back(crossovers(profile, gpu_of_table, numa_node_of_table, set, question.limits));
    }
  return table;
}

template <class V, Like<Neighbour> R>
void describe(V& v, R& neighbour) {
  v.field("memory_bound", neighbour.memory_bound, "how far device memory bounds the kernel", InUnit{"1"});
  v.field("thread_block", neighbour.thread_block, "time of a thread block of the kernel");
}
template <class V, Like<MoverTime> R>
void describe(V& v, R& m) {
  v.field("mover", m.mover, "the mover");
  v.field("time", m.time, "from the call until the last block has arrived");
  v.field("rate", m.rate, "bytes of all blocks over this time");
  v.field("call", m.call, "host time of the call or calls");
  v.field("slowdown", m.slowdown, "time that a kernel meanwhile loses, as a fraction", InUnit{"1"});
}
template <class V, Like<MoverRow> R>
void describe(V& v, R& row) {
  v.field("direction", row.set.to_device, "H2D: blocks of the pool go to the GPU (gather); D2H: to the pool (scatter)",
          direction_of_blocks);
  v.field("blocks", row.set.blocks, "number of blocks that are moved together", one_or_more<std::uint64_t>);
  v.field("block", row.set.block, "size of a block");
  v.field("movers", row.movers, "the movers within the limit, best first");
}
template <class V, Like<MoverFrom> R>
void describe(V& v, R& from) {
  v.field("block", from.block, "smallest size of a block");
  v.field("mover", from.mover, "the best mover up to the next entry; null when none keeps the limit");
}
template <class V, Like<Crossovers> R>
void describe(V& v, R& found) {
  v.field("direction", found.to_device, "H2D: to the GPU; D2H: to the pool", direction_of_blocks);
  v.field("blocks", found.blocks, "number of blocks that are moved together", one_or_more<std::uint64_t>);
  v.field("best", found.best, "the best movers by size of a block");
}
template <class V, Like<MoverTable> R>
void describe(V& v, R& table) {
  v.header(formats::movers);
  v.field("profile", table.profile, "name of the profile");
  v.field("profile_hash", table.profile_hash, "hash of the parameters of the profile");
  v.field("profile_origin", table.profile_origin, "where the figures come from");
  v.field("pool", table.question.pool, "memory of the pool on the host");
  v.field("regular", table.question.regular,
          "whether the blocks are at equal distances, so that a strided copy moves them");
  v.field("max_slowdown", table.question.limits.max_slowdown,
          "most time that a kernel meanwhile may lose, as a fraction; null: no limit", OrNull<double, InUnit>{{"1"}});
  v.field("neighbour", table.question.limits.neighbour, "the kernel that runs meanwhile; null without one");
  v.field("rows", table.rows, "by number of blocks, direction and size of a block");
  v.field("crossovers", table.crossovers, "by direction and number of blocks");
}

Json to_json(const MoverTable& table) { return write_record(table); }
void from_json(const JsonReader& json, MoverTable& table) {
  read_record(json, table);
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t m = 0; m < table.rows[r].movers.size(); ++m)
      json.at("rows").at(r).at("movers").at(m).at("rate").at("value").positive();
}
Json json_schema(const MoverTable&) {
  return document_schema<MoverTable>(
      "shiplap movers",
      "What moves scattered blocks between host memory and the GPU, as `shiplap movers --json` prints it.");
}

}  // namespace shiplap
