// Fit of the times of moving scattered blocks, and of how far kernels slow down beside the kernel of a mover.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "shiplap/measure/fit.hpp"

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
  const auto same = std::ranges::unique(rows, {}, key);
  rows.erase(same.begin(), same.end());
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

/// Added time of a kernel as a fraction of its time alone, by grid of the mover beside it. Movers do not slow the gap
/// between two kernels down.
std::map<std::uint32_t, Interval<double>> slowdowns(const std::vector<Observation>& observations, Seconds kernel_gap) {
  const auto time_of_one = periods(observations, "kernels", grid_of);
  const auto alone = time_of_one.find(0);
  std::map<std::uint32_t, Interval<double>> result;
  if (alone == time_of_one.end()) return result;
  const Uncertain gap = Uncertain::exact(kernel_gap.count());
  const Uncertain kernel_alone = alone->second - gap;
  if (kernel_alone.value() <= 0) return result;
  for (const auto& [grid, time] : time_of_one) {
    if (grid == 0) continue;
    // The ratio of two numbers with errors, to first order.
    const Uncertain beside = time - gap;
    const double ratio = beside.value() / kernel_alone.value();
    const Uncertain added = Uncertain::exact(ratio - 1) + (beside - ratio * kernel_alone) / kernel_alone.value();
    result.emplace(grid, non_negative<double>(added));
  }
  return result;
}

std::vector<MoverSlowdown> fit_slowdowns(const Observations& observations, const GpuModel& gpu, const std::string& name,
                                         Findings& findings) {
  const std::string primitive = fmt::format("beside.{}", name);
  const Seconds gap = gpu.kernel_gap ? gpu.kernel_gap->value : Seconds{0};
  const auto compute = slowdowns(observations.of(primitive + ".compute"), gap);
  const auto memory = slowdowns(observations.of(primitive + ".memory"), gap);
  std::vector<MoverSlowdown> rows;
  for (const auto& [grid, slowdown] : compute)
    if (const auto other = memory.find(grid); other != memory.end())
      rows.push_back({.grid = grid, .compute = slowdown, .memory = other->second});
  if (rows.empty())
    findings.missing.push_back({fmt::format("links[0].blocks.beside_{}", name),
                                fmt::format("not measured: needs verified points of {0}.compute and {0}.memory, alone "
                                            "and beside a grid",
                                            primitive)});
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
  model.beside_gather = fit_slowdowns(observations, profile.gpus.front(), "gather", found);
  model.beside_scatter = fit_slowdowns(observations, profile.gpus.front(), "scatter", found);
  findings.missing.insert(findings.missing.end(), found.missing.begin(), found.missing.end());
  return model;
}

}  // namespace shiplap
