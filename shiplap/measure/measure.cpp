#include "shiplap/measure/measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/check.hpp"
#include "shiplap/measure/primitives.hpp"
#include "shiplap/measure/sampler.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t source_seed = 0x5eed'0001;
constexpr std::uint64_t poison_seed = 0xbad0'0001;

// The totals that these budgets lead to are reckoned up in primitives.cpp.
SampleOptions sampling(Effort effort) {
  if (effort == Effort::full)
    return {.most = 1'000'000, .relative_half_width = -1, .budget = Seconds{5}};  // no interval is narrow enough
  if (effort == Effort::quick)
    return {.relative_half_width = 0.01, .window = milliseconds(10), .budget = milliseconds(60)};
  return {.relative_half_width = 0.005, .window = milliseconds(10), .budget = milliseconds(100)};
}

/// The row's buffers, each as long as the longest trial needs it; trials of one row agree on what buffer i is.
class RowMemory {
 public:
  RowMemory(Device& device, const std::vector<std::vector<Trial>>& trials) {
    std::vector<Buffer> needed;
    std::vector<bool> overwritten;
    for (const auto& point : trials) {
      for (const Trial& trial : point) {
        const auto& buffers = trial.schedule.buffers;
        if (needed.size() < buffers.size()) needed.resize(buffers.size());
        overwritten.resize(needed.size(), false);
        for (std::size_t i = 0; i < buffers.size(); ++i) {
          const Bytes size = std::max(needed[i].size, buffers[i].size);
          needed[i] = buffers[i];
          needed[i].size = size;
        }
        for (const auto& transfer : trial.transfers) overwritten[transfer.to.index()] = true;
      }
    }
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (obtained(trials, i)) {
        memories_.emplace_back();
        continue;
      }
      memories_.push_back(device.allocate(needed[i].place, needed[i].memory, needed[i].size));
      require_placed(device, memories_.back(), needed[i].name);
      if (!overwritten[i]) device.fill(memories_.back(), source_seed + i);
    }
  }

  /// Whether the system could tell of all host memory on which NUMA node its pages are.
  bool placement_known() const { return placement_known_; }

  std::vector<std::byte*> data() const {
    std::vector<std::byte*> pointers;
    for (const Memory& memory : memories_) pointers.push_back(memory.data());
    return pointers;
  }

  void poison_destinations(Device& device, const Trial& trial) const {
    for (const auto& transfer : trial.transfers) {
      const Memory& whole = memories_[transfer.to.index()];
      const Memory part(whole.data(), transfer.length, whole.place(), whole.kind(), [](std::byte*) {});
      device.fill(part, poison_seed + transfer.to.index());
    }
  }

  /// "" or how many bytes did not arrive.
  std::string difference(Device& device, const Trial& trial) const {
    for (const auto& transfer : trial.transfers) {
      const std::uint64_t wrong = device.mismatches(memories_[transfer.to.index()], Bytes{0}, transfer.length,
                                                    source_seed + transfer.from.index(), Bytes{0});
      if (wrong > 0)
        return fmt::format(
            "{} of {} bytes in the {} are not what was sent: the time is not used; run it again, and if "
            "it stays, examine the node's memory and link",
            wrong, transfer.length.count, trial.schedule.buffers[transfer.to.index()].name);
    }
    for (const BufferId kept : trial.kept) {
      const Memory& memory = memories_[kept.index()];
      const Buffer& buffer = trial.schedule.buffers[kept.index()];
      const std::uint64_t wrong =
          device.mismatches(memory, Bytes{0}, buffer.size, source_seed + kept.index(), Bytes{0});
      if (wrong > 0)
        return fmt::format("{} of {} bytes of {} have changed: the time is not used", wrong, buffer.size.count,
                           buffer.name);
    }
    return "";
  }

 private:
  /// Whether the trials obtain the buffer themselves.
  static bool obtained(const std::vector<std::vector<Trial>>& trials, std::size_t buffer) {
    for (const auto& point : trials)
      for (const Trial& trial : point)
        if (is_allocated_by_op(trial.schedule, BufferId{static_cast<std::uint32_t>(buffer)})) return true;
    return false;
  }

  /// Memory on another node than it was asked for would be measured under the wrong name.
  void require_placed(const Device& device, const Memory& memory, const std::string& name) {
    // Where pages of managed memory go on the host is the driver's choice.
    if (!memory.place().is_host() || memory.kind() == MemoryKind::managed) return;
    const auto nodes = device.numa_nodes(memory);
    if (!nodes) placement_known_ = false;
    if (!nodes || *nodes == std::vector<unsigned>{memory.place().index}) return;
    throw Error(fmt::format(
        "the pages of {} lie on NUMA node {} instead of {}: free memory on that node, or let this process use it "
        "(numactl, the container's cpuset)",
        name, fmt::join(*nodes, ", "), memory.place().index));
  }

  std::vector<Memory> memories_;
  bool placement_known_ = true;
};

/// Clocks of an idle GPU rise under load only; a virtual device has none.
void warm_up_clocks(Device& device, const DeviceInfo& info) {
  if (info.is_virtual) return;
  const Trial trial =
      single_kernel(device, ProbeKernel::Kind::spin, std::max<std::uint64_t>(1, 4 * (info.resident_threads / 1024)), 0);
  const auto execution = device.prepare(trial.schedule, {.buffers = {}, .kernels = trial.kernels});
  Seconds spent{0};
  for (unsigned run = 0; run < 10'000 && spent < milliseconds(50); ++run) spent += execution->run().timeline.makespan;
}

class Measuring {
 public:
  Measuring(Device& device, const MeasureOptions& options, std::size_t total)
      : device_(device), options_(options), total_(total) {
    merge_state(options.state);
  }

  void row(const PrimitiveRow& row, const std::vector<Point>& points) {
    const std::size_t done_after = done_ + points.size();
    try {
      // Only what is still to be measured needs memory.
      std::vector<std::vector<Trial>> trials(points.size());
      std::vector<std::vector<const Measurement*>> known(points.size());
      for (std::size_t i = 0; i < points.size(); ++i) {
        known[i] = had(row, points[i]);
        if (known[i].empty())
          for (const Arguments& arguments : points[i].variants) trials[i].push_back(row.trial(device_, arguments));
      }
      const RowMemory memory(device_, trials);
      std::string& placement = result_.state["host.numa_placement"];
      if (placement != unknown_fact) placement = memory.placement_known() ? "verified" : unknown_fact;
      for (std::size_t i = 0; i < points.size(); ++i, ++done_) {
        for (const Measurement* m : known[i]) result_.measurements.push_back(*m);
        if (known[i].empty()) point(row, points[i], trials[i], memory);
      }
      note_state();
    } catch (const Unsupported& reason) {
      result_.skipped.push_back({std::string(row.primitive.name), reason.what()});
    } catch (const Error& reason) {
      result_.failed.push_back({std::string(row.primitive.name), reason.what()});
    }
    done_ = done_after;
    if (options_.row_done) options_.row_done(so_far());
  }

  void skip(const PrimitiveRow& row, const char* reason) {
    result_.skipped.push_back({std::string(row.primitive.name), reason});
  }

  MeasureResult result() && { return std::move(result_); }

 private:
  /// With what an earlier run has of the rows to come.
  MeasureResult so_far() const {
    MeasureResult all = result_;
    for (const Measurement& m : options_.have)
      if (std::ranges::none_of(result_.measurements, [&](const Measurement& now) {
            return now.primitive == m.primitive && now.arguments == m.arguments;
          }))
        all.measurements.push_back(m);
    return all;
  }

  /// What holds clocks down counts whenever it did, and of the link the fastest that it was, since it rests between
  /// copies.
  void merge_state(const Conditions& state) {
    for (const auto& [name, value] : state) {
      std::string& kept = result_.state[name];
      if (name == "gpu.clocks_held_by") {
        if (value != "nothing" && value != unknown_fact) held_by_.insert(value);
        kept = held_by_.empty() ? value : fmt::format("{}", fmt::join(held_by_, "; "));
      } else if (name != "gpu.link_loaded" || link_limit(value) >= link_limit(kept)) {
        kept = value;
      }
    }
  }

  /// As the device is right after it worked.
  void note_state() {
    try {
      merge_state(device_.state());
    } catch (const Error&) {  // what is not known does not stop a measurement
    }
  }

  std::string clocks_held_by() {
    try {
      const std::string held = device_.clocks_held_by();
      if (!held.empty()) merge_state({{"gpu.clocks_held_by", held}});
      return held;
    } catch (const Error&) {
      return "";
    }
  }

  /// All measurements of a point from an earlier run; none when one is missing.
  std::vector<const Measurement*> had(const PrimitiveRow& row, const Point& point) const {
    std::vector<const Measurement*> found;
    for (const Arguments& arguments : point.variants) {
      const auto same = std::ranges::find_if(options_.have, [&](const Measurement& m) {
        return m.verified && m.primitive == row.primitive.name && m.arguments == arguments;
      });
      if (same == options_.have.end()) return {};
      found.push_back(&*same);
    }
    return found;
  }

  void point(const PrimitiveRow& row, const Point& point, const std::vector<Trial>& trials, const RowMemory& memory) {
    const std::string label = fmt::format("{} {}", row.primitive.name, point.label);
    if (options_.progress) options_.progress(label, done_, total_);
    try {
      measure_point(row, point, label, trials, memory);
    } catch (const Unsupported&) {
      throw;  // holds for the whole row
    } catch (const Error& reason) {
      result_.failed.push_back({label, reason.what()});
    }
  }

  /// What a row's clock says of a run.
  static Seconds time_of(const PrimitiveRow& row, const Trial& trial, const RunResult& run) {
    if (row.primitive.clock != "host") return run.timeline.makespan;
    switch (row.host_clock) {
      case HostClock::submission:
        return run.submission;
      case HostClock::completion:
        return run.host_total;
      case HostClock::operation: {
        const Span& span = run.host_spans.at(trial.timed_op.index());
        return span.end - span.start;
      }
    }
    throw Error("not a clock");
  }

  void measure_point(const PrimitiveRow& row, const Point& point, const std::string& label,
                     const std::vector<Trial>& trials, const RowMemory& memory) {
    std::vector<std::unique_ptr<Execution>> executions;
    std::vector<Probe> probes;
    std::string difference;
    const auto prepare = [&](const Schedule& schedule, const Trial& trial) {
      std::vector<std::byte*> buffers = memory.data();
      buffers.resize(schedule.buffers.size());
      std::vector<KernelBinding> kernels;
      if (!schedule.kernels.empty()) kernels = trial.kernels;
      executions.push_back(device_.prepare(schedule, {.buffers = buffers, .kernels = kernels}));
      return executions.back().get();
    };
    for (const Trial& trial : trials) {
      Execution* before = trial.before ? prepare(*trial.before, trial) : nullptr;
      // The queues are held until everything is submitted, where that can be: the clock sees the device alone, and the
      // host meets dependencies that are still open. What the host waits for it has to see as it comes.
      const bool hold =
          can_be_held(trial.schedule) && (row.primitive.clock != "host" || row.host_clock == HostClock::submission);
      probes.push_back([execution = prepare(trial.schedule, trial), before, hold, &trial, &row]() -> Reading {
        Seconds cost{0};
        if (before != nullptr) cost = before->run().host_total;
        const RunResult run = execution->run({.hold = hold, .timed = trial.timed});
        return {.time = time_of(row, trial, run), .cost = cost + run.host_total};
      });
      // The first run of each trial proves that this trial moves every byte; what is sampled later ends alike.
      memory.poison_destinations(device_, trial);
      probes.back()();
      if (difference.empty()) difference = memory.difference(device_, trial);
    }

    const auto samples = sample(probes, sampling(options_.effort));
    const std::string held_by = clocks_held_by();
    for (const Trial& trial : trials)
      if (difference.empty()) difference = memory.difference(device_, trial);
    if (!difference.empty()) result_.failed.push_back({label, difference});
    for (std::size_t i = 0; i < trials.size(); ++i)
      result_.measurements.push_back({.primitive = std::string(row.primitive.name),
                                      .arguments = point.variants[i],
                                      .clock = std::string(row.primitive.clock),
                                      .samples_us = samples[i],
                                      .verified = difference.empty(),
                                      .held_by = held_by});
  }

  Device& device_;
  const MeasureOptions& options_;
  std::size_t total_;
  std::size_t done_ = 0;
  MeasureResult result_;
  std::set<std::string> held_by_;
};

std::vector<const PrimitiveRow*> selected_rows(const std::string& only) {
  std::vector<const PrimitiveRow*> selected;
  std::vector<std::string_view> names;
  for (const PrimitiveRow& row : primitive_rows()) {
    names.push_back(row.primitive.name);
    if (fnmatch(only.c_str(), std::string(row.primitive.name).c_str(), 0) == 0) selected.push_back(&row);
  }
  if (selected.empty())
    throw UsageError(fmt::format("no primitive matches '{}'; there are: {}", only, fmt::join(names, ", ")));
  return selected;
}

}  // namespace

MeasureResult measure(Device& device, const MeasureOptions& options) {
  const auto rows = selected_rows(options.only);
  if (options.largest.count == 0) throw UsageError("the largest copy to measure must be at least 1 byte");
  Setting setting{.effort = options.effort, .largest = options.largest, .info = device.info()};
  // A burst and both directions together take up to four times the largest copy.
  if (setting.info.free_memory.count > 0)
    setting.largest = std::max(1_B, std::min(setting.largest, setting.info.free_memory / 8));
  // Whole pages: what is cut into pieces or accessed by threads comes out even.
  if (setting.largest >= 4_KiB) setting.largest = 4_KiB * (setting.largest.count / (4_KiB).count);

  std::vector<std::vector<Point>> points(rows.size());
  std::vector<std::string> reasons(rows.size());
  std::size_t total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      points[i] = rows[i]->points(setting);
    } catch (const Unsupported& reason) {
      reasons[i] = reason.what();
    }
    total += points[i].size();
  }

  warm_up_clocks(device, setting.info);
  Measuring measuring(device, options, total);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (reasons[i].empty())
      measuring.row(*rows[i], points[i]);
    else
      measuring.skip(*rows[i], reasons[i].c_str());
  }
  return std::move(measuring).result();
}

}  // namespace shiplap
