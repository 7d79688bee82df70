// Measures the ops that the simulator handles per second on one core, and the time of a whole plan.
#include <benchmark/benchmark.h>

#include "shiplap/plan/ranking.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace {

using namespace shiplap;

Job job_of(Bytes size) {
  Job job;
  job.name = "benchmark";
  job.items = size.count / 4;
  job.arrays = {{.name = "in", .role = Role::in, .size = size, .element = Bytes{4}},
                {.name = "out", .role = Role::out, .size = size, .element = Bytes{4}}};
  job.cost = {.points = {{job.items, Interval<Seconds>::exact(size / gigabytes_per_second(100))}}, .origin = "stated"};
  job.items_per_block = 1024;
  return job;
}

void simulate_ops(benchmark::State& state, Layout layout) {
  const Profile profile = find_profile("h200");
  const Choice choice{.chunks = static_cast<std::uint32_t>(state.range(0)), .layout = layout};
  const Schedule schedule = find_strategy("streams").schedule(job_of(1_GiB), choice, limits_of(profile));
  for (auto _ : state) benchmark::DoNotOptimize(simulate(schedule, profile).timeline.makespan);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(schedule.ops.size()));
}
BENCHMARK_CAPTURE(simulate_ops, three_streams, Layout::three)->Arg(16)->Arg(256)->Arg(4096);
BENCHMARK_CAPTURE(simulate_ops, a_stream_per_chunk, Layout::per_chunk)->Arg(16)->Arg(256)->Arg(4096);

void plan_a_job(benchmark::State& state) {
  const Profile profile = find_profile("h200");
  const Job job = job_of(256_MiB);
  for (auto _ : state) benchmark::DoNotOptimize(rank(job, profile).best().predicted.value);
}
BENCHMARK(plan_a_job)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
