// Jobs on a real GPU: halo, carried and mapped arrays under many choices, runs between the caller's own work, what a
// kernel does beyond its job, and kernels that do more than enqueue.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <new>
#include <numeric>
#include <stop_token>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/pipeline/check_reach.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/pipeline/run_async.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/launches.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using JobsOnGpu = testing::OnGpu;

constexpr std::uint64_t rows = 600;
constexpr std::uint64_t columns = 1000;

__global__ void stencil(Chunk chunk, View<const double> u, View<const double> factor, View<double> out,
                        View<unsigned long long> seen) {
  const std::uint64_t column = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  const std::uint64_t row = chunk.first + blockIdx.y;
  if (column == 0 && blockIdx.y == 0) seen[0] = seen[0] * 3 + chunk.count;  // depends on the order
  if (column >= columns) return;
  const auto at = [&](std::uint64_t r) { return u[r * columns + column]; };
  double sum = factor[1] * at(row);
  if (row > 0) sum += factor[0] * at(row - 1);
  if (row > 1) sum += at(row - 2);
  if (row + 1 < rows) sum += factor[2] * at(row + 1);
  out[row * columns + column] = sum;
}

struct Stencil {
  std::vector<double> u = std::vector<double>(rows * columns);
  std::vector<double> factor{2.0, 3.0, 5.0};
  std::vector<double> out = std::vector<double>(rows * columns, -1.0);
  std::vector<unsigned long long> seen = std::vector<unsigned long long>(1, 100);

  Stencil() { std::iota(u.begin(), u.end(), 1.0); }

  auto job(Reach reach = halo(2, 1)) {
    return Job{rows, "stencil"}
        .in("u", u, reach)
        .broadcast("factor", factor)
        .out("out", out)
        .carried("seen", seen)
        .kernel([](cudaStream_t stream, Chunk chunk, auto from, auto weights, auto to, auto counted) {
          const dim3 grid(static_cast<unsigned>((columns + 255) / 256), static_cast<unsigned>(chunk.count));
          stencil<<<grid, 256, 0, stream>>>(chunk, from, weights, to, counted);
        });
  }

  void forget() {
    std::fill(out.begin(), out.end(), -1.0);
    seen[0] = 100;
  }
  void expect_right(const Schedule& schedule) const {
    for (std::uint64_t row = 0; row < rows; ++row)
      for (std::uint64_t c = 0; c < columns; c += 7) {
        double expected = factor[1] * u[row * columns + c];
        if (row > 0) expected += factor[0] * u[(row - 1) * columns + c];
        if (row > 1) expected += u[(row - 2) * columns + c];
        if (row + 1 < rows) expected += factor[2] * u[(row + 1) * columns + c];
        ASSERT_EQ(out[row * columns + c], expected) << "row " << row << ", column " << c;
      }
    unsigned long long expected = 100;
    for (const Op& op : schedule.ops)
      if (const auto* kernel = std::get_if<Kernel>(&op.what)) expected = expected * 3 + kernel->items;
    ASSERT_EQ(seen[0], expected);
  }
};

__global__ void add_one(View<float> x, std::uint64_t i) { x[i] += 1; }

TEST_F(JobsOnGpu, have_the_launches_that_their_kernel_makes) {
  std::vector<float> x(1000);
  const auto array = Job{1000, "by items"}.inout("x", x).kernel_time(microseconds(100));
  const auto twice = array.kernel([](cudaStream_t stream, Chunk chunk, auto part) {
    for (int k = 0; k < 2; ++k) add_one<<<1, 1, 0, stream>>>(part, chunk.first);
  });
  const auto for_each = array.kernel([](cudaStream_t stream, Chunk chunk, auto part) {
    for (std::uint64_t i = chunk.first; i < chunk.end(); ++i) add_one<<<1, 1, 0, stream>>>(part, i);
  });
  EXPECT_EQ(launches_of(plan(load_or_measure(*device), twice).job, 500), 2u);
  EXPECT_EQ(launches_of(plan(load_or_measure(*device), for_each).job, 500), 500u);
}

TEST_F(JobsOnGpu, bring_halos_and_carried_arrays_through_rings_of_every_size_in_repeated_runs) {
  for (const bool pageable : {true, false})
    for (const Layout layout : {Layout::three, Layout::few, Layout::per_chunk})
      for (const IssueOrder order : {IssueOrder::depth, IssueOrder::breadth})
        for (const std::uint32_t chunks : {1u, 7u, 60u})
          for (const std::uint32_t ring : {0u, 1u, 3u})
            for (const bool graph : {false, true}) {
              if (pageable && (graph || layout != Layout::three || order != IssueOrder::depth)) continue;
              Stencil stencil;
              Job job = Job(stencil.job().kernel_time(microseconds(50)));
              std::vector<Memory> locked;
              for (Array& array : job.arrays) {
                array.memory = pageable ? MemoryKind::pageable : MemoryKind::pinned;
                if (!pageable) locked.push_back(device->pin(array.data, array.size));
              }
              Choice choice{.strategy = pageable ? "staged" : "streams",
                            .chunks = chunks,
                            .layout = layout,
                            .order = order,
                            .ring = ring,
                            .threads = pageable ? 3u : 0u,
                            .graph = graph};
              SCOPED_TRACE(to_string(choice) + ", ring " + std::to_string(ring));
              Prepared prepared = prepare(*device, job, choice, {.device_memory = 64_MiB});
              for (int run = 0; run < 2; ++run) {
                stencil.forget();
                prepared.run();
                stencil.expect_right(prepared.schedule());
                if (::testing::Test::HasFatalFailure()) return;
              }
            }
}

TEST_F(JobsOnGpu, are_planned_and_run_from_vectors_and_pinned_when_that_is_asked_for) {
  Stencil stencil;
  const auto job = stencil.job();
  const Node node = node_of(*device, find_profile("h200"));
  const Plan made = plan(node, job);
  EXPECT_GT(made.job.cost.launch_time(rows), Seconds{0});  // measured
  Prepared prepared = prepare(*device, made, job);
  prepared.run();
  stencil.expect_right(prepared.schedule());
  const Plan often = plan(node, job, {.runs = 1'000'000});
  ASSERT_TRUE(often.pins);
  {
    Prepared locked = prepare(*device, often, job);
    EXPECT_EQ(device->kind_of(reinterpret_cast<const std::byte*>(stencil.u.data())), MemoryKind::pinned);
    stencil.forget();
    locked.run();
    stencil.expect_right(locked.schedule());
  }
  EXPECT_EQ(device->kind_of(reinterpret_cast<const std::byte*>(stencil.u.data())), MemoryKind::pageable);
}

__global__ void add_one(std::uint64_t n, int* x) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < n) x[i] += 1;
}

TEST_F(JobsOnGpu, run_between_what_the_callers_stream_does_before_and_after) {
  constexpr std::uint64_t n = 1 << 22;
  const Memory memory = device->allocate(Place::host(), MemoryKind::mapped, {n * sizeof(int)});
  const std::span x(reinterpret_cast<int*>(memory.data()), n);
  std::ranges::fill(x, 5);
  const auto doubled = Job{n, "twice"}
                           .inout("x", x)
                           .kernel_time(microseconds(20))
                           .kernel([](cudaStream_t stream, Chunk chunk, auto part) {
                             const auto blocks = static_cast<unsigned>((chunk.count + 255) / 256);
                             for (int i = 0; i < 2; ++i) add_one<<<blocks, 256, 0, stream>>>(chunk.count, part.data());
                           });
  Prepared prepared = prepare(*device, doubled, {.chunks = 16}, {.device_memory = 1_GiB});
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  for (int round = 1; round <= 5; ++round) {
    for (int i = 0; i < 20; ++i) add_one<<<n / 256, 256, 0, stream>>>(n, x.data());  // in host memory: slow
    Running running = run_async(*device, prepared, stream);
    add_one<<<n / 256, 256, 0, stream>>>(n, x.data());
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    running.wait();
    ASSERT_TRUE(std::ranges::all_of(x, [&](int v) { return v == 5 + round * 23; })) << round << ": " << x[0];
  }
  cudaStreamDestroy(stream);
}

TEST_F(JobsOnGpu, are_found_to_reach_beyond_what_they_say) {
  Stencil stencil;
  std::vector<double> small(12 * columns, 1.0);
  EXPECT_TRUE(check_reach(*device, stencil.job()).empty());
  const auto found = check_reach(*device, stencil.job(halo(1, 1)));  // it reads two rows before
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, Undeclared::Kind::read);
  EXPECT_EQ(found[0].array, "u");
  EXPECT_EQ(found[0].result, "out");
  PlanOptions options;
  options.check_reach = true;
  EXPECT_THROW(plan(node_of(*device, find_profile("h200")), stencil.job(own_items), options), CheckFailed);
}

TEST_F(JobsOnGpu, are_refused_with_the_name_of_the_call_when_the_kernel_waits) {
  Stencil stencil;
  const auto job = stencil.job();
  const auto waiting = job.kernel([](cudaStream_t stream, Chunk, auto...) { cudaStreamSynchronize(stream); });
  const std::string message = message_of([&] { plan(node_of(*device, find_profile("h200")), waiting); });
  EXPECT_NE(message.find("must only enqueue"), std::string::npos) << message;
  EXPECT_NE(message.find("cudaStreamSynchronize"), std::string::npos) << message;
  EXPECT_NO_THROW(plan(node_of(*device, find_profile("h200")), job));
}

__global__ void one_more(Chunk chunk, View<const float> x, View<float> y) {
  const std::uint64_t i = chunk.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < chunk.end()) y[i] = x[i] + 1;
}

TEST_F(JobsOnGpu, hand_arrays_on_the_gpu_to_each_other_and_copy_nothing_of_them) {
  constexpr std::uint64_t n = 1 << 20;
  const Node node = load_or_measure(*device);
  std::vector<float> state(n, 1.0f);
  float* here = nullptr;
  float* there = nullptr;
  ASSERT_EQ(cudaMalloc(&here, n * sizeof(float)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&there, n * sizeof(float)), cudaSuccess);
  const auto grows = [](cudaStream_t stream, Chunk chunk, auto x, auto y) {
    one_more<<<static_cast<unsigned>((chunk.count + 255) / 256), 256, 0, stream>>>(chunk, x, y);
  };
  const auto begin = Job{n}.in("x", state).out("y", here, n).kernel(grows);
  const auto step = Job{n}.in("x", here, n).out("y", there, n).kernel(grows);
  const auto back = Job{n}.in("x", there, n).out("y", here, n).kernel(grows);
  const auto end = Job{n}.in("x", here, n).out("y", state).kernel(grows);
  Prepared first = prepare(*device, plan(node, begin), begin);
  Prepared one = prepare(*device, plan(node, step), step);
  Prepared other = prepare(*device, plan(node, back), back);
  Prepared last = prepare(*device, plan(node, end), end);
  first.run();
  for (int i = 0; i < 500; ++i) {
    one.run();
    other.run();
  }
  last.run();
  EXPECT_TRUE(std::ranges::all_of(state, [](float v) { return v == 1003; })) << state[0];
  for (const Prepared* stays : {&one, &other})
    EXPECT_TRUE(std::ranges::none_of(stays->schedule().ops,
                                     [](const Op& op) { return std::holds_alternative<Copy>(op.what); }));
  EXPECT_TRUE(check_reach(*device, step).empty());
  const auto longer = Job{2 * n}.in("x", here, std::uint64_t{1} << 40).out("y", there, n).kernel(grows);
  EXPECT_NE(message_of([&] { plan(node, longer); }), "") << "it reaches beyond the memory";
  cudaFree(here);
  cudaFree(there);
}

// As code that was loaded from PTX does, or CuPy and Triton.
TEST_F(JobsOnGpu, name_the_refused_call_of_the_driver_by_which_a_kernel_waits) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuStreamSynchronize", &found, 7000, cudaEnableDefault, &result),
            cudaSuccess);
  using Wait = int(void*);
  auto* const wait = reinterpret_cast<Wait*>(found);
  Stencil stencil;
  const auto waiting = stencil.job().kernel([wait](cudaStream_t stream, Chunk, auto...) { wait(stream); });
  const std::string message = message_of([&] { plan(node_of(*device, find_profile("h200")), waiting); });
  EXPECT_NE(message.find("cuStreamSynchronize"), std::string::npos) << message;
}

// Memory of the GPU for each stream, which grows when a call needs more, as that of an allocator does.
class Scratch {
 public:
  float* take(cudaStream_t stream, std::uint64_t floats) {
    auto& [memory, size] = of_stream_[stream];
    if (size < floats) {
      if (cudaMalloc(&memory, floats * sizeof(float)) != cudaSuccess) throw std::bad_alloc();
      all_.push_back(memory);
      size = floats;
    }
    return memory;
  }
  void release() {
    for (float* memory : all_) cudaFree(memory);
  }

 private:
  std::map<cudaStream_t, std::pair<float*, std::uint64_t>> of_stream_;
  std::vector<float*> all_;
};

__global__ void add_one(std::uint64_t n, const float* x, float* y) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}

TEST_F(JobsOnGpu, are_planned_and_run_uncaptured_when_their_kernel_allocates) {
  const Node node = node_of(*device, find_profile("h200"));
  const std::uint64_t n = 32 << 20;
  auto x = pinned_vector<float>(*device, n);
  auto y = pinned_vector<float>(*device, n);
  for (std::uint64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 4096);
  Scratch scratch;
  auto job = Job{n, "allocates"}.in("x", x).out("y", y).kernel(
      [&scratch](cudaStream_t stream, Chunk chunk, auto from, auto to) {
        float* between = scratch.take(stream, chunk.count);
        const auto blocks = static_cast<unsigned>((chunk.count + 255) / 256);
        add_one<<<blocks, 256, 0, stream>>>(chunk.count, from.data(), between);
        add_one<<<blocks, 256, 0, stream>>>(chunk.count, between, to.data());
      });
  EXPECT_THROW(plan(node, job), Error);  // a stream cannot capture the allocation
  job.capturable = false;
  const Plan made = plan(node, job);
  for (const Candidate& candidate : made.ranking.candidates) EXPECT_FALSE(candidate.choice.graph);
  run(*device, made, job);
  for (std::uint64_t i = 0; i < n; i += 997) ASSERT_EQ(y[i], static_cast<float>(i % 4096) + 2) << i;
  scratch.release();
}

// Libraries compile and load other code for large arrays, for instance with wider indices.
TEST_F(JobsOnGpu, are_planned_when_their_kernel_first_waits_for_the_gpu_at_a_large_size) {
  const Node node = node_of(*device, find_profile("h200"));
  const std::uint64_t n = 32 << 20;
  auto x = pinned_vector<float>(*device, n, 1.0f);
  auto y = pinned_vector<float>(*device, n);
  bool loaded = false;
  const auto job = Job{n, "loads"}.in("x", x).out("y", y).kernel([&loaded](cudaStream_t stream, Chunk chunk, auto from,
                                                                           auto to) {
    if (chunk.count >= 8 << 20 && !loaded) {
      loaded = true;
      cudaDeviceSynchronize();
    }
    add_one<<<static_cast<unsigned>((chunk.count + 255) / 256), 256, 0, stream>>>(chunk.count, from.data(), to.data());
  });
  run(*device, plan(node, job), job);
  EXPECT_TRUE(loaded);
  for (std::uint64_t i = 0; i < n; i += 997) ASSERT_EQ(y[i], 2) << i;
}

__global__ void look_up(std::uint64_t count, const unsigned* key, const float* table, float* found,
                        unsigned long long* runs) {
  const std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (i == 0) atomicAdd(runs, 1ull);
  if (i < count) found[i] = table[key[i]];
}

// A table of 64 MiB that stays takes longer to copy than the rest of a run.
TEST_F(JobsOnGpu, keep_arrays_from_run_to_run_until_they_have_changed) {
  const Node node = node_of(*device, find_profile("h200"));
  const std::uint64_t n = 1 << 20;
  auto key = pinned_vector<unsigned>(*device, n);
  auto found = pinned_vector<float>(*device, n);
  for (std::uint64_t i = 0; i < n; ++i) key[i] = static_cast<unsigned>(i * 16 + i % 16);
  auto table = pinned_vector<float>(*device, 16 << 20);
  std::ranges::fill(table, 1.0f);
  auto runs = pinned_vector<unsigned long long>(*device, 1);
  const auto job = Job{n, "lookup"}
                       .in("key", key)
                       .kept("table", table)
                       .kept_state("runs", runs)
                       .out("found", found)
                       .kernel_time(microseconds(100))
                       .kernel([](cudaStream_t stream, Chunk chunk, auto k, auto t, auto r, auto f) {
                         look_up<<<static_cast<unsigned>((chunk.count + 255) / 256), 256, 0, stream>>>(
                             chunk.count, k.data(), t.data(), f.data(), r.data());
                       });
  Prepared prepared = prepare(*device, job, {.strategy = "streams", .chunks = 4}, node.limits);
  const Seconds first = prepared.run().timeline.makespan;
  const auto all_are = [&](float value) { return std::ranges::all_of(found, [&](float f) { return f == value; }); };
  EXPECT_TRUE(all_are(1));
  std::ranges::fill(table, 2.0f);
  for (int run = 0; run < 20; ++run) EXPECT_LT(prepared.run().timeline.makespan, milliseconds(1)) << first.count();
  EXPECT_TRUE(all_are(1)) << "the copy on the GPU";
  prepared.changed("table");
  prepared.run();
  EXPECT_TRUE(all_are(2));
  EXPECT_EQ(runs[0], 0u);
  prepared.fetch("runs");
  EXPECT_EQ(runs[0], 22 * 4u);
}

}  // namespace
}  // namespace shiplap
