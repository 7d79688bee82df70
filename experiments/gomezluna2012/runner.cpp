#include "experiments/gomezluna2012/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/evaluate.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap::experiments::gomez_luna {
namespace {

constexpr std::array<std::uint32_t, 6> few_counts{2, 4, 8, 16, 32, 64};

Schedule one_copy(bool to_device, Bytes size) {
  Schedule schedule;
  const BufferId host =
      schedule.add_buffer({.name = "host", .place = Place::host(), .memory = MemoryKind::pinned, .size = size});
  const BufferId gpu =
      schedule.add_buffer({.name = "GPU", .place = Place::gpu(), .memory = MemoryKind::device, .size = size});
  const QueueId queue = schedule.add_queue("copies");
  const Region h{host, Bytes{0}, size};
  const Region d{gpu, Bytes{0}, size};
  schedule.add(
      {.what = to_device ? Copy{h, d} : Copy{d, h}, .queue = queue, .agent = AgentId{0}, .after = {}, .chunk = 0});
  return schedule;
}

std::string scalar_add_name(Bytes in, Bytes out, std::uint64_t iterations) {
  return fmt::format("scalar-add:in={},out={},iterations={}", in.count, out.count, iterations);
}

void require_link(const Profile& profile) {
  if (profile.links.empty()) profile.link(0);  // throws, naming what was published
}

}  // namespace

std::string_view words(Layout layout) {
  if (layout == as_280) return "one copy engine";
  if (layout == as_480) return "implicit synchronisation";
  return "today's engines";
}

gomez_luna_2012::Architecture architecture_of(Layout layout) {
  return layout == as_480 ? gomez_luna_2012::Architecture::cc2 : gomez_luna_2012::Architecture::cc1;
}

Choice streams(Layout layout, std::uint32_t count, IssueOrder order) {
  return {.strategy = "streams", .chunks = count, .layout = layout, .order = order};
}

Choice unstreamed() { return {.strategy = "explicit", .chunks = 1, .layout = Layout::per_chunk}; }

std::vector<Choice> sweep(std::span<const Layout> layouts, std::span<const std::uint32_t> counts) {
  std::vector<Choice> choices;
  for (const Layout layout : layouts)
    for (const std::uint32_t n : counts) choices.push_back(streams(layout, n));
  return choices;
}

std::optional<Seconds> Found::time(Layout layout, std::uint32_t count, IssueOrder order) const {
  for (const auto& [choice, time] : runs)
    if (choice.layout == layout && choice.chunks == count && choice.order == order) return time;
  return std::nullopt;
}

std::vector<Timed> Found::times(Layout layout) const {
  std::vector<Timed> all;
  for (const auto& [choice, time] : runs)
    if (choice.layout == layout && choice.order == IssueOrder::breadth)
      all.push_back({choice.chunks, in_milliseconds(time)});
  return all;
}

std::vector<Timed> Found::times_with_none(Layout layout) const {
  std::vector<Timed> all = times(layout);
  if (unstreamed) all.insert(all.begin(), Timed{1, in_milliseconds(*unstreamed)});
  return all;
}

gomez_luna_2012::Work Found::work_in(std::uint32_t count, Seconds per_stream) const {
  gomez_luna_2012::Work w = work(per_stream);
  w.times.kernel = cost.at((items + count - 1) / count) * count;
  return w;
}

Found Runner::run(const Workload& workload, const std::vector<Choice>& choices) {
  require_link(bench_.profile);
  Found found = simulated() ? simulated_run(workload, choices) : observed_run(workload, choices);
  found.items = workload.job.items;
  found.stages = stages_of(workload.job, found.cost.at(workload.job.items));
  for (const Array& array : workload.job.arrays)
    if (array.role == Role::resident) found.before += transfer(true, array.size);
  if (found.unstreamed) *found.unstreamed -= found.before;
  for (auto& [choice, time] : found.runs) time -= found.before;
  return found;
}

StageTimes Runner::stages_of(const Job& job, Seconds kernel) {
  StageTimes stages{.h2d = Seconds{0}, .kernel = kernel, .d2h = Seconds{0}};
  for (const Array& array : job.arrays) {
    if (is_input(array.role)) stages.h2d += transfer(true, array.size);
    if (is_output(array.role)) stages.d2h += transfer(false, array.size);
  }
  return stages;
}

Found Runner::simulated_run(const Workload& workload, const std::vector<Choice>& choices) {
  Job job = workload.job;
  if (job.cost.points.empty()) job.cost = derived_cost(job, bench_.profile);
  const auto time = [&](const Choice& choice) {
    const Schedule schedule = find_strategy(choice.strategy).schedule(job, choice, bench_.limits);
    return simulate(schedule, bench_.profile).timeline.makespan;
  };
  Found found{.stages = {}, .cost = job.cost, .unstreamed = time(unstreamed()), .runs = {}};
  for (const Choice& choice : choices) {
    try {
      found.runs.emplace_back(choice, time(choice));
    } catch (const UsageError& why) {
      found.skipped.push_back(fmt::format("{}: {}", shiplap::to_string(choice), why.what()));
    }
  }
  return found;
}

Found Runner::observed_run(const Workload& workload, const std::vector<Choice>& choices) {
  std::vector<Choice> all{unstreamed()};
  all.insert(all.end(), choices.begin(), choices.end());
  const EvaluatedWorkload observed = observe(bench_, workload, std::move(all));
  if (!observed.not_run.empty()) throw Unsupported(fmt::format("{}: {}", observed.name, observed.not_run));
  Found found{.stages = {}, .cost = observed.cost, .unstreamed = time_of(observed, unstreamed()), .runs = {}};
  for (const Choice& choice : choices)
    if (const auto time = time_of(observed, choice)) found.runs.emplace_back(choice, *time);
  for (const SkippedChoice& s : observed.skipped)
    found.skipped.push_back(fmt::format("{}: {}", shiplap::to_string(s.choice), s.reason));
  return found;
}

Seconds Runner::transfer(bool to_device, Bytes size) {
  const std::pair key{to_device, size.count};
  if (!transfers_.contains(key)) measure_transfers({size});
  return transfers_.at(key);
}

void Runner::measure_transfers(const std::vector<Bytes>& sizes) {
  require_link(bench_.profile);
  std::vector<Bytes> wanted;
  for (const Bytes size : sizes)
    if (!transfers_.contains({true, size.count})) wanted.push_back(size);
  if (wanted.empty()) return;
  if (simulated()) {
    for (const bool to_device : {true, false})
      for (const Bytes size : wanted)
        transfers_[{to_device, size.count}] = simulate(one_copy(to_device, size), bench_.profile).timeline.makespan;
    return;
  }
  const EvaluateOptions options{.rounds = bench_.quick ? 7u : 21u, .progress = bench_.progress};
  for (const EvaluatedTransfer& t : evaluate_transfers(bench_.device, bench_.profile, wanted, {1}, options)) {
    if (t.wrong_bytes > 0)
      throw CheckFailed(fmt::format("copy of {}: {} bytes are wrong", shiplap::to_string(t.total), t.wrong_bytes));
    transfers_[{t.to_device, t.total.count}] = milliseconds(median(t.samples_ms));
  }
}

Workload Runner::scalar_add(Bytes in, Bytes out, Seconds kernel) {
  if (simulated()) {
    Workload workload = find_workload(scalar_add_name(in, out, 1));
    workload.job.cost = {.points = {{workload.job.items, Interval<Seconds>::exact(kernel)}}, .origin = "stated"};
    return workload;
  }
  const std::pair key{in.count, out.count};
  if (!iterations_.contains(key)) {
    // Enough for arithmetic to dominate at both.
    constexpr double few = 512;
    constexpr double many = 2048;
    const auto time = [&](double iterations) {
      Pipeline pipeline(bench_.device, find_workload(scalar_add_name(in, out, static_cast<std::uint64_t>(iterations))));
      return pipeline.probe_kernel(bench_.limits).at(pipeline.workload().job.items).count();
    };
    const double at_few = time(few);
    const double each = (time(many) - at_few) / (many - few);
    iterations_[key] = {at_few - each * few, each};
  }
  const auto [fixed, each] = iterations_.at(key);
  const double wanted = each > 0 ? std::round((kernel.count() - fixed) / each) : 1;
  return find_workload(scalar_add_name(in, out, static_cast<std::uint64_t>(std::clamp(wanted, 1.0, 1e6))));
}

Seconds Runner::per_stream(Layout layout) {
  if (const auto known = per_stream_.find(layout); known != per_stream_.end()) return known->second;
  const Bytes size = 15_MiB;
  const Seconds copies = transfer(true, size) + transfer(false, size);
  const Found found = run(scalar_add(size, size, copies / 10), sweep(all_layouts, few_counts));
  for (const Layout l : all_layouts) {
    std::vector<LinePoint> points;
    for (const Timed& t : found.times(l)) {
      const Seconds without =
          gomez_luna_2012::streamed_time(found.work_in(t.streams, Seconds{0}), t.streams, architecture_of(l));
      points.push_back({static_cast<double>(t.streams), t.ms - in_milliseconds(without), 1});
    }
    if (points.size() < 2) throw Unsupported("too few numbers of streams could run to tell what a stream costs");
    // Not less than the clock can tell; the paper's optima need something.
    per_stream_[l] = std::max(microseconds(0.1), milliseconds(fit_line(points).slope.value));
  }
  return per_stream_.at(layout);
}

void Runner::state_kernel(Workload& workload, Seconds whole) const {
  const GpuModel& gpu = bench_.profile.gpus.front();
  if (!simulated() || !workload.job.cost.points.empty() || (gpu.memory_bandwidth && gpu.flop_rate)) return;
  workload.job.cost = {.points = {{workload.job.items, Interval<Seconds>::exact(whole)}}, .origin = "stated"};
}

void Runner::verify_small(const std::string& name) {
  require_link(bench_.profile);
  if (!simulated()) return;
  Workload workload = find_workload(name);
  workload.job.cost = {.points = {{workload.job.items, Interval<Seconds>::exact(milliseconds(1))}}, .origin = "stated"};
  const std::array<std::uint32_t, 2> counts{2, 4};
  const EvaluatedWorkload observed = observe(bench_, std::move(workload), sweep(all_layouts, counts));
  if (!observed.not_run.empty()) throw Unsupported(fmt::format("{}: {}", observed.name, observed.not_run));
}

std::vector<Finding> unchecked(std::span<const std::string_view> claims, const std::string& why) {
  std::vector<Finding> findings;
  for (const std::string_view claim : claims) findings.push_back(unknown(claim, why));
  return findings;
}

}  // namespace shiplap::experiments::gomez_luna
