// Runs workloads: measured alternately on a GPU, simulated on a virtual device.
#include "experiments/gomezluna2012/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>

#include "experiments/in_turn.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/evaluate.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/pipeline/workload_data.hpp"
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
  const StreamId stream = schedule.add_stream("copies");
  const Region h{host, Bytes{0}, size};
  const Region d{gpu, Bytes{0}, size};
  schedule.add(
      {.what = to_device ? Copy{h, d} : Copy{d, h}, .stream = stream, .agent = AgentId{0}, .after = {}, .chunk = 0});
  return schedule;
}

std::string scalar_add_name(Bytes in, Bytes out, std::uint64_t iterations) {
  return fmt::format("scalar-add:in={},out={},iterations={}", in.count, out.count, iterations);
}

/// Copies of whole arrays in one stream, between host memory and separate device memory.
class ArrayCopies {
 public:
  ArrayCopies(Device& device, const Job& job, bool to_device, const std::function<bool(const Array&)>& which) {
    Schedule copies;
    Schedule loads;
    std::vector<std::byte*> given;
    for (const Array& array : job.arrays) {
      if (!which(array)) continue;
      gpu_.push_back(device.allocate(Place::gpu(), MemoryKind::device, array.size));
      given.insert(given.end(), {array.data, gpu_.back().data()});
      for (const bool loading : {false, true}) {
        Schedule& schedule = loading ? loads : copies;
        const Region host{schedule.add_buffer(
                              {.name = array.name, .place = Place::host(), .memory = array.memory, .size = array.size}),
                          Bytes{0}, array.size};
        const Region gpu{schedule.add_buffer({.name = array.name + " on the GPU",
                                              .place = Place::gpu(),
                                              .memory = MemoryKind::device,
                                              .size = array.size}),
                         Bytes{0}, array.size};
        if (schedule.streams.empty()) schedule.add_stream("copies");
        schedule.add({.what = loading || to_device ? Copy{host, gpu} : Copy{gpu, host},
                      .stream = StreamId{0},
                      .agent = AgentId{0},
                      .after = {},
                      .chunk = 0});
      }
    }
    if (given.empty()) return;
    // The device memory gets the arrays' content, so that copies back do not change it.
    Prepared(device, std::move(loads), given, {}).run();
    prepared_.emplace(device, std::move(copies), given, KernelBinding{});
  }
  /// Runs the copies and returns the time in ms.
  double run() { return prepared_ ? in_milliseconds(prepared_->run().timeline.makespan) : 0; }

 private:
  std::vector<Memory> gpu_;
  std::optional<Prepared> prepared_;
};

/// A workload on a GPU, with its stages and all choices ready to run alternately. Each is verified once.
class Observation {
 public:
  Observation(const Bench& bench, const Workload& workload, const std::vector<Choice>& choices)
      : data_(bench.device, workload) {
    const Limits limits = bench.limits.fraction(2, 5);
    found_.cost = workload.job.cost;
    if (found_.cost.points.empty()) found_.cost = probe_kernel(bench.device, data_.job(), limits);
    data_.set_cost(found_.cost);
    make_ready(bench.device, unstreamed(), limits);
    for (const Choice& choice : choices) try {
        make_ready(bench.device, choice, limits);
      } catch (const CheckFailed&) {
        throw;
      } catch (const Error& why) {
        found_.skipped.push_back(fmt::format("{}: {}", shiplap::to_string(choice), why.what()));
      }
    const Job& job = data_.job();
    const auto in = [](const Array& a) { return is_input(a.role) && a.role != Role::broadcast; };
    copies_.emplace_back(bench.device, job, true, in);
    copies_.emplace_back(bench.device, job, true, [](const Array& a) { return a.role == Role::broadcast; });
    copies_.emplace_back(bench.device, job, false, [](const Array& a) { return is_output(a.role); });
    kernel_.emplace(prepare_kernel(bench.device, data_.job(), bench.limits.fraction(1, 10)));
    launch_ = prepare_empty_launch(bench.device);

    std::vector<TimedRun> runs;
    for (ArrayCopies& copies : copies_) runs.emplace_back([&copies] { return copies.run(); });
    runs.emplace_back([this] { return in_milliseconds(kernel_->run({.hold = true}).timeline.makespan); });
    runs.emplace_back([this] { return in_milliseconds(launch_->run({.hold = true}).timeline.makespan); });
    for (Ready& ready : ready_)
      runs.emplace_back([&ready] { return in_milliseconds(ready.prepared.run().timeline.makespan); });
    turns_.emplace(std::move(runs));
  }

  InTurn& turns() { return *turns_; }

  /// Returns the times. Throws CheckFailed when the results of the last runs differ from those of the first.
  Found found() const {
    if (const std::string difference = data_.verify(); !difference.empty())
      throw CheckFailed(fmt::format("{}: {}", data_.job().name, difference));
    Found found = found_;
    const auto time = [&](std::size_t i) { return milliseconds(turns_->of(i).ms); };
    found.before = time(1);
    found.stages = {.h2d = time(0), .kernel = std::max(Seconds{0}, time(3) - time(4)), .d2h = time(2)};
    for (const std::size_t i : {0u, 2u, 3u}) found.stages_steady = found.stages_steady && turns_->of(i).steady;
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      const Settled s = turns_->of(stages + i);
      const ChoiceTime run{
          .choice = ready_[i].choice, .time = milliseconds(s.ms), .noise = s.noise, .steady = s.steady};
      if (i == 0)
        found.alone = run;
      else
        found.runs.push_back(run);
    }
    return found;
  }

 private:
  static constexpr std::size_t stages = 5;
  struct Ready {
    Choice choice;
    Prepared prepared;
  };

  void make_ready(Device& device, const Choice& choice, const Limits& limits) {
    Ready ready{choice, prepare(device, data_.job(), choice, limits)};
    data_.refill();
    ready.prepared.run();
    if (const std::string difference = data_.verify(); !difference.empty())
      throw CheckFailed(fmt::format("{}, {}: {}", data_.job().name, shiplap::to_string(choice), difference));
    ready_.push_back(std::move(ready));
  }

  WorkloadData data_;
  Found found_;
  std::deque<Ready> ready_;  // the runs point to these elements
  std::deque<ArrayCopies> copies_;
  std::optional<Prepared> kernel_;
  std::unique_ptr<Execution> launch_;
  std::optional<InTurn> turns_;
};

void require_link(const Profile& profile) {
  if (profile.links.empty()) profile.link(0);  // throws an Error that names what is missing
}

}  // namespace

Found Runner::run(const Workload& workload, const std::vector<Choice>& choices) {
  return run(std::vector<Asked>{{workload, choices}}).front();
}

std::vector<Found> Runner::run(const std::vector<Asked>& asked) {
  require_link(bench_.profile);
  std::vector<Found> all;
  if (simulated())
    for (const auto& [workload, choices] : asked) all.push_back(simulated_run(workload, choices));
  else
    all = observed_runs(asked);
  for (std::size_t i = 0; i < all.size(); ++i) complete(all[i], asked[i].workload.job);
  return all;
}

void Runner::complete(Found& found, const Job& job) {
  found.items = job.items;
  Job costed = job;
  costed.cost = found.cost;
  const auto simulated_time = [&](const Schedule& schedule) {
    return simulate(schedule, bench_.profile).timeline.makespan;
  };
  found.handing_over =
      simulated_time(find_strategy(unstreamed().strategy).schedule(costed, unstreamed(), bench_.limits)) -
      found.cost.launch_time(job.items);
  for (const Array& array : job.arrays) {
    const bool in = is_input(array.role) || array.role == Role::broadcast;
    if (in) found.handing_over -= simulated_time(one_copy(true, array.size));
    if (is_output(array.role)) found.handing_over -= simulated_time(one_copy(false, array.size));
  }
  found.handing_over = std::max(Seconds{0}, found.handing_over);
  if (found.alone) found.alone->time -= found.before;
  for (ChoiceTime& r : found.runs) r.time -= found.before;
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
  Found found{.stages = stages_of(job, job.cost.launch_time(job.items)), .cost = job.cost};
  found.alone = ChoiceTime{.choice = unstreamed(), .time = time(unstreamed())};
  for (const Array& array : job.arrays)
    if (array.role == Role::broadcast) found.before += transfer(true, array.size);
  for (const Choice& choice : choices) {
    try {
      found.runs.push_back({.choice = choice, .time = time(choice)});
    } catch (const UsageError& why) {
      found.skipped.push_back(fmt::format("{}: {}", shiplap::to_string(choice), why.what()));
    }
  }
  return found;
}

std::vector<Found> Runner::observed_runs(const std::vector<Asked>& asked) {
  std::vector<std::unique_ptr<Observation>> all;
  std::vector<InTurn*> turns;
  for (const auto& [workload, choices] : asked) {
    if (bench_.progress) bench_.progress(workload.job.name, all.size(), asked.size());
    all.push_back(std::make_unique<Observation>(bench_, workload, choices));
    turns.push_back(&all.back()->turns());
  }
  settle(turns, bench_.quick ? 5 : 7);
  std::vector<Found> found;
  for (const auto& one : all) found.push_back(one->found());
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
    // Both numbers of iterations are large enough for arithmetic to dominate.
    constexpr double few = 512;
    constexpr double many = 2048;
    const auto time = [&](double iterations) {
      WorkloadData data(bench_.device, find_workload(scalar_add_name(in, out, static_cast<std::uint64_t>(iterations))));
      return probe_kernel(bench_.device, data.job(), bench_.limits).launch_time(data.job().items).count();
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
    // The value is at least the resolution of the clock, because the paper's optima divide by it.
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
