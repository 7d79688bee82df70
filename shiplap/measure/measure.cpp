#include "shiplap/measure/measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/limits.hpp"
#include "shiplap/measure/primitives.hpp"
#include "shiplap/measure/row_memory.hpp"
#include "shiplap/measure/sampler.hpp"
#include "shiplap/profile/topology.hpp"

namespace shiplap {
namespace {

// The totals that these budgets lead to are reckoned up in primitives.cpp. The run that proves the bytes has warmed up.
SampleOptions sampling(Effort effort) {
  if (effort == Effort::full)  // no interval is narrow enough
    return {.warm_up = 0, .most = 1'000'000, .relative_half_width = -1, .budget = Seconds{5}};
  SampleOptions options{.warm_up = 0, .least = 3, .most = 50, .window = milliseconds(5)};
  options.relative_half_width = effort == Effort::quick ? 0.01 : 0.005;
  options.budget = milliseconds(effort == Effort::quick ? 15 : 25);  // of each visit
  return options;
}

// A neighbour's disturbance, or a clock that drifts, can last longer than all samples of a point, which then agree with
// each other and are wrong together. What the table comes back to much later shows it. Five seconds show it themselves.
bool comes_back(Effort effort) { return effort != Effort::full; }

/// Points that share their memory: those on one NUMA node, in the order in which they stand.
std::vector<std::vector<Point>> by_node(const std::vector<Point>& points) {
  std::vector<std::vector<Point>> groups;
  const auto node = [](const Point& point) {
    const auto found = point.variants.front().find("node");
    return found == point.variants.front().end() ? 0.0 : found->second;
  };
  for (const Point& point : points) {
    if (groups.empty() || node(groups.back().front()) != node(point)) groups.emplace_back();
    groups.back().push_back(point);
  }
  return groups;
}

/// Clocks of an idle GPU rise under load only; a virtual device has none.
void warm_up_clocks(MeasurableDevice& device, const DeviceInfo& info) {
  if (info.is_virtual) return;
  const Trial trial =
      single_kernel(device, ProbeKernel::Kind::spin, std::max<std::uint64_t>(1, 4 * (info.resident_threads / 1024)), 0);
  const auto execution = device.prepare(trial.schedule, {.buffers = {}, .kernels = trial.kernels});
  Seconds spent{0};
  for (unsigned run = 0; run < 10'000 && spent < milliseconds(50); ++run) spent += execution->run().timeline.makespan;
}

class Measuring {
 public:
  Measuring(MeasurableDevice& device, const MeasureOptions& options, std::size_t total)
      : device_(device), options_(options), total_(total) {
    merge_state(options.state);
  }

  void row(const PrimitiveRow& row, const std::vector<Point>& points) {
    const std::size_t done_after = done_ + points.size();
    visit(row, points, false);
    done_ = done_after;
  }

  /// As many samples more of those points of the row that are to be visited again.
  void row_again(const PrimitiveRow& row, std::vector<Point> points) {
    std::erase_if(points, [&](const Point& point) { return !to_visit_again_.contains(key(row, point)); });
    if (points.empty()) return;
    const std::size_t done_after = done_ + points.size();
    visit(row, points, true);
    done_ = done_after;
  }

  void skip(const PrimitiveRow& row, const char* reason) {
    result_.skipped.push_back({std::string(row.primitive.name), reason});
  }

  MeasureResult result() && { return std::move(result_); }

 private:
  void visit(const PrimitiveRow& row, const std::vector<Point>& points, bool again) {
    try {
      for (const auto& group : by_node(points)) visit_group(row, group, again);
      note_state();
    } catch (const Unsupported& reason) {
      if (again)
        result_.failed.push_back({fmt::format("{} (second visit)", row.primitive.name), reason.what()});
      else
        result_.skipped.push_back({std::string(row.primitive.name), reason.what()});
    } catch (const Error& reason) {
      result_.failed.push_back(
          {fmt::format("{}{}", row.primitive.name, again ? " (second visit)" : ""), reason.what()});
    }
    if (options_.row_done) options_.row_done(so_far());
  }

  void visit_group(const PrimitiveRow& row, const std::vector<Point>& points, bool again) {
    // Only what is still to be measured needs memory.
    std::vector<std::vector<Trial>> trials(points.size());
    std::vector<std::vector<const Measurement*>> known(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!again) known[i] = had(row, points[i]);
      if (known[i].empty())
        for (const Arguments& arguments : points[i].variants) trials[i].push_back(row.trial(device_, arguments));
    }
    const RowMemory memory(device_, trials);
    std::string& placement = result_.state["host.numa_placement"];
    if (placement != unknown_fact) placement = memory.placement_known() ? "verified" : unknown_fact;
    for (std::size_t i = 0; i < points.size(); ++i, ++done_) {
      for (const Measurement* m : known[i]) result_.measurements.push_back(*m);
      const auto once = [](const Measurement* m) { return m->visits == 1 && !all_equal({m->samples_us}); };
      if (comes_back(options_.effort) && std::ranges::any_of(known[i], once)) visit_again(row, points[i]);
      if (known[i].empty()) point(row, points[i], trials[i], memory, again);
    }
  }

  /// Of a point among all.
  static std::pair<std::string, Arguments> key(const PrimitiveRow& row, const Point& point) {
    return {std::string(row.primitive.name), point.variants.front()};
  }
  static std::string label(const PrimitiveRow& row, const Point& point) {
    return fmt::format("{} {}", row.primitive.name, point.label);
  }

  template <class Measurements>
  static auto find(Measurements& all, const PrimitiveRow& row, const Arguments& arguments) -> decltype(all.data()) {
    const auto same = std::ranges::find_if(
        all, [&](const Measurement& m) { return m.primitive == row.primitive.name && m.arguments == arguments; });
    return same == all.end() ? nullptr : &*same;
  }

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
      const Measurement* same = find(options_.have, row, arguments);
      if (same == nullptr || !same->verified) return {};
      found.push_back(same);
    }
    return found;
  }

  void point(const PrimitiveRow& row, const Point& point, const std::vector<Trial>& trials, const RowMemory& memory,
             bool again) {
    const std::string label = Measuring::label(row, point);
    if (options_.progress) options_.progress(again ? label + " (again)" : label, done_, total_);
    try {
      if (again)
        measure_point_again(row, point, label, trials, memory);
      else
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

  /// The trials of a point made ready, each as a probe that runs it once.
  struct Ready {
    std::vector<std::unique_ptr<Execution>> executions;
    std::vector<Probe> probes;
  };
  Ready make_ready(const PrimitiveRow& row, const std::vector<Trial>& trials, const RowMemory& memory) {
    Ready ready;
    const auto prepare = [&](const Schedule& schedule, const Trial& trial) {
      std::vector<std::byte*> buffers = memory.data();
      buffers.resize(schedule.buffers.size());
      std::vector<KernelBinding> kernels;
      if (!schedule.kernels.empty()) kernels = trial.kernels;
      ready.executions.push_back(device_.prepare(schedule, {.buffers = buffers, .kernels = kernels}));
      return ready.executions.back().get();
    };
    for (const Trial& trial : trials) {
      Execution* before = trial.before ? prepare(*trial.before, trial) : nullptr;
      // The queues are held until everything is submitted, where that can be: the clock sees the device alone, and the
      // host meets dependencies that are still open. What the host waits for it has to see as it comes.
      const bool hold =
          can_be_held(trial.schedule) && (row.primitive.clock != "host" || row.host_clock == HostClock::submission);
      ready.probes.push_back([execution = prepare(trial.schedule, trial), before, hold, &trial, &row]() -> Reading {
        Seconds cost{0};
        if (before != nullptr) cost = before->run().host_total;
        const RunResult run = execution->run({.hold = hold, .timed = trial.timed});
        cost += run.host_total;
        return {.time = time_of(row, trial, run), .cost = cost};
      });
    }
    return ready;
  }

  void measure_point(const PrimitiveRow& row, const Point& point, const std::string& label,
                     const std::vector<Trial>& trials, const RowMemory& memory) {
    const Ready ready = make_ready(row, trials, memory);
    std::string difference;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      // The first run of each trial proves that this trial moves every byte; what is sampled later ends alike.
      memory.poison_destinations(device_, trials[i]);
      ready.probes[i]();
      if (difference.empty()) difference = memory.difference(device_, trials[i]);
    }
    const auto samples = sample(ready.probes, sampling(options_.effort));
    const std::string held_by = clocks_held_by();
    const bool again = comes_back(options_.effort) && !all_equal(samples);
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
    if (again && difference.empty()) visit_again(row, point);
  }

  void visit_again(const PrimitiveRow& row, const Point& point) {
    if (to_visit_again_.insert(key(row, point)).second) ++total_;
  }

  /// Adds as many samples as there are. That each trial moves its bytes has been proved; one look behind them all does.
  void measure_point_again(const PrimitiveRow& row, const Point& point, const std::string& label,
                           const std::vector<Trial>& trials, const RowMemory& memory) {
    const Ready ready = make_ready(row, trials, memory);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      memory.poison_destinations(device_, trials[i]);
      ready.probes[i]();
    }
    const auto as_before =
        static_cast<unsigned>(find(result_.measurements, row, point.variants.front())->samples_us.size());
    SampleOptions options = sampling(options_.effort);
    options.least = options.most = as_before;
    const auto samples = sample(ready.probes, options);
    const std::string held_by = clocks_held_by();
    std::string difference;
    for (const Trial& trial : trials)
      if (difference.empty()) difference = memory.difference(device_, trial);
    if (!difference.empty()) result_.failed.push_back({label, difference});
    for (std::size_t i = 0; i < trials.size(); ++i) {
      Measurement& m = *find(result_.measurements, row, point.variants[i]);
      m.visits = 2;
      m.samples_us.insert(m.samples_us.end(), samples[i].begin(), samples[i].end());
      m.verified = m.verified && difference.empty();
      if (!held_by.empty() && held_by != m.held_by) m.held_by += (m.held_by.empty() ? "" : "; ") + held_by;
    }
  }

  MeasurableDevice& device_;
  const MeasureOptions& options_;
  std::size_t total_;
  std::size_t done_ = 0;
  MeasureResult result_;
  std::set<std::string> held_by_;
  std::set<std::pair<std::string, Arguments>> to_visit_again_;  ///< points by their keys
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

MeasureResult measure(MeasurableDevice& device, const MeasureOptions& options) {
  const auto rows = selected_rows(options.only);
  if (options.smallest > options.largest)
    throw UsageError(fmt::format("the smallest size to measure, {}, is beyond the largest, {}",
                                 to_string(options.smallest), to_string(options.largest)));
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
      std::erase_if(points[i], [&](const Point& point) {
        const auto found = point.variants.front().find("bytes");
        return found != point.variants.front().end() && found->second < in_bytes(options.smallest);
      });
      if (points[i].empty()) reasons[i] = "it has no point of the sizes asked for";
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
  for (std::size_t i = 0; comes_back(options.effort) && i < rows.size(); ++i)
    if (reasons[i].empty()) measuring.row_again(*rows[i], points[i]);
  return std::move(measuring).result();
}

}  // namespace shiplap
