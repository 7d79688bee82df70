#include "shiplap/plan/mover_table.hpp"

#include <nlohmann/json.hpp>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {
namespace {

constexpr std::uint16_t gpu_of_table = 0;
constexpr std::uint16_t numa_node_of_table = any_numa_node;

Json text_of_direction(bool to_device) { return to_device ? "H2D" : "D2H"; }

Json json_of(const Neighbour& neighbour) {
  return {{"memory_bound", quantity_json(neighbour.memory_bound, "1")},
          {"thread_block", quantity_json(neighbour.thread_block)}};
}

Json json_of(const MoverTime& m, const BlockSet& set) {
  const Bandwidth rate = set.block * set.blocks / m.time;
  return {{"mover", to_json(m.mover)},
          {"time", quantity_json(m.time)},
          {"rate", quantity_json(in_gigabytes_per_second(rate), "GB/s")},
          {"call", quantity_json(m.call)},
          {"slowdown", quantity_json(m.slowdown, "1")}};
}

Json json_of(const MoverRow& row) {
  Json movers = Json::array();
  for (const MoverTime& m : row.movers) movers.push_back(json_of(m, row.set));
  return {{"direction", text_of_direction(row.set.to_device)},
          {"blocks", row.set.blocks},
          {"block", quantity_json(row.set.block)},
          {"movers", std::move(movers)}};
}

Json json_of(const Crossovers& found) {
  Json best = Json::array();
  for (const MoverFrom& from : found.best)
    best.push_back(
        {{"block", quantity_json(from.block)}, {"mover", from.mover ? to_json(*from.mover) : Json(nullptr)}});
  return {{"direction", text_of_direction(found.to_device)}, {"blocks", found.blocks}, {"best", std::move(best)}};
}

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

Json to_json(const MoverTable& table) {
  const MoverLimits& limits = table.question.limits;
  Json rows = Json::array();
  for (const MoverRow& row : table.rows) rows.push_back(json_of(row));
  Json all = Json::array();
  for (const Crossovers& found : table.crossovers) all.push_back(json_of(found));
  return {{"schema", formats::movers.schema},
          {"version", formats::movers.version},
          {"profile", table.profile},
          {"profile_hash", table.profile_hash},
          {"profile_origin", table.profile_origin},
          {"pool", to_string(table.question.pool)},
          {"regular", table.question.regular},
          {"max_slowdown", limits.max_slowdown ? quantity_json(*limits.max_slowdown, "1") : Json(nullptr)},
          {"neighbour", limits.neighbour ? json_of(*limits.neighbour) : Json(nullptr)},
          {"rows", std::move(rows)},
          {"crossovers", std::move(all)}};
}

}  // namespace shiplap
