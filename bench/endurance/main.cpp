// Runs what programs leave running: batches without end, a prepared job again and again, runs in threads of their own,
// direct moves of blocks, and whole jobs from plan to destruction. Memory, files, threads and the time of a step must
// not grow.
//   endurance DEVICE PROFILE OUT.json STEPS
// Exit code 2 when something grows.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/endurance/gpu.hpp"
#include "bench/endurance/process.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/pipeline/move.hpp"
#include "shiplap/pipeline/run_async.hpp"
#include "shiplap/shiplap.hpp"
#include "shiplap/workload/workload.hpp"

namespace {

using namespace shiplap;
using endurance::Holdings;
using endurance::holdings;

constexpr std::uint64_t parts = 20;  ///< parts of a run that are compared
constexpr std::uint64_t allowed_bytes = 256 << 10;
constexpr double allowed_slowdown = 1.15;

KernelCost short_kernel(const Job& job) {
  return {.points = {{job.items, Interval<Seconds>::exact(microseconds(5))}}, .origin = "stated"};
}

const PlanOptions in_four{.space = {.chunks = {4}}};

/// What is held, and how long a step takes, in one part of a run.
struct Part {
  Holdings held;
  std::uint64_t on_gpu = 0;
  double step = 0;       ///< seconds of a step
  double processor = 0;  ///< processor time of a step in seconds, which other programs on the host hardly change
};

/// What the end of a run holds more than after six of its twenty parts, and how many times as long a step takes in its
/// second half as in its first.
struct Growth {
  std::int64_t heap = 0;
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
  std::int64_t on_gpu = 0;
  double slowdown = 1;

  bool holds_more() const {
    return heap > static_cast<std::int64_t>(allowed_bytes) || descriptors > 0 || threads > 0 || on_gpu > 0;
  }
  bool any() const { return holds_more() || slowdown > allowed_slowdown; }
};

double median_step(std::span<const Part> all) {
  std::vector<double> times;
  for (const Part& part : all) times.push_back(part.step);
  return median(times);
}

/// The least processor time of a step: what others do on the host makes steps longer, never shorter.
double least_time(std::span<const Part> some) {
  return std::ranges::min_element(some, {}, &Part::processor)->processor;
}

Growth growth(std::span<const Part> all) {
  const Part& early = all[parts / 4];
  const Part& late = all.back();
  const auto more = [](std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(b - a); };
  return {.heap = more(early.held.heap, late.held.heap),
          .descriptors = more(early.held.descriptors, late.held.descriptors),
          .threads = more(early.held.threads, late.held.threads),
          .on_gpu = more(early.on_gpu, late.on_gpu),
          .slowdown = least_time(all.last(parts / 2)) / least_time(all.first(parts / 2))};
}

/// Calls `some` with a number of steps, part by part.
std::vector<Part> endure(const Node& node, std::uint64_t steps, const std::function<void(std::uint64_t)>& some) {
  using Clock = std::chrono::steady_clock;
  std::vector<Part> all;
  all.reserve(parts);
  const bool is_simulated = node.device->info().is_virtual;
  const std::uint64_t each = std::max<std::uint64_t>(1, steps / parts);
  for (std::uint64_t part = 0; part < parts; ++part) {
    const Clock::time_point began = Clock::now();
    const double busy_before = endurance::processor_time();
    some(each);
    const double busy = endurance::processor_time() - busy_before;
    const std::chrono::duration<double> took = Clock::now() - began;
    all.push_back({.held = holdings(),
                   .on_gpu = is_simulated ? 0 : endurance::used_on_gpu(),
                   .step = took.count() / static_cast<double>(each),
                   .processor = busy / static_cast<double>(each)});
  }
  return all;
}

/// The job of all tests but the moves, with memory and the right results.
struct Data {
  Workload workload;
  std::vector<std::vector<std::byte>> memory{};
  std::vector<std::span<std::byte>> arrays{};

  explicit Data(std::string_view name) : workload(find_workload(name)) {
    for (Array& array : workload.job.arrays) {
      memory.emplace_back(size_on_host(array).count);
      arrays.emplace_back(memory.back());
      array.data = memory.back().data();
    }
    workload.fill(arrays);
    workload.job.cost = short_kernel(workload.job);
  }
  void require_right(std::string_view after) const {
    if (const std::string wrong = workload.verify(arrays); !wrong.empty())
      throw CheckFailed(fmt::format("{}: {}", after, wrong));
  }
};

constexpr const char* job_name = "scalar-add:in=4KiB,out=4KiB,iterations=1";

std::vector<Part> batches(const Node& node, std::uint64_t steps) {
  const Workload workload = find_workload(job_name);
  Job batch = workload.job;
  batch.cost = short_kernel(batch);
  Adaptive adaptive(node, batch, {.in_flight = 3});
  for (std::size_t slot = 0; slot < adaptive.slots(); ++slot) workload.fill(adaptive.arrays(slot));
  std::vector<Part> all =
      endure(node, steps, [&](std::uint64_t some) { adaptive.run([&](Batch& b) { return b.number < some; }); });
  for (std::size_t slot = 0; slot < adaptive.slots(); ++slot)
    if (const std::string wrong = workload.verify(adaptive.arrays(slot)); !wrong.empty())
      throw CheckFailed("batches: " + wrong);
  return all;
}

std::vector<Part> prepared_runs(const Node& node, std::uint64_t steps) {
  const Data data(job_name);
  const Plan chosen = plan(node, data.workload.job, in_four);
  Prepared prepared = prepare(*node.device, chosen, data.workload.job);
  std::vector<Part> all = endure(node, steps, [&](std::uint64_t some) {
    for (std::uint64_t i = 0; i < some; ++i) prepared.run();
  });
  data.require_right("a prepared job");
  return all;
}

std::vector<Part> runs_in_threads(const Node& node, std::uint64_t steps) {
  const Data data(job_name);
  const Plan chosen = plan(node, data.workload.job, in_four);
  Prepared prepared = prepare(*node.device, chosen, data.workload.job);
  std::vector<Part> all = endure(node, steps, [&](std::uint64_t some) {
    for (std::uint64_t i = 0; i < some; ++i) run_async(*node.device, prepared).wait();
  });
  data.require_right("runs in threads");
  return all;
}

std::vector<Part> whole_jobs(const Node& node, std::uint64_t steps) {
  const Data data(job_name);
  std::vector<Part> all = endure(node, steps, [&](std::uint64_t some) {
    for (std::uint64_t i = 0; i < some; ++i) {
      const Plan chosen = plan(node, data.workload.job, in_four);
      prepare(*node.device, chosen, data.workload.job).run();
    }
  });
  data.require_right("whole jobs");
  return all;
}

/// Moves lists of changing lengths there and back, so that choices are made and kept.
std::vector<Part> moves(const Node& node, std::uint64_t steps) {
  constexpr std::uint64_t pool_blocks = 4096;
  constexpr Bytes block{512};
  Memory pool = node.device->allocate(Place::host(), MemoryKind::pinned, Bytes{pool_blocks * block.count});
  const Memory packed = node.device->allocate(Place::gpu(), MemoryKind::device, Bytes{64 * block.count});
  node.device->fill(pool, 1);
  const BlockPool<std::byte> blocks{pool.bytes(), block};
  std::vector<std::uint32_t> index;
  std::uint64_t state = 1;
  const auto wait = [is_simulated = node.device->info().is_virtual] {
    if (!is_simulated) endurance::wait_for_gpu();
  };
  std::vector<Part> all = endure(node, steps, [&](std::uint64_t some) {
    for (std::uint64_t i = 0; i < some; ++i) {
      index.clear();
      for (std::uint64_t k = 0; k < 1 + i % 64; ++k)
        index.push_back(static_cast<std::uint32_t>((state + k * 61) % pool_blocks));
      state = state * 6364136223846793005u + 1442695040888963407u;
      move(node, blocks, index, packed.data(), nullptr);
      move_back(node, blocks, index, packed.data(), nullptr);
      if (i % 64 == 63) wait();
    }
    wait();
  });
  if (node.device->mismatches(pool, Bytes{0}, pool.size(), 1, Bytes{0}) != 0)
    throw CheckFailed("moves there and back changed the pool");
  return all;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) {
    std::cerr << "usage: endurance DEVICE PROFILE OUT.json STEPS\n";
    return 64;
  }
  const auto gpu = open(argv[1]);
  const Node node = node_of(*gpu, find_profile(argv[2]));
  const std::uint64_t steps = std::max<std::uint64_t>(parts, std::stoull(argv[4]));
  const DeviceInfo info = gpu->info();
  Json json{{"schema", "shiplap/endurance-benchmark"},
            {"version", 2},
            {"device", info.id},
            {"device_name", info.name},
            {"simulated", info.is_virtual},
            {"conditions", info.conditions},
            {"job", job_name}};
  struct Kind {
    const char* name;
    std::uint64_t share;  ///< steps for which this kind does one, because its steps cost more
    std::uint64_t most;   ///< steps of this kind at most
    std::vector<Part> (*run)(const Node&, std::uint64_t);
  };
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  bool grew = false;
  fmt::print("{:<18}{:>12}{:>12}{:>12}{:>10}{:>8}{:>9}{:>12}{:>10}\n", "", "steps", "us a step", "later/early",
             "heap, B", "files", "threads", "on GPU, B", "RSS, MiB");
  // Moves first: a profile without their figures is refused at once.
  for (const Kind& kind :
       {Kind{"moves and back", 1, any, moves}, Kind{"batches", 1, any, batches},
        Kind{"prepared runs", 1, any, prepared_runs}, Kind{"runs in threads", 50, any, runs_in_threads},
        Kind{"whole jobs", 1000, 10'000, whole_jobs}}) {
    const std::uint64_t own = std::clamp<std::uint64_t>(steps / kind.share / parts * parts, parts, kind.most);
    std::vector<Part> all = kind.run(node, own);
    Growth g = growth(all);
    // The host may have become slower meanwhile. Steps that become slower by themselves do so in every run.
    for (int again = 0; again < 2 && !g.holds_more() && g.any(); ++again) {
      all = kind.run(node, own);
      g = growth(all);
    }
    grew = grew || g.any();
    const double us = median_step(all) * 1e6;
    fmt::print("{:<18}{:>12}{:>12.2f}{:>12.3f}{:>10}{:>8}{:>9}{:>12}{:>10.1f}{}\n", kind.name, own, us, g.slowdown,
               g.heap, g.descriptors, g.threads, g.on_gpu, static_cast<double>(all.back().held.resident) / (1 << 20),
               g.any() ? "  GROWS" : "");
    std::fflush(stdout);  // the next kind takes minutes
    json["kinds"].push_back({{"kind", kind.name},
                             {"steps", own},
                             {"microseconds_of_a_step", us},
                             {"later_over_early_processor_time", g.slowdown},
                             {"heap_growth_bytes", g.heap},
                             {"descriptors_growth", g.descriptors},
                             {"threads_growth", g.threads},
                             {"gpu_growth_bytes", g.on_gpu},
                             {"resident_bytes", all.back().held.resident}});
  }
  write_file_atomically(argv[3], json.dump(1) + "\n");
  if (grew) std::cerr << "endurance: something grows with the number of steps (the lines marked GROWS)\n";
  return grew ? 2 : 0;
} catch (const shiplap::Error& error) {
  std::cerr << "endurance: " << error.what() << '\n';
  return static_cast<int>(error.code());
}
