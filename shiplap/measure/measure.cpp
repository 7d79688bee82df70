#include "shiplap/measure/measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/block_trial.hpp"
#include "shiplap/measure/limits.hpp"
#include "shiplap/measure/primitives.hpp"
#include "shiplap/measure/ready_point.hpp"
#include "shiplap/measure/row_memory.hpp"
#include "shiplap/measure/sampler.hpp"
#include "shiplap/profile/topology.hpp"

namespace shiplap {
namespace {

/// Sampling of a point in a full measurement: five seconds, like Comm|Scope's five runs of a second, without another
/// end.
const SampleOptions full_sampling{
    .warm_up = 0, .most = 1'000'000, .relative_half_width = -1, .window = {}, .budget = Seconds{5}};
/// Sampling of a point in one visit. Widths and budgets are chosen so that the table takes about 90 s, or 15 s in a
/// quick measurement (primitives.cpp). The run that verifies the bytes is the warm-up. Disturbances last
/// some milliseconds, and the window is longer.
const SampleOptions standard_sampling{.warm_up = 0,
                                      .least = 3,
                                      .most = 50,
                                      .relative_half_width = 0.005,
                                      .window = milliseconds(5),
                                      .budget = milliseconds(25)};
const SampleOptions quick_sampling{.warm_up = 0,
                                   .least = 3,
                                   .most = 50,
                                   .relative_half_width = 0.01,
                                   .window = milliseconds(5),
                                   .budget = milliseconds(15)};

/// Time under load after which the clocks of an idle GPU have risen.
constexpr Seconds clocks_rise = milliseconds(50);
constexpr std::uint64_t waves_of_warm_up = 4;
/// Most runs of a warm-up, which ends it when runs seem to take no time.
constexpr unsigned most_runs_of_warm_up = 10'000;

/// The largest copy may use 1 / this of the free device memory. A duplex burst takes up to four times the largest copy,
/// and half of the memory stays free.
constexpr std::uint64_t largest_copy_divisor = 8;
/// Page size of which all sizes are multiples, where memory is cut into pieces or accessed by threads.
constexpr Bytes smallest_page = 4_KiB;

SampleOptions sampling(Effort effort) {
  return effort == Effort::full ? full_sampling : effort == Effort::quick ? quick_sampling : standard_sampling;
}

// A disturbance by another process or a drift of the clocks can last longer than all samples of a point. The samples
// then agree and are all wrong. A second visit much later reveals this. In a full measurement the five seconds of a
// point reveal it.
bool visits_twice(Effort effort) { return effort != Effort::full; }

/// The NUMA node of the host memory of a point: the one that it names, or the one nearest to the GPU.
Place place_of(const Point& point) {
  const Arguments& arguments = point.variants.front();
  return arguments.contains("node") ? Place::host(static_cast<std::uint16_t>(arguments.at("node"))) : Place::host();
}

/// Groups the points by NUMA node, because the points of a group share their memory. The order of the points is kept.
std::vector<std::vector<Point>> by_node(const std::vector<Point>& points) {
  std::vector<std::vector<Point>> groups;
  for (const Point& point : points) {
    if (groups.empty() || place_of(groups.back().front()) != place_of(point)) groups.emplace_back();
    groups.back().push_back(point);
  }
  return groups;
}

/// Keeps the GPU busy until its clocks are up. A virtual device has no clocks.
void warm_up_clocks(MeasurableDevice& device, const DeviceInfo& info) {
  if (info.is_virtual) return;
  const std::uint64_t wave = info.resident_threads / spin_probe_threads;
  const Trial trial = single_kernel(device, ProbeKind::spin, std::max<std::uint64_t>(1, waves_of_warm_up * wave), 0);
  const auto execution = device.prepare(trial.schedule, {.buffers = {}, .kernels = trial.kernels});
  Seconds spent{0};
  for (unsigned run = 0; run < most_runs_of_warm_up && spent < clocks_rise; ++run)
    spent += execution->run().timeline.makespan;
}

/// Thrown when the deadline passes, to leave a row.
struct DeadlinePassed {};

class Measuring {
 public:
  Measuring(MeasurableDevice& device, const MeasureOptions& options, const DeviceInfo& info, std::size_t total)
      : device_(device), options_(options), several_nodes_(info.numa_nodes.size() > 1), total_(total) {
    merge_state(options.state);
  }

  void row(const PrimitiveRow& row, const std::vector<Point>& points) {
    const std::size_t done_after = done_ + points.size();
    visit(row, points, false);
    done_ = done_after;
  }

  /// Visits those points of the row again that need it, which doubles their samples.
  void measure_row_again(const PrimitiveRow& row, std::vector<Point> points) {
    if (std::ranges::find(result_.late, row.primitive.name) != result_.late.end()) return;
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
    } catch (const DeadlinePassed&) {
      if (!again) leave_out(row);
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

  void leave_out(const PrimitiveRow& row) {
    std::erase_if(result_.measurements, [&](const Measurement& m) { return m.primitive == row.primitive.name; });
    result_.late.emplace_back(row.primitive.name);
  }

  void require_time() const {
    if (options_.deadline.passed()) throw DeadlinePassed{};
  }

  void visit_group(const PrimitiveRow& row, const std::vector<Point>& points, bool again) {
    require_time();
    // Whatever touches the memory runs near it: filling, copies, calls, comparisons, and threads that start meanwhile.
    const auto bound = several_nodes_ ? device_.on_cores_of(place_of(points.front())) : nullptr;
    // Only points that are still to be measured need memory.
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
      if (visits_twice(options_.effort) && std::ranges::any_of(known[i], once)) visit_again(row, points[i]);
      if (known[i].empty()) point(row, points[i], trials[i], memory, again);
    }
  }

  /// Unique key of a point.
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

  /// The result so far, with the measurements of an earlier run for the remaining rows.
  MeasureResult so_far() const {
    MeasureResult all = result_;
    for (const Measurement& m : options_.have)
      if (std::ranges::none_of(result_.measurements, [&](const Measurement& now) {
            return now.primitive == m.primitive && now.arguments == m.arguments;
          }))
        all.measurements.push_back(m);
    return all;
  }

  /// Merges a state into the result. It collects all reasons for low clocks and keeps the fastest link speed, because
  /// an idle link is slower.
  void merge_state(const Conditions& state) {
    for (const auto& [name, value] : state) {
      std::string& kept = result_.state[name];
      if (name == "gpu.clocks_held_by") {
        if (value != "nothing" && value != unknown_fact) held_by_.insert(value);
        kept = held_by_.empty() ? value : fmt::format("{}", fmt::join(held_by_, "; "));
      } else if (name != "gpu.link_loaded" || pcie_link_rate(value) >= pcie_link_rate(kept)) {
        kept = value;
      }
    }
  }

  /// Records the state of the device right after it worked.
  void note_state() {
    try {
      merge_state(device_.state());
    } catch (const Error&) {  // a measurement continues without the state
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

  /// All measurements of a point from an earlier run; empty when one is missing.
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
    require_time();
    const std::string label = Measuring::label(row, point);
    if (options_.progress) options_.progress(again ? label + " (again)" : label, done_, total_);
    try {
      if (again)
        measure_point_again(row, point, label, trials, memory);
      else
        measure_point(row, point, label, trials, memory);
    } catch (const Unsupported&) {
      throw;  // concerns the whole row
    } catch (const Error& reason) {
      result_.failed.push_back({label, reason.what()});
    }
  }

  void measure_point(const PrimitiveRow& row, const Point& point, const std::string& label,
                     const std::vector<Trial>& trials, const RowMemory& memory) {
    const ReadyPoint ready(device_, row, trials, memory);
    std::string difference;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      // The first run of each trial verifies that it moves every byte. The samples are runs of the same schedule.
      run_once(ready, trials[i], i, memory);
      if (difference.empty()) difference = this->difference(ready, trials[i], i, memory);
      require_time();
    }
    SampleOptions options = sampling(options_.effort);
    options.deadline = options_.deadline;
    const auto samples = sample(ready.probes(), options);
    require_time();
    const std::string held_by = clocks_held_by();
    const bool again = visits_twice(options_.effort) && !all_equal(samples);
    for (std::size_t i = 0; i < trials.size(); ++i)
      if (difference.empty()) difference = this->difference(ready, trials[i], i, memory);
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

  /// Runs a trial after its destinations were overwritten, so that bytes that it does not move are found.
  void run_once(const ReadyPoint& ready, const Trial& trial, std::size_t number, const RowMemory& memory) {
    memory.poison_destinations(device_, trial);
    ready.set_up(number);
    ready.probes()[number]();
  }

  std::string difference(const ReadyPoint& ready, const Trial& trial, std::size_t number, const RowMemory& memory) {
    ready.read_back(number);
    return memory.difference(device_, trial);
  }

  void visit_again(const PrimitiveRow& row, const Point& point) {
    if (to_visit_again_.insert(key(row, point)).second) ++total_;
  }

  /// Doubles the number of samples. The first visit has verified that each trial moves its bytes, so the bytes are
  /// compared only once, after the samples.
  void measure_point_again(const PrimitiveRow& row, const Point& point, const std::string& label,
                           const std::vector<Trial>& trials, const RowMemory& memory) {
    const ReadyPoint ready(device_, row, trials, memory);
    for (std::size_t i = 0; i < trials.size(); ++i) run_once(ready, trials[i], i, memory);
    const auto as_before =
        static_cast<unsigned>(find(result_.measurements, row, point.variants.front())->samples_us.size());
    SampleOptions options = sampling(options_.effort);
    options.least = options.most = as_before;
    options.deadline = options_.deadline;
    const auto samples = sample(ready.probes(), options);
    require_time();
    const std::string held_by = clocks_held_by();
    std::string difference;
    for (std::size_t i = 0; i < trials.size(); ++i)
      if (difference.empty()) difference = this->difference(ready, trials[i], i, memory);
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
  bool several_nodes_;  ///< whether the process may use several NUMA nodes
  std::size_t total_;
  std::size_t done_ = 0;
  MeasureResult result_;
  std::set<std::string> held_by_;
  std::set<std::pair<std::string, Arguments>> to_visit_again_;  ///< keys of the points to visit again
};

}  // namespace

MeasureResult measure(MeasurableDevice& device, const MeasureOptions& options) {
  const auto rows = selected_rows(options);
  if (options.smallest > options.largest)
    throw UsageError(fmt::format("the smallest size to measure, {}, is beyond the largest, {}",
                                 to_string(options.smallest), to_string(options.largest)));
  if (options.largest.count == 0) throw UsageError("the largest copy to measure must be at least 1 byte");
  Setting setting{.effort = options.effort, .largest = options.largest, .info = device.info()};
  if (setting.info.free_memory.count > 0)
    setting.largest = std::max(1_B, std::min(setting.largest, setting.info.free_memory / largest_copy_divisor));
  if (setting.largest >= smallest_page) setting.largest = smallest_page * (setting.largest.count / smallest_page.count);

  std::vector<std::vector<Point>> points(rows.size());
  std::vector<std::string> reasons(rows.size());
  std::size_t total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      points[i] = rows[i]->points(setting);
      std::erase_if(points[i], [&](const Point& point) {
        const Arguments& arguments = point.variants.front();
        const auto found = arguments.find("bytes");
        if (arguments.contains("block")) return in_bytes(bytes_of_blocks(arguments)) < in_bytes(options.smallest);
        return found != arguments.end() && found->second < in_bytes(options.smallest);
      });
      if (points[i].empty()) reasons[i] = "it has no point of the sizes asked for";
    } catch (const Unsupported& reason) {
      reasons[i] = reason.what();
    }
    total += points[i].size();
  }

  warm_up_clocks(device, setting.info);
  Measuring measuring(device, options, setting.info, total);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (reasons[i].empty())
      measuring.row(*rows[i], points[i]);
    else
      measuring.skip(*rows[i], reasons[i].c_str());
  }
  for (std::size_t i = 0; visits_twice(options.effort) && i < rows.size(); ++i)
    if (reasons[i].empty()) measuring.measure_row_again(*rows[i], points[i]);
  return std::move(measuring).result();
}

}  // namespace shiplap
