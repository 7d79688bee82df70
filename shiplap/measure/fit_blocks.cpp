// Fit of the times of moving scattered blocks, and of how much kernels slow down while the kernel of a mover runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "shiplap/measure/block_trial.hpp"
#include "shiplap/measure/fit.hpp"
#include "shiplap/schedule/blocks.hpp"
#include "shiplap/schedule/names.hpp"

namespace shiplap {
namespace {

/// Where the times of a mover and of its calls come from.
struct MoverSource {
  Mover::Kind kind;
  MemoryKind pool;
  const char* primitive;  ///< name without the direction
  const char* calls;      ///< name without the direction; "" where the call takes as long as the op
};
constexpr std::array mover_sources{
    MoverSource{Mover::Kind::copies, MemoryKind::pinned, "blocks.copies", "submit.blocks.copies"},
    MoverSource{Mover::Kind::batch, MemoryKind::pinned, "blocks.batch", "submit.blocks.batch"},
    MoverSource{Mover::Kind::strided, MemoryKind::pinned, "blocks.strided", "submit.blocks.strided"},
    MoverSource{Mover::Kind::kernel, MemoryKind::pinned, "blocks.kernel", "submit.blocks.kernel"},
    // The call of a copy of pageable memory returns when the driver has staged the bytes.
    MoverSource{Mover::Kind::copies, MemoryKind::pageable, "blocks.copies.pageable", ""},
    // The launch is the same as for a pinned pool.
    MoverSource{Mover::Kind::kernel, MemoryKind::managed, "blocks.kernel.managed", "submit.blocks.kernel"},
};

Bytes block_of(const Observation& o) { return {static_cast<std::uint64_t>(o.argument("block"))}; }
std::uint64_t count_of(const Observation& o) { return static_cast<std::uint64_t>(o.argument("blocks")); }
std::uint32_t grid_of(const Observation& o) {
  return o.measurement->arguments.contains("grid") ? static_cast<std::uint32_t>(o.argument("grid")) : 0;
}

/// The host time of calls between the measured points.
class CallTimes {
 public:
  /// The time of a run is that of its calls and of one event behind them.
  CallTimes(const std::vector<Observation>& observations, const SubmissionModel& submission) {
    const Seconds record = submission.event_record ? submission.event_record->value : Seconds{0};
    std::map<std::pair<Bytes, std::uint64_t>, Interval<Seconds>> times;
    for (const Observation& o : observations)
      times.try_emplace({block_of(o), count_of(o)}, non_negative<Seconds>(o.time - Uncertain::exact(record.count())));
    for (const auto& [at, time] : times)
      for (const auto& [table, part] : {std::pair{&values_, time.value}, {&lows_, time.low}, {&highs_, time.high}})
        table->push_back({.block = at.first,
                          .blocks = at.second,
                          .time = Interval<Seconds>::exact(part),
                          .call = Interval<Seconds>::exact(part)});
  }

  bool empty() const { return values_.empty(); }
  Interval<Seconds> at(Bytes block, std::uint64_t blocks) const {
    const auto in = [&](const std::vector<BlockTime>& table) { return block_cost(table, 0, block, blocks).call; };
    const Seconds value = in(values_);
    return {value, std::min(value, in(lows_)), std::max(value, in(highs_))};
  }

 private:
  std::vector<BlockTime> values_;
  std::vector<BlockTime> lows_;   ///< lower ends of the intervals
  std::vector<BlockTime> highs_;  ///< upper ends of the intervals
};

std::vector<BlockTime> sorted(std::vector<BlockTime> rows) {
  const auto key = [](const BlockTime& row) { return std::tuple{row.grid, row.block, row.blocks}; };
  std::ranges::stable_sort(rows, {}, key);
  const auto is_same = [&](const BlockTime& a, const BlockTime& b) { return key(a) == key(b); };
  rows.erase(std::unique(rows.begin(), rows.end(), is_same), rows.end());
  return rows;
}

/// Rows of a mover with the calls of its points.
std::vector<BlockTime> rows_of(const MoverSource& source, const std::vector<Observation>& observations,
                               const CallTimes& calls) {
  std::vector<BlockTime> rows;
  for (const Observation& o : observations) {
    BlockTime row{.grid = grid_of(o),
                  .block = block_of(o),
                  .blocks = count_of(o),
                  .time = non_negative<Seconds>(o.time),
                  .call = {}};
    row.call = *source.calls == '\0' ? row.time : calls.at(row.block, row.blocks);
    rows.push_back(row);
  }
  return sorted(std::move(rows));
}

/// Rows of one host thread, which makes no calls.
std::vector<BlockTime> rows_of_host(const std::vector<Observation>& observations) {
  std::vector<BlockTime> rows;
  for (const Observation& o : observations)
    rows.push_back({.block = block_of(o),
                    .blocks = count_of(o),
                    .time = non_negative<Seconds>(o.time),
                    .call = Interval<Seconds>::exact(Seconds{0})});
  return sorted(std::move(rows));
}

/// The time of one kernel of the neighbour, by the grid of the mover concurrent with it.
struct NeighbourTimes {
  std::optional<Uncertain> alone;
  std::map<std::uint32_t, Uncertain> beside;  ///< by grid; 0: a batch
};
/// Movers do not slow the gap between two kernels down.
NeighbourTimes neighbour_times(const std::vector<Observation>& observations, Seconds kernel_gap) {
  const auto key_of = [](const Observation& o) {
    return std::pair{o.measurement->arguments.contains("batch"), grid_of(o)};
  };
  NeighbourTimes times;
  const Uncertain gap = Uncertain::exact(kernel_gap.count());
  for (const auto& [key, time] : periods(observations, "kernels", key_of)) {
    const auto& [batch, grid] = key;
    if (batch || grid > 0)
      times.beside.emplace(grid, time - gap);
    else if (time.value() > kernel_gap.count())
      times.alone = time - gap;
  }
  return times;
}

/// Added time as a fraction of the time alone; nullopt when one of them was not measured.
std::optional<Uncertain> slowdown(const NeighbourTimes& times, std::uint32_t grid) {
  const auto beside = times.beside.find(grid);
  if (!times.alone || beside == times.beside.end()) return std::nullopt;
  // The ratio of two numbers with errors, to first order.
  const double ratio = beside->second.value() / times.alone->value();
  return Uncertain::exact(ratio - 1) + (beside->second - ratio * *times.alone) / times.alone->value();
}

/// A set of blocks that moves, and how long the thread blocks of the neighbour are.
struct MoveKey {
  std::uint32_t grid = 0;
  double work = 1;
  Bytes block;
  std::uint64_t blocks = 0;
  friend auto operator<=>(const MoveKey& a, const MoveKey& b) {
    return std::tuple(a.grid, a.work, a.block.count, a.blocks) <=> std::tuple(b.grid, b.work, b.block.count, b.blocks);
  }
};
using MoveTimes = std::map<MoveKey, Uncertain>;
MoveTimes move_times(const std::vector<Observation>& observations) {
  return periods(observations, "moves", [](const Observation& o) {
    return MoveKey{.grid = grid_of(o), .work = o.argument("work"), .block = block_of(o), .blocks = count_of(o)};
  });
}

/// The added time of a set while a neighbour runs.
struct AddedToSet {
  MoveKey set;
  Uncertain time;
};
/// The sets of a grid that were measured concurrent with the neighbour and alone, by bytes and number of blocks.
std::vector<AddedToSet> added_to_sets(const MoveTimes& beside, const MoveTimes& alone, std::uint32_t grid,
                                      bool long_blocks) {
  std::vector<AddedToSet> added;
  for (const auto& [key, time] : beside) {
    MoveKey without = key;
    without.work = 1;
    const auto found = alone.find(without);
    if (key.grid == grid && (key.work > 1) == long_blocks && found != alone.end())
      added.push_back({key, time - found->second});
  }
  std::ranges::sort(added, {}, [](const AddedToSet& a) { return std::pair{a.set.block * a.set.blocks, a.set.blocks}; });
  return added;
}

Uncertain not_negative(const Uncertain& u) { return u.value() > 0 ? u : Uncertain::exact(0); }

/// The time that an op waits for SMs, in times of a thread block of the neighbour, from thread blocks of two lengths.
Uncertain wait_for_sms(const std::vector<AddedToSet>& short_blocks, const std::vector<AddedToSet>& long_blocks,
                       double thread_block) {
  if (short_blocks.empty() || long_blocks.empty() || !(thread_block > 0)) return Uncertain::exact(0);
  const Uncertain& brief = short_blocks.front().time;
  const Uncertain& lasting = long_blocks.front().time;
  const double work = long_blocks.front().set.work;
  const Uncertain wait = not_negative((lasting - brief) / (thread_block * (work - 1)));
  if (brief.value() >= wait.value() * thread_block) return wait;
  // Nothing but the wait is left: the line through zero.
  return not_negative((brief + work * lasting) / (thread_block * (1 + work * work)));
}

/// Splits what sets take longer into parts for each op, block and MiB. The least and the largest set of a batch have
/// the same number of blocks. The parts of kernels have no cost of a block, because the threads of a kernel take no
/// notice of where a block ends.
MoveDelay split(const std::vector<AddedToSet>& sets, const Uncertain& wait) {
  const auto mib = [](const MoveKey& set) { return in_bytes(set.block * set.blocks) / in_bytes(1_MiB); };
  const auto blocks = [](const MoveKey& set) { return static_cast<double>(set.blocks); };
  const AddedToSet& least = sets.front();
  const AddedToSet& largest = sets.back();
  const Uncertain per_mib = (largest.time - least.time) / (mib(largest.set) - mib(least.set));
  Uncertain per_block = Uncertain::exact(0);
  for (const AddedToSet& set : sets)
    if (set.set.grid == 0 && set.set.blocks > least.set.blocks)
      per_block = (set.time - least.time - not_negative(per_mib) * (mib(set.set) - mib(least.set))) /
                  (blocks(set.set) - blocks(least.set));
  const Uncertain per_move =
      least.time - wait - not_negative(per_block) * blocks(least.set) - not_negative(per_mib) * mib(least.set);
  return {.per_move = non_negative<Seconds>(per_move),
          .per_block = non_negative<Seconds>(per_block),
          .per_mib = non_negative<Seconds>(per_mib)};
}

std::vector<MutualSlowdown> fit_beside(const Observations& observations, const GpuModel& gpu, const std::string& name,
                                       Findings& findings) {
  const Seconds gap = gpu.kernel_gap ? gpu.kernel_gap->value : Seconds{0};
  const NeighbourTimes compute = neighbour_times(observations.of(fmt::format("beside.{}.compute", name)), gap);
  const NeighbourTimes memory = neighbour_times(observations.of(fmt::format("beside.{}.memory", name)), gap);
  const MoveTimes alone = move_times(observations.of(fmt::format("moves.{}", name)));
  const MoveTimes by_compute = move_times(observations.of(fmt::format("moves.{}.compute", name)));
  const MoveTimes by_memory = move_times(observations.of(fmt::format("moves.{}.memory", name)));
  const auto thread_block = [](const NeighbourTimes& times) {
    return times.alone ? times.alone->value() / static_cast<double>(waves_beside) : 0.0;
  };
  const double computing = thread_block(compute);
  const double streaming = thread_block(memory);
  std::vector<MutualSlowdown> rows;
  for (const auto& [grid, time] : compute.beside) {
    const auto by_computing = slowdown(compute, grid);
    const auto by_streaming = slowdown(memory, grid);
    if (!by_computing || !by_streaming) continue;
    MutualSlowdown row{
        .grid = grid, .compute = non_negative<double>(*by_computing), .memory = non_negative<double>(*by_streaming)};
    const auto beside_compute = added_to_sets(by_compute, alone, grid, false);
    const auto beside_memory = added_to_sets(by_memory, alone, grid, false);
    if (beside_compute.size() > 1 && beside_memory.size() > 1) {
      const Uncertain wait = wait_for_sms(beside_compute, added_to_sets(by_compute, alone, grid, true), computing);
      row.added = {.wait = non_negative<double>(wait),
                   .compute = split(beside_compute, wait * computing),
                   .memory = split(beside_memory, wait * streaming)};
    }
    rows.push_back(row);
  }
  if (rows.empty())
    findings.missing.push_back({fmt::format("links[0].blocks.beside_{}", name),
                                fmt::format("not measured: needs verified points of beside.{0}.compute and "
                                            "beside.{0}.memory, alone and beside a grid",
                                            name)});
  else if (std::ranges::any_of(rows, [](const MutualSlowdown& row) { return !row.added; }) || rows.front().grid != 0)
    findings.missing.push_back({fmt::format("links[0].blocks.beside_{}.added", name),
                                fmt::format("not measured for every mover: needs verified points of moves.{0}, "
                                            "moves.{0}.compute and moves.{0}.memory, and a batch",
                                            name)});
  return rows;
}

}  // namespace

std::optional<BlockModel> fit_blocks(const Observations& observations, const Profile& profile, Findings& findings) {
  const std::string path = "links[0].blocks";
  BlockModel model;
  Findings found;
  const auto add = [&](const std::string& key, std::vector<BlockTime> rows, const std::string& needs) {
    if (!rows.empty())
      model.movers[key] = std::move(rows);
    else
      found.missing.push_back(
          {fmt::format("{}.movers.{}", path, key), fmt::format("not measured: needs verified points of {}", needs)});
  };
  for (const bool to_device : {true, false}) {
    const char* way = to_device ? "h2d" : "d2h";
    for (const MoverSource& source : mover_sources) {
      const std::string primitive = fmt::format("{}.{}", source.primitive, way);
      const std::string of_calls = *source.calls == '\0' ? "" : fmt::format("{}.{}", source.calls, way);
      const CallTimes calls(observations.of(of_calls), profile.submission);
      const std::string key = name_in_profile({.kind = source.kind}, source.pool, to_device);
      if (of_calls.empty())
        add(key, rows_of(source, observations.of(primitive), calls), primitive);
      else
        add(key, calls.empty() ? std::vector<BlockTime>() : rows_of(source, observations.of(primitive), calls),
            fmt::format("{} and of {}", primitive, of_calls));
    }
    const std::string by_host = fmt::format("blocks.host.{}", way);
    add(fmt::format("host pinned {}", way), rows_of_host(observations.of(by_host)), by_host);
  }
  if (model.movers.empty()) {
    findings.missing.push_back({path, "not measured: needs verified points of blocks.* and of submit.blocks.*"});
    return std::nullopt;
  }
  model.beside_gather = fit_beside(observations, profile.gpus.front(), "gather", found);
  model.beside_scatter = fit_beside(observations, profile.gpus.front(), "scatter", found);
  findings.missing.insert(findings.missing.end(), found.missing.begin(), found.missing.end());
  return model;
}

}  // namespace shiplap
