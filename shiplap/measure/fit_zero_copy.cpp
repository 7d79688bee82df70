// What kernels move over the link by their own accesses, and what they and copies leave each other.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "shiplap/measure/fit.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap {
namespace {

constexpr double fitted_width = 16;  // bytes of an access; what is under way counts, whatever the width

struct Key {
  Bytes launch;
  Bytes in_flight;
  friend auto operator<=>(const Key&, const Key&) = default;
};

Key key_of(const Observation& o) {
  return {o.bytes(), Bytes{static_cast<std::uint64_t>(o.argument("blocks") * map_probe_threads * fitted_width)}};
}

/// Time of one launch or copy more.
std::map<Key, Uncertain> mapped_periods(const Observations& observations, const std::string& primitive) {
  std::vector<Observation> points = observations.of(primitive);
  std::erase_if(points, [](const Observation& o) { return o.argument("width") != fitted_width; });
  return periods(points, "count", key_of);
}

/// Bytes over a period without what else is in it; nullopt for a period that is no longer than that.
std::optional<Interval<Bandwidth>> rate_without(const Uncertain& besides, double bytes, const Uncertain& period) {
  const Estimate flow = (period - besides).estimate();
  if (!(flow.low > 0)) return std::nullopt;
  return Interval<Bandwidth>{{bytes / flow.value}, {bytes / flow.high}, {bytes / flow.low}};
}

/// Copies beside kernels by the size of a copy.
using ByCopy = std::map<Bytes, Uncertain>;

/// Time of one copy more beside kernels.
std::map<Key, ByCopy> copy_periods(const Observations& observations, const std::string& primitive) {
  std::map<Bytes, std::vector<Observation>> by_size;
  for (const Observation& o : observations.of(primitive))
    by_size[copy_size_beside(o.measurement->arguments)].push_back(o);
  std::map<Key, ByCopy> result;
  for (const auto& [size, points] : by_size)
    for (const auto& [key, period] : periods(points, "count", key_of)) result[key].emplace(size, period);
  return result;
}

/// Of the copies beside kernels that are timed.
std::map<Key, Bytes> copies_by_key(const Observations& observations, const std::string& primitive) {
  std::map<Key, Bytes> result;
  for (const Observation& o : observations.of(primitive))
    result[key_of(o)] = copy_size_beside(o.measurement->arguments);
  return result;
}

struct CopyBeside {
  Interval<Bandwidth> rate;
  Interval<Seconds> gap{};
};

/// The line through short copies and long ones. These move no faster than by themselves, and follow each other no
/// faster.
CopyBeside line_of_copies(const ByCopy& by_size, const PerByte& alone, Seconds least_gap) {
  const auto& [few, shorter] = *by_size.begin();
  const auto& [many, longer] = *by_size.rbegin();
  const Uncertain slope = (longer - shorter) / in_bytes(many - few);
  const Estimate found = slope.estimate();
  const bool clamped = !(found.value > alone.seconds);
  const auto rate = [&](double seconds) { return Bandwidth{1 / std::max(seconds, alone.seconds)}; };
  const Uncertain per_byte = clamped ? Uncertain::exact(alone.seconds) : slope;
  const Estimate gap = (shorter - per_byte * in_bytes(few)).estimate();
  const auto seconds = [&](double value) { return std::max(Seconds{value}, least_gap); };
  return {.rate = {rate(found.value), rate(found.high), rate(found.low)},
          .gap = {seconds(gap.value), seconds(gap.low), seconds(gap.high)}};
}

/// Between the copies a kernel moves what it does by itself: what it moves while they move.
Interval<Bandwidth> while_copies_move(const Interval<Bandwidth>& all, Bandwidth between, double share_of_moving) {
  const auto part = [&](Bandwidth of_all) {
    constexpr double least = 0.1;  // of what it moves in all
    const double value = (of_all.bytes_per_second - (1 - share_of_moving) * between.bytes_per_second) / share_of_moving;
    return Bandwidth{std::clamp(value, least * of_all.bytes_per_second, of_all.bytes_per_second)};
  };
  return {part(all.value), part(all.low), part(all.high)};
}

/// Copies in step with kernels of as many bytes, as older files have them.
struct InStep {
  double bytes = 0;
  double gap = 0;      ///< seconds between copies
  double running = 0;  ///< seconds of a period in which a kernel runs
  /// Kernels wait for no copy and are done before the copies, some of whose gaps fall among the kernels; else a gap is
  /// over when the kernel starts that waited for the copy before it.
  bool kernels_ahead = false;
  PerByte alone;  ///< of a copy with the link to itself
};

/// The copies go at this rate while a kernel runs and at their own for the rest of a period.
std::optional<Interval<Bandwidth>> rate_in_step(const InStep& step, const Uncertain& period) {
  const auto beside = [&](double whole) {
    const double during = std::min(step.running, whole - step.gap);
    double rate = 0;
    double among = 0;  // of the gap, among the kernels
    for (int i = 0; i < (step.kernels_ahead ? 8 : 1); ++i) {
      rate = (step.bytes - (whole - during - (step.gap - among)) / step.alone.seconds) / (during - among);
      among = std::min(during / 2, step.gap * std::clamp(rate * (during - among) / step.bytes, 0.0, 1.0));
    }
    return rate;
  };
  const Estimate whole = period.estimate();
  if (!(whole.low > step.gap)) return std::nullopt;
  // A copy that hardly moved while the kernel ran tells no rate.
  constexpr double least = 0.02;  // of its own
  const double value = beside(whole.value);
  if (!(value > least / step.alone.seconds)) return std::nullopt;
  return Interval<Bandwidth>{
      {value}, {std::max(beside(whole.high), 0.1 * value)}, {std::max(beside(whole.low), value)}};
}

/// What was observed of kernels of one access beside copies of one direction.
struct Beside {
  const std::map<Key, Uncertain>& kernels;
  const std::map<Key, ByCopy>& beside;
  const std::map<Key, Uncertain>& in_step;
};

/// From copies of one size, and pairs in step: what lies between copies counts as rate.
std::vector<MappedBeside> beside_of_older_files(const Beside& observed, const DirectionModel& direction, bool reads,
                                                double event_gap, double kernel_gap,
                                                const std::function<Uncertain(const Key&)>& besides_of) {
  const auto gap_of = [&](Bytes size) { return cost_at(direction, size).gap.count(); };
  std::vector<MappedBeside> table;
  for (const auto& [key, period] : observed.kernels) {
    const Uncertain besides = besides_of(key);
    const auto kernel_rate = rate_without(besides, in_bytes(key.launch), period);
    if (!kernel_rate) continue;
    // Copies that wait for slower kernels say nothing about themselves.
    constexpr double clearly_longer = 1.05;
    const auto step = observed.in_step.find(key);
    const auto free = observed.beside.find(key);
    // Kernels ahead follow each other with what an event between them leaves, in which the link is taken as busy too.
    const double moving = in_bytes(key.launch) / kernel_rate->value.bytes_per_second;
    const InStep pair{.bytes = in_bytes(key.launch),
                      .gap = gap_of(key.launch),
                      .running = moving + besides.value() + (reads ? event_gap : -kernel_gap),
                      .kernels_ahead = reads,
                      .alone = direction.per_byte.value};
    std::optional<Interval<Bandwidth>> copy_rate;
    if (step != observed.in_step.end() &&
        (free == observed.beside.end() || step->second.value() > clearly_longer * period.value()))
      copy_rate = rate_in_step(pair, step->second);
    if (!copy_rate && free != observed.beside.end()) {
      const auto& [size, of_one] = *free->second.begin();
      copy_rate = rate_without(Uncertain::exact(gap_of(size)), in_bytes(size), of_one);
    }
    if (copy_rate) table.push_back({key.launch, key.in_flight, *kernel_rate, *copy_rate});
  }
  return table;
}

/// Short launches and long ones with as much under way differ in bytes alone: what short ones take besides theirs, and
/// besides `filling`. nullopt where one of the two was not measured.
std::optional<Uncertain> launch_of_reads(const Observations& observations, const ZeroCopyModel& model,
                                         Seconds kernel_gap) {
  std::vector<Observation> points = observations.of("apart.mapped");
  std::erase_if(points, [](const Observation& o) { return o.argument("recorded") > 0; });
  const auto in_a_row = periods(points, "count", [](const Observation& o) {
    return std::pair{o.bytes(), o.argument("blocks")};
  });
  if (in_a_row.empty()) return std::nullopt;
  const auto& [grid, period] = *in_a_row.begin();
  const Bytes bytes = grid.first;
  const Bytes in_flight{static_cast<std::uint64_t>(grid.second * map_probe_threads * fitted_width)};
  for (const auto& [key, longer] : mapped_periods(observations, "mapped.read")) {
    if (key.in_flight != in_flight || key.launch <= bytes) continue;
    const Uncertain per_byte = (longer - period) / in_bytes(key.launch - bytes);
    const Seconds known = kernel_gap + filling(model, bytes, in_bytes(in_flight));
    return period - per_byte * in_bytes(bytes) - Uncertain::exact(known.count());
  }
  return std::nullopt;
}

/// Where the line through the two shortest launches of each grid meets no bytes, less the gap: the median of the grids.
std::optional<Uncertain> end_of_writes(const Observations& observations, Seconds kernel_gap) {
  std::map<Bytes, std::map<Bytes, Uncertain>> by_grid;
  for (const auto& [key, period] : mapped_periods(observations, "mapped.write.beside.h2d"))
    by_grid[key.in_flight].emplace(key.launch, period);
  std::vector<Uncertain> ends;
  for (const auto& [grid, by_launch] : by_grid) {
    if (by_launch.size() < 2) continue;
    const auto& [few, period] = *by_launch.begin();
    const auto& [more, longer] = *std::next(by_launch.begin());
    const Uncertain per_byte = (longer - period) / in_bytes(more - few);
    ends.push_back(period - per_byte * in_bytes(few) - Uncertain::exact(kernel_gap.count()));
  }
  if (ends.empty()) return std::nullopt;
  const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 2);
  std::ranges::nth_element(ends, middle, {}, &Uncertain::value);
  return *middle;
}

/// What reads of the largest memory measured take longer; memory reads of which take less than half as much longer is
/// near, as all is that the tables were measured in.
std::optional<FarReads> far_reads(const Observations& observations, const ZeroCopyModel& model,
                                  const std::function<Uncertain(const Key&)>& besides) {
  const std::vector<Observation> points = observations.of("mapped.read.far");
  const auto by_footprint = periods(
      points, "count", [](const Observation& o) { return Bytes{static_cast<std::uint64_t>(o.argument("footprint"))}; });
  if (by_footprint.empty()) return std::nullopt;
  const Observation& one = points.front();
  const Key key{one.bytes(),
                Bytes{static_cast<std::uint64_t>(one.argument("blocks") * map_probe_threads * fitted_width)}};
  const double in_flight = in_bytes(key.in_flight);
  const double near = rate_at(model.read, in_flight).bytes_per_second;
  // What an access takes longer, for each byte under way.
  const auto longer = [&](Bandwidth rate) {
    return std::max(0.0, in_flight / in_flight_for(model.read, rate) - 1) / near;
  };
  std::map<Bytes, Interval<PerByte>> all;
  for (const auto& [footprint, period] : by_footprint) {
    const auto rate = rate_without(besides(key), in_bytes(key.launch), period);
    if (!rate) return std::nullopt;
    all[footprint] = {{longer(rate->value)}, {longer(rate->high)}, {longer(rate->low)}};
  }
  FarReads far{.beyond = mapped_footprint, .per_byte = all.rbegin()->second};
  for (const auto& [footprint, per_byte] : all)
    if (per_byte.value.seconds < far.per_byte.value.seconds / 2) far.beyond = footprint;
  return far;
}

}  // namespace

std::optional<ZeroCopyModel> fit_zero_copy(const Observations& observations, const LinkModel* link, const GpuModel& gpu,
                                           Findings& findings) {
  const auto missing = [&](const std::string& what) -> std::optional<ZeroCopyModel> {
    findings.missing.push_back({"links[0].zero_copy", fmt::format("not measured: needs {}", what)});
    return std::nullopt;
  };
  if (link == nullptr || !gpu.kernel_gap) return missing("the link and launch.gap");
  if (!gpu.launch_latency) return missing("launch.latency");
  ZeroCopyModel model;
  const Seconds kernel_gap = gpu.kernel_gap->value;
  const auto rates = [&](const std::string& primitive, const auto& besides) {
    std::map<Bytes, Interval<Bandwidth>> found;  // where a grid was measured twice, the longer launch counts
    for (const auto& [key, period] : mapped_periods(observations, primitive))
      if (const auto rate = rate_without(besides(key), in_bytes(key.launch), period)) found[key.in_flight] = *rate;
    std::vector<MappedRate> table;
    for (const auto& [in_flight, rate] : found) table.push_back({in_flight, rate});
    return table;
  };
  const auto gap_alone = [&](const Key&) { return Uncertain::exact(kernel_gap.count()); };
  for (const auto& [name, table] : mapped_rate_names) {
    model.*table = rates(fmt::format("mapped.{}", name), gap_alone);
    if ((model.*table).empty()) return missing(fmt::format("verified points of mapped.{}", name));
  }
  const auto launch = launch_of_reads(observations, model, kernel_gap);
  if (launch)
    model.launch = non_negative<Seconds>(*launch);
  else
    findings.missing.push_back({"links[0].zero_copy.launch",
                                "not measured: needs verified points of apart.mapped and of mapped.read on its grid"});
  // As the simulator has it (sim/machine.cpp).
  const Seconds between_kernels = gpu.event_gap  ? kernel_gap + gpu.event_gap->busy.value
                                  : model.launch ? kernel_gap
                                                 : gpu.launch_latency->value;
  const auto gap_and_start = [&](const Key& key) {
    const Seconds known = kernel_gap + filling(model, key.launch, in_bytes(key.in_flight));
    const bool counts = launch && launch->value() > 0;
    return counts ? *launch + Uncertain::exact(known.count()) : Uncertain::exact(known.count());
  };
  model.read = rates("mapped.read", gap_and_start);
  if (model.read.empty()) return missing("launches of mapped.read that take longer than their first bytes");
  model.far = far_reads(observations, model, gap_and_start);
  if (!model.far)
    findings.missing.push_back({"links[0].zero_copy.far", "not measured: needs verified points of mapped.read.far"});
  const auto end = end_of_writes(observations, kernel_gap);
  if (end) model.write_end_beside_h2d = non_negative<Seconds>(*end);
  const auto gap_and_end = [&](const Key& key) {
    return end && end->value() > 0 ? gap_alone(key) + *end : gap_alone(key);
  };
  for (const auto& [name, table] : mapped_beside_names) {
    const std::string access(name.substr(0, name.find('_')));
    const std::string way(name.substr(name.rfind('_') + 1));
    const std::string of_kernel = fmt::format("mapped.{}.beside.{}", access, way);
    const std::string of_copy = fmt::format("copies.{}.beside.{}", way, access);
    const auto kernels = mapped_periods(observations, of_kernel);
    const auto copies_of_kernel = copies_by_key(observations, of_kernel);
    const auto beside = copy_periods(observations, of_copy);
    const auto in_step = mapped_periods(observations, fmt::format("copies.{}.in_step.{}", way, access));
    const DirectionModel& direction = way == "h2d" ? link->h2d : link->d2h;
    const auto gap_of = [&](Bytes size) { return cost_at(direction, size).gap; };
    const bool reads = access == "read";
    const auto besides_of = [&](const Key& key) {
      return reads ? gap_and_start(key) : way == "h2d" ? gap_and_end(key) : gap_alone(key);
    };
    for (const auto& [key, by_size] : beside) {
      if (by_size.size() < 2) continue;
      const CopyBeside copies = line_of_copies(by_size, direction.per_byte.value, gap_of(by_size.begin()->first));
      const auto kernel = kernels.find(key);
      if (kernel == kernels.end()) continue;
      const auto in_all = rate_without(besides_of(key), in_bytes(key.launch), kernel->second);
      if (!in_all) continue;
      const Bandwidth between = rate_at(reads ? model.read : model.write, in_bytes(key.in_flight));
      const double moving = copies_of_kernel.at(key) / copies.rate.value / Seconds{1};
      Interval<Bandwidth> rate = while_copies_move(*in_all, between, moving / (moving + copies.gap.value.count()));
      if (const auto step = in_step.find(key); step != in_step.end() && rate.value < copies.rate.value) {
        // Kernels that are slower than the copies which start with them.
        const Uncertain besides = besides_of(key) + Uncertain::exact((between_kernels - kernel_gap).count());
        const auto of_step = rate_without(besides, in_bytes(key.launch), step->second);
        constexpr double least_share = 0.5;  // of the time, for copies to tell what they do
        if (const double share = of_step ? of_step->value.bytes_per_second / copies.rate.value.bytes_per_second : 0;
            share > least_share)
          rate = while_copies_move(*of_step, between, std::min(1.0, share));
      }
      (model.*table).push_back({key.launch, key.in_flight, rate, copies.rate, copies.gap});
    }
    if ((model.*table).empty())
      model.*table = beside_of_older_files({.kernels = kernels, .beside = beside, .in_step = in_step}, direction, reads,
                                           (between_kernels - kernel_gap).count(), kernel_gap.count(), besides_of);
    if ((model.*table).empty())
      return missing(fmt::format("verified points of {} and of {} or {}", of_copy, of_kernel, "their like in step"));
  }
  return model;
}

}  // namespace shiplap
