// Where the rates of Comm|Scope come from, and tables of them.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "experiments/commscope2019/judge.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/measure/row_memory.hpp"
#include "shiplap/measure/trial.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap::experiments::commscope {

namespace {

bool matches_glob(const std::string& glob, const std::string& name) {
  return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

bool has(const shiplap::Figure& figure, const Arguments& arguments) {
  return std::ranges::all_of(arguments, [&](const auto& wanted) {
    const auto found = figure.arguments.find(wanted.first);
    return found != figure.arguments.end() && found->second == wanted.second;
  });
}

Bytes size_of(const shiplap::Figure& figure) {
  const auto found = figure.arguments.find("bytes");
  return found == figure.arguments.end() ? Bytes{} : Bytes{static_cast<std::uint64_t>(found->second)};
}

/// Of a GPU up to 1 GiB as the table has it; of a simulation what its host can move quickly.
MeasureOptions options_for(const Bench& bench, const std::string& glob) {
  MeasureOptions options;
  options.effort = Effort::standard;
  options.largest = bench.info.is_virtual ? 16_MiB : bench.quick ? 128_MiB : 1_GiB;
  options.only = glob;
  options.progress = bench.progress;
  return options;
}

/// Median over runs; simulated where nothing has to be moved for it. Throws Unsupported.
Bandwidth rate_of(const Bench& bench, const Trial& trial, Bytes size) {
  if (bench.info.is_virtual) return size / simulate(trial.schedule, bench.profile, {.held = true}).timeline.makespan;
  const RowMemory memory(bench.device, {{trial}});
  std::vector<std::byte*> buffers = memory.data();
  buffers.resize(trial.schedule.buffers.size());
  const auto execution = bench.device.prepare(trial.schedule, {.buffers = buffers, .kernels = trial.kernels});
  memory.poison_destinations(bench.device, trial);
  execution->run();
  if (const std::string wrong = memory.difference(bench.device, trial); !wrong.empty()) throw CheckFailed(wrong);
  std::vector<double> seconds;
  for (unsigned i = 0; i < (bench.quick ? 5 : 21); ++i)
    seconds.push_back(execution->run({.hold = can_be_held(trial.schedule)}).timeline.makespan.count());
  return size / Seconds{median(seconds)};
}

std::optional<Bandwidth> zero_copy_rate(const Bench& bench, MappedKernels::Access access, Bytes size, unsigned width) {
  constexpr std::uint64_t blocks = 256;  // of 256 threads, as published
  return rate_of(
      bench,
      mapped_kernels(bench.device, {.access = access, .size = size, .kernels = 1, .blocks = blocks, .width = width}),
      size);
}

}  // namespace

Rates Rates::collect(const Bench& bench, const std::vector<std::string>& globs) {
  if (bench.info.is_virtual && !bench.profile.measurements.empty()) {
    std::vector<Measurement> recorded;
    for (const Measurement& m : bench.profile.measurements)
      if (std::ranges::any_of(globs, [&](const std::string& glob) { return matches_glob(glob, m.primitive); }))
        recorded.push_back(m);
    Rates rates(figures(recorded));
    rates.source_ = fmt::format("recorded in profile {}", bench.profile.name);
    return rates;
  }
  std::vector<Measurement> measured;
  Rates rates;
  for (const std::string& glob : globs) {
    const MeasureResult result = measure(bench.device, options_for(bench, glob));
    measured.insert(measured.end(), result.measurements.begin(), result.measurements.end());
    for (const SkippedPrimitive& skipped : result.skipped) rates.reasons_[skipped.primitive] = skipped.reason;
    for (const FailedPoint& failed : result.failed) rates.reasons_[failed.point] = failed.reason;
  }
  rates.figures_ = figures(measured);
  rates.source_ = bench.info.is_virtual
                      ? fmt::format("simulated on profile {}, up to 16 MiB", bench.profile.name)
                      : "measured, medians of up to 100 runs (the paper has five means over a second)";
  return rates;
}

const shiplap::Figure* Rates::find(const std::string& primitive, Bytes size, const Arguments& arguments) const {
  const auto found = std::ranges::find_if(figures_, [&](const shiplap::Figure& figure) {
    return figure.primitive == primitive && size_of(figure) == size && has(figure, arguments);
  });
  return found == figures_.end() ? nullptr : &*found;
}

std::optional<Bandwidth> Rates::rate(const std::string& primitive, Bytes size, const Arguments& arguments) const {
  const shiplap::Figure* figure = find(primitive, size, arguments);
  if (figure == nullptr || !figure->bytes || figure->time.value <= Seconds{0}) return std::nullopt;
  return *figure->bytes / figure->time.value;
}

std::vector<Bytes> Rates::sizes(const std::string& primitive, const Arguments& arguments) const {
  std::set<Bytes> sizes;
  for (const shiplap::Figure& figure : figures_)
    if (figure.primitive == primitive && has(figure, arguments)) sizes.insert(size_of(figure));
  return {sizes.begin(), sizes.end()};
}

std::vector<Bytes> Rates::common(const std::vector<std::string>& primitives) const {
  std::vector<Bytes> all = sizes(primitives.front());
  std::erase_if(all, [&](Bytes size) {
    return std::ranges::any_of(primitives, [&](const std::string& p) { return !rate(p, size); });
  });
  return all;
}

std::vector<double> Rates::values(const std::string& primitive, const std::string& argument) const {
  std::set<double> values;
  for (const shiplap::Figure& figure : figures_)
    if (const auto found = figure.arguments.find(argument);
        figure.primitive == primitive && found != figure.arguments.end())
      values.insert(found->second);
  return {values.begin(), values.end()};
}

std::string Rates::why_not(const std::string& primitive) const {
  for (const auto& [name, reason] : reasons_)
    if (name.starts_with(primitive)) return reason;
  return fmt::format("there is nothing of {} ({})", primitive, source_);
}

Figure table_of(const Rates& rates, std::string id, std::string where, std::string title,
                const std::vector<Series>& series) {
  Figure figure{.id = std::move(id),
                .where = std::move(where),
                .title = std::move(title),
                .columns = {{"size", ""}},
                .rows = {},
                .note = fmt::format("Rates {}; decimal GB/s, both ways together where there are two. The paper shows "
                                    "its own as pictures only.",
                                    rates.source())};
  std::set<Bytes> sizes;
  for (const Series& one : series) {
    figure.columns.push_back({one.name, "GB/s"});
    const auto own = rates.sizes(one.primitive, one.arguments);
    // A copy of a few bytes has a latency, not a bandwidth; the paper begins at 256 bytes.
    for (const Bytes size : own)
      if (one.leads && size >= 256_B) sizes.insert(size);
    if (own.empty()) figure.note += fmt::format(" No {}: {}.", one.name, rates.why_not(one.primitive));
  }
  for (const Bytes size : sizes) {
    std::vector<Cell> row{to_string(size)};
    for (const Series& one : series) {
      row.push_back(gb(rates.rate(one.primitive, size, one.arguments)));
    }
    figure.rows.push_back(std::move(row));
  }
  return figure;
}

std::vector<ZeroCopy> sweep_zero_copy(const Bench& bench, Bytes least, Bytes most) {
  using Access = MappedKernels::Access;
  std::vector<ZeroCopy> all;
  for (Bytes size = least; size <= most; size = size * 4) {
    if (bench.progress) bench.progress(fmt::format("zero-copy of {}", to_string(size)), all.size(), 0);
    all.push_back({.size = size,
                   .to_gpu = rate_of(bench, copy_burst(CopyDirection::host_to_device, size, 1), size),
                   .read = zero_copy_rate(bench, Access::read, size, 4),
                   .read16 = zero_copy_rate(bench, Access::read, size, 16),
                   .from_gpu = rate_of(bench, copy_burst(CopyDirection::device_to_host, size, 1), size),
                   .write = zero_copy_rate(bench, Access::write, size, 4),
                   .write16 = zero_copy_rate(bench, Access::write, size, 16)});
  }
  return all;
}

}  // namespace shiplap::experiments::commscope
