// Measurement, lookup or simulation of the rates of Comm|Scope, and tables of them.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <deque>
#include <set>

#include "experiments/commscope2019/judge.hpp"
#include "experiments/in_turn.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/measure/row_memory.hpp"
#include "shiplap/measure/trial_variants.hpp"
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

/// Options of the measurement. A GPU is measured up to 512 MiB, beyond which no judged rate changes; a virtual device
/// up to what its host moves quickly.
MeasureOptions options_for(const Bench& bench, const std::string& glob) {
  MeasureOptions options;
  options.effort = Effort::standard;
  options.largest = bench.info.is_virtual ? 16_MiB : bench.quick ? 128_MiB : 512_MiB;
  options.only = glob;
  options.progress = bench.progress;
  return options;
}

/// The six curves of Fig. 9, three for each direction.
std::vector<Trial> zero_copy_trials(const Bench& bench, Bytes size, bool to_gpu) {
  constexpr std::uint64_t blocks = 256;  // blocks of 256 threads, as published
  const auto access = to_gpu ? ZeroCopyTrial::Access::read : ZeroCopyTrial::Access::write;
  std::vector<Trial> trials{
      copy_burst(to_gpu ? CopyDirection::host_to_device : CopyDirection::device_to_host, size, 1)};
  for (const unsigned width : {4u, 16u})
    trials.push_back(zero_copy_kernels(
        bench.device, {.access = access, .size = size, .kernels = 1, .blocks = blocks, .width = width}));
  return trials;
}

/// A copy and the kernels of one direction at one size, ready to run on the same memory. Each is verified.
class OneWay {
 public:
  OneWay(const Bench& bench, Bytes size, bool to_gpu) : memory_(bench.device, {zero_copy_trials(bench, size, to_gpu)}) {
    for (const Trial& trial : zero_copy_trials(bench, size, to_gpu)) {
      std::vector<std::byte*> buffers = memory_.data();
      buffers.resize(trial.schedule.buffers.size());
      executions_.push_back(bench.device.prepare(trial.schedule, {.buffers = buffers, .kernels = trial.kernels}));
      memory_.poison_destinations(bench.device, trial);
      executions_.back()->run();
      if (const std::string wrong = memory_.difference(bench.device, trial); !wrong.empty()) throw CheckFailed(wrong);
      hold_.push_back(can_be_held(trial.schedule));
    }
    if (size > beyond_cpu_caches) return;
    const Trial copy = flushed(copy_burst(to_gpu ? host_to_device : device_to_host, size, 1));
    flush_ = bench.device.prepare(*copy.before, {.buffers = memory_.data(), .kernels = {}});
  }

  /// Flushes the CPU caches. They contain the bytes that were written for verification, and the GPU reads them from
  /// caches at other rates than from memory.
  void flush() {
    if (flush_) flush_->run();
  }
  void add_to(std::vector<TimedRun>& runs) {
    for (std::size_t i = 0; i < executions_.size(); ++i)
      runs.emplace_back(
          [this, i] { return in_milliseconds(executions_[i]->run({.hold = hold_[i]}).timeline.makespan); });
  }

 private:
  static constexpr Bytes beyond_cpu_caches = 256_MiB;
  RowMemory memory_;
  std::vector<std::unique_ptr<Execution>> executions_;
  std::vector<bool> hold_;
  std::unique_ptr<Execution> flush_;
};

struct DuplexRates {
  DuplexRates(const Bench& bench, Bytes of) : size(of), to_gpu(bench, of, true), from_gpu(bench, of, false) {
    std::vector<TimedRun> runs;
    to_gpu.add_to(runs);
    from_gpu.add_to(runs);
    turns.emplace(std::move(runs), [this] {
      to_gpu.flush();
      from_gpu.flush();
    });
  }
  ZeroCopy found() const {
    const auto rate = [&](std::size_t i) { return size / milliseconds(turns->of(i).ms); };
    return {.size = size,
            .to_gpu = rate(0),
            .read = rate(1),
            .read16 = rate(2),
            .from_gpu = rate(3),
            .write = rate(4),
            .write16 = rate(5),
            .steady = turns->steady()};
  }
  Bytes size;
  OneWay to_gpu;
  OneWay from_gpu;
  std::optional<InTurn> turns{};
};

ZeroCopy simulated_zero_copy(const Bench& bench, Bytes size) {
  std::vector<Bandwidth> rates;
  for (const bool to_gpu : {true, false})
    for (const Trial& trial : zero_copy_trials(bench, size, to_gpu))
      rates.push_back(size / simulate(trial.schedule, bench.profile, {.held = true}).timeline.makespan);
  return {.size = size,
          .to_gpu = rates[0],
          .read = rates[1],
          .read16 = rates[2],
          .from_gpu = rates[3],
          .write = rates[4],
          .write16 = rates[5]};
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
                .note = fmt::format("Rates {}; decimal GB/s, the sum of both directions for duplex. The paper shows "
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
  std::vector<ZeroCopy> all;
  std::deque<DuplexRates> ready;
  // Sizes up to this are visited alternately with all others. Of larger ones only one at a time fits into memory.
  constexpr Bytes together = 256_MiB;
  const auto settle_ready = [&](unsigned rounds) {
    std::vector<InTurn*> turns;
    for (DuplexRates& one : ready) turns.push_back(&*one.turns);
    settle(turns, rounds);
    for (const DuplexRates& one : ready) all.push_back(one.found());
    ready.clear();
  };
  const unsigned rounds = bench.quick ? 5 : 11;
  for (Bytes size = least; size <= most; size = size * 4) {
    if (bench.progress) bench.progress(fmt::format("zero-copy of {}", to_string(size)), all.size(), 0);
    if (bench.info.is_virtual) {
      all.push_back(simulated_zero_copy(bench, size));
      continue;
    }
    if (size > together) settle_ready(rounds);
    ready.emplace_back(bench, size);
    if (size > together) settle_ready(3);
  }
  settle_ready(rounds);
  return all;
}

}  // namespace shiplap::experiments::commscope
