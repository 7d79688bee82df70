// A program that uses the library, to be run while one call fails: its argument names a use. Exit code 0: it was done
// and its result is right; 1: an exception said why not, and done once more it was right; 3: what must not happen.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/parallel.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/fleet/coordinator.hpp"
#include "shiplap/fleet/coordinator_loopback.hpp"
#include "shiplap/fleet/file_communicator.hpp"
#include "shiplap/fleet/worker.hpp"
#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/pipeline/run_async.hpp"
#include "shiplap/plan/strategy_map.hpp"
#include "shiplap/profile/profile.hpp"

namespace {

using namespace shiplap;
using namespace shiplap::literals;

constexpr int wrong = 3;

/// The result is not right. Not an Error, which would be taken for a message of the library.
struct WrongResult {
  std::string what;
};

void require(bool condition, const char* what) {
  if (!condition) throw WrongResult{what};
}

/// y = 2 x, on a simulated node.
struct Doubling {
  static constexpr std::uint64_t n = 4096;
  std::shared_ptr<MeasurableDevice> device;
  Node node;
  pinned_vector<int> pinned_x{*device, n};
  pinned_vector<int> pinned_y{*device, n, -1};
  std::vector<int> pageable_x = std::vector<int>(n);
  std::vector<int> pageable_y = std::vector<int>(n, -1);
  std::span<int> x;
  std::span<int> y;

  Doubling(const std::string& profile, MemoryKind memory = MemoryKind::pinned)
      : device(open("virtual:" + profile)), node(node_of(*device, find_profile(profile))) {
    const bool pinned = memory == MemoryKind::pinned;
    x = pinned ? std::span(pinned_x.data(), n) : std::span(pageable_x);
    y = pinned ? std::span(pinned_y.data(), n) : std::span(pageable_y);
    std::iota(x.begin(), x.end(), 1);
  }
  Job job() {
    return Job{n, "doubling"}
        .in("x", x)
        .out("y", y)
        .kernel_time(microseconds(10))
        .host_kernel([](Chunk chunk, View<const int> from, View<int> to) {
          for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) to[i] = 2 * from[i];
        });
  }
  void require_result() const {
    for (std::uint64_t i = 0; i < n; ++i) require(y[i] == 2 * x[i], "an output is wrong");
  }
  /// An output that was not written, in whole or in part, has its old value there.
  void require_whole_or_old() const {
    for (std::uint64_t i = 0; i < n; ++i) require(y[i] == 2 * x[i] || y[i] == -1, "an output is neither old nor right");
  }
};

const char* const old_gpu = "gtx-titan-2014";
const char* const node_file = "node.json";

PlanOptions in_four(const char* strategy) {
  return {.space = {.strategies = {strategy},
                    .chunks = {4},
                    .layouts = {Layout::three},
                    .orders = {IssueOrder::depth},
                    .ramps = {Ramp{}},
                    .threads = {2}},
          .may_pin = false};
}

void use_plan() {
  Doubling doubling(old_gpu);
  const Plan made = plan(doubling.node, doubling.job(), in_four("streams"));
  require(made.chosen.choice.chunks == 4, "the plan has another choice");
}

void run_with(const char* profile, const char* strategy, MemoryKind memory) {
  Doubling doubling(profile, memory);
  const Job job = doubling.job();
  const Plan made = plan(doubling.node, job, in_four(strategy));
  try {
    run(*doubling.device, made, job, {.repeats = 2});
  } catch (...) {
    doubling.require_whole_or_old();
    throw;
  }
  doubling.require_result();
}

void use_run() { run_with(old_gpu, "streams", MemoryKind::pinned); }
void use_run_staged() { run_with(node_file, "staged", MemoryKind::pageable); }

void use_run_async() {
  Doubling doubling(old_gpu);
  const Job job = doubling.job();
  Prepared prepared = prepare(*doubling.device, plan(doubling.node, job, in_four("streams")), job);
  try {
    run_async(*doubling.device, prepared).wait();
  } catch (...) {
    doubling.require_whole_or_old();
    throw;
  }
  doubling.require_result();
}

void use_race() {
  Doubling doubling(old_gpu);
  const Job job = doubling.job();
  PlanOptions options = in_four("streams");
  options.space.chunks = {2, 4};
  options.race = microseconds(1);
  const Plan made = plan(doubling.node, job, options);
  run(*doubling.device, made, job);
  doubling.require_result();
}

void use_adaptive() {
  Doubling doubling(old_gpu);
  AdaptiveOptions options{.choices = {{.strategy = "explicit"}, {.strategy = "streams", .chunks = 4}}};
  Adaptive adaptive(doubling.node, doubling.job(), options);
  std::string log;
  adaptive.log_to([&](std::string_view line) { log += line; });
  constexpr std::uint64_t batches = 8;
  std::uint64_t ended = 0;
  const auto ints = [](std::span<std::byte> bytes) {
    return std::span(reinterpret_cast<int*>(bytes.data()), bytes.size() / sizeof(int));
  };
  const auto run_all = [&] {
    ended = 0;
    adaptive.run(
        [&](Batch& batch) {
          std::ranges::fill(ints(batch.arrays[0]), static_cast<int>(batch.number));
          return batch.number < batches;
        },
        [&](const Batch& batch) {
          require(batch.number == ended++, "a batch is out of order");
          for (const int value : ints(batch.arrays[1]))
            require(value == 2 * static_cast<int>(batch.number), "a result is wrong");
        });
    require(ended == batches, "a batch is missing");
  };
  try {
    run_all();
  } catch (const std::exception&) {
    for (std::size_t slot = 0; slot < adaptive.slots(); ++slot) require(adaptive.is_free(slot), "a slot is not free");
    run_all();  // the same object is usable
    throw;
  }
}

void use_strategy_map() {
  const StrategyMap map = strategy_map(find_profile(old_gpu), {.sizes = {1_MiB, 2_MiB}, .kernels = {milliseconds(1)}});
  require(map.cells.size() == 2, "a cell is missing");
  for (const MapCell& cell : map.cells) require(!cell.best.empty(), "a cell is empty");
}

void use_parallel() {
  std::vector<std::atomic<int>> seen(1000);
  parallel_for(seen.size(), 10, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) ++seen[i];
  });
  for (const auto& times : seen) require(times == 1, "an index was left out or seen twice");
}

Json a_check() { return read_json_file("check.json"); }

void use_fleet() {
  const auto devices = [] { return std::vector<RankDevice>{{"cuda:0", "00:01"}, {"cuda:1", "00:02"}}; };
  RankWork own{.node = "n0",
               .program = "1",
               .devices = devices,
               .check = [](const std::string&) { return a_check(); },
               .copy_at_once = [](const std::string&, Seconds) { return a_check(); }};
  CoordinatorOptions options{.begin_within = milliseconds(500),
                             .budget = milliseconds(500),
                             .grace = milliseconds(500),
                             .at_once = true,
                             .program = "1"};
  FleetRun done;
  {
    FileCommunicator ranks("shared", "run", 0, 1);
    done = coordinate_and_work(ranks, options, own, Seconds{5});
  }
  if (!done.failed.empty()) throw Error(done.failed.front());
  if (!done.missing.empty()) throw Error(done.missing.front());
  require(done.results.size() >= 2, "a check is missing");
}

struct Use {
  const char* name;
  void (*act)();
};
constexpr Use uses[] = {
    {"plan", use_plan},  {"run", use_run},           {"run_staged", use_run_staged},     {"run_async", use_run_async},
    {"race", use_race},  {"adaptive", use_adaptive}, {"strategy_map", use_strategy_map}, {"parallel", use_parallel},
    {"fleet", use_fleet}};

/// Blocks of memory that were given and not taken back. 0 without the library that makes calls fail.
long live_blocks() {
  static const auto count = reinterpret_cast<long (*)()>(dlsym(RTLD_DEFAULT, "shiplap_faults_live_blocks"));
  return count == nullptr ? 0 : count();
}
/// From here on calls can fail.
void begin_faults() {
  if (const auto begin = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "shiplap_faults_begin"))) begin();
}

/// Whether the use was done. Otherwise it says why not.
bool done(const Use& use, const char* when) {
  try {
    use.act();
    return true;
  } catch (const Error& error) {
    std::fprintf(stderr, "shiplap: %s%s\n", when, error.what());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "shiplap: %sthe host has not enough memory\n", when);
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Use& use : uses) {
    if (argc != 2 || std::strcmp(argv[1], use.name) != 0) continue;
    try {
      // What is made once for the process is made now.
      use.act();
      const long live = live_blocks();
      begin_faults();
      const bool was_done = done(use, "");
      require(live_blocks() <= live, "memory was not given back");
      if (was_done) return std::puts("done") < 0 ? 1 : 0;
      done(use, "again: ");
      return 1;
    } catch (const WrongResult& result) {
      std::fprintf(stderr, "wrong: %s\n", result.what.c_str());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "no error of shiplap: %s\n", error.what());
    }
    return wrong;
  }
  std::fprintf(stderr, "there is no such use\n");
  return wrong;
}
