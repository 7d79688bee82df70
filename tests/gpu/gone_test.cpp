// The GPU goes away: a kernel of the program traps while every kind of object lives. Each of them says so, none hangs,
// and all can be destroyed. Then another process takes the memory and the link.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/device/pinned_vector.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/pipeline/check_reach.hpp"
#include "shiplap/pipeline/move.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/pipeline/run_async.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/device/cuda/gpu_fixture.hpp"
#include "tests/gpu/own_process.hpp"
#include "tests/gpu/trap_kernel.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/workload_memory.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using testing::OnGpu;
using testing::OwnProcess;

Workload small() { return find_workload("saxpy:n=65536"); }

/// Every kind of object that the library gives, made while the GPU is well.
struct Everything {
  std::unique_ptr<MeasurableDevice> device = open_cuda(0);
  Node node = node_of(*device, find_profile("h100"));
  Workload workload = small();
  std::vector<Memory> host{};
  Job job = workload.job;
  Plan made{};
  std::unique_ptr<Prepared> plain{};
  std::unique_ptr<Prepared> graph{};
  std::unique_ptr<Prepared> in_a_stream{};
  std::unique_ptr<Adaptive> adaptive{};
  Memory pool = device->allocate(Place::host(), MemoryKind::pinned, 1_MiB);
  Memory packed = device->allocate(Place::gpu(), MemoryKind::device, 1_MiB);
  StreamHandle stream = make_stream(real_api(), "of the program");

  Everything() {
    std::vector<std::span<std::byte>> arrays;
    for (Array& array : job.arrays) {
      host.push_back(device->allocate(Place::host(), MemoryKind::pinned, size_on_host(array)));
      array.data = host.back().data();
      arrays.push_back(host.back().bytes());
    }
    workload.fill(arrays);
    made = plan(node, job);
    plain = std::make_unique<Prepared>(prepare(*device, made.job, {.chunks = 4}, node.limits));
    graph = std::make_unique<Prepared>(prepare(*device, made.job, {.chunks = 4, .graph = true}, node.limits));
    in_a_stream = std::make_unique<Prepared>(prepare(*device, made.job, {.chunks = 4}, node.limits));
    adaptive = std::make_unique<Adaptive>(node, workload.job);
  }
};

// Only the test below runs it: it prints a line for each object, and "done" when all are destroyed.
TEST(GoneGpu, DISABLED_in_a_process_of_its_own) {
  auto all = std::make_unique<Everything>();
  Everything& e = *all;
  Running begun = run_async(*e.device, *e.in_a_stream, e.stream.get());
  begun.wait();
  testing::launch_trap(e.stream.get());
  Running behind = run_async(*e.device, *e.in_a_stream, e.stream.get());
  const std::vector<std::uint32_t> index{3, 1, 2};
  const BlockPool<std::byte> blocks{e.pool.bytes(), 512_B};
  const std::vector<std::pair<const char*, std::function<void()>>> uses{
      {"Running::wait", [&] { behind.wait(); }},
      {"Prepared::run", [&] { e.plain->run(); }},
      {"Prepared::run of a graph", [&] { e.graph->run(); }},
      {"Prepared::run held", [&] { e.plain->run({.hold = true}); }},
      {"Prepared::run traced", [&] { e.plain->run({.trace = Trace::events}); }},
      {"run_async", [&] { run_async(*e.device, *e.in_a_stream, e.stream.get()).wait(); }},
      {"Adaptive::run", [&] { e.adaptive->run([](Batch& batch) { return batch.number < 10; }); }},
      {"move", [&] { move(e.node, blocks, index, e.packed.data(), e.stream.get()); }},
      {"move_back", [&] { move_back(e.node, blocks, index, e.packed.data(), e.stream.get()); }},
      {"prepare", [&] { prepare(*e.device, e.made, e.job); }},
      {"plan", [&] { plan(e.node, e.job); }},
      {"run", [&] { run(*e.device, e.made, e.job); }},
      {"check_reach", [&] { check_reach(*e.device, e.job); }},
      {"measure", [&] { measure(*e.device, {}); }},
      {"Device::allocate", [&] { e.device->allocate(Place::gpu(), MemoryKind::device, 1_MiB); }},
      {"Device::allocate pinned", [&] { e.device->allocate(Place::host(), MemoryKind::pinned, 1_MiB); }},
      {"Device::fill", [&] { e.device->fill(e.packed, 1); }},
      {"pinned_vector", [&] { pinned_vector<int>(*e.device, 1000); }},
      {"open_cuda", [&] { open_cuda(0); }},
  };
  for (const auto& [name, use] : uses) {
    std::printf("%s: %s\n", name, message_of(use).c_str());
    std::fflush(stdout);
  }
  all.reset();
  std::printf("done\n");
  cudaDeviceReset();  // what it destroys must have no owner any more
  std::printf("%s\n", message_of([] { open_cuda(0); }).c_str());
  std::fflush(stdout);
  std::exit(static_cast<int>(ExitCode::failure));
}

TEST_F(OnGpu, that_goes_away_is_reported_by_every_object_and_all_are_destroyed) {
  const testing::Ended ended = OwnProcess("GoneGpu.DISABLED_in_a_process_of_its_own", {}).wait();
  EXPECT_TRUE(ended.by_itself) << "it hangs";
  ASSERT_TRUE(WIFEXITED(ended.status)) << "ended by signal " << WTERMSIG(ended.status) << "\n" << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("\ndone\n"));
  std::istringstream lines(ended.output.substr(ended.output.find("Running::wait")));
  int objects = 0;
  for (std::string line; std::getline(lines, line) && line != "done"; ++objects)
    EXPECT_THAT(line, HasSubstr("its process cannot use the GPU any more"));
  EXPECT_EQ(objects, 19) << ended.output;
  // CUDA lets no process that has lost a context have another one of the same GPU.
  EXPECT_THAT(ended.output, HasSubstr("start the process again"));
}

// --- Another process takes memory and link ---

// Only the tests below run it: takes all memory but 256 MiB, copies over the link in both directions, and never ends.
TEST(Taker, DISABLED_in_a_process_of_its_own) {
  const Api& api = real_api();
  std::size_t free = 0;
  std::size_t total = 0;
  void* taken = nullptr;
  ASSERT_EQ(api.set_device(0), cudaSuccess);
  ASSERT_EQ(api.mem_get_info(&free, &total), cudaSuccess);
  ASSERT_EQ(api.malloc_device(&taken, free - (std::size_t{256} << 20)), cudaSuccess);
  constexpr std::size_t piece = 64 << 20;
  void* host = nullptr;
  ASSERT_EQ(api.host_alloc(&host, 2 * piece, cudaHostAllocDefault), cudaSuccess);
  const StreamHandle in = make_stream(api, "a test");
  const StreamHandle out = make_stream(api, "a test");
  std::printf("taken\n");
  std::fflush(stdout);
  auto* const device = static_cast<std::byte*>(taken);
  auto* const memory = static_cast<std::byte*>(host);
  while (true) {
    ASSERT_EQ(api.memcpy_async(device, memory, piece, cudaMemcpyHostToDevice, in.get()), cudaSuccess);
    ASSERT_EQ(api.memcpy_async(memory + piece, device + piece, piece, cudaMemcpyDeviceToHost, out.get()), cudaSuccess);
    ASSERT_EQ(api.stream_synchronize(in.get()), cudaSuccess);
    ASSERT_EQ(api.stream_synchronize(out.get()), cudaSuccess);
  }
}

TEST_F(OnGpu, whose_memory_another_process_takes_runs_what_is_prepared_and_refuses_the_rest_with_numbers) {
  const Workload workload = find_workload("saxpy:n=64Mi");
  testing::WorkloadMemory memory(workload);
  Job job = memory.job();
  const std::vector<std::span<std::byte>> arrays = memory.arrays();
  for (std::size_t a = 0; a < arrays.size(); ++a) job.arrays[a].data = arrays[a].data();
  for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
  const Node node = node_of(*device, find_profile("h100"));
  const Choice all_at_once{.strategy = "pageable", .chunks = 1};
  const Choice little{.strategy = "staged", .chunks = 64, .threads = 2};
  job.cost = {.points = {{job.items, Interval<Seconds>::exact(milliseconds(1))}}, .origin = "stated"};
  Prepared before = prepare(*device, job, little, node.limits);
  before.run();
  ASSERT_EQ(workload.verify(arrays), "");
  OwnProcess taker("Taker.DISABLED_in_a_process_of_its_own", {});
  ASSERT_TRUE(taker.says("taken\n"));
  for (int round = 0; round < 5; ++round) {
    workload.fill(arrays);
    before.run();
    ASSERT_EQ(workload.verify(arrays), "") << "concurrent with copies of another process";
  }
  EXPECT_THAT(message_of([&] { prepare(*device, job, all_at_once, node.limits); }),
              ::testing::AllOf(HasSubstr("of device memory are needed and"), HasSubstr("are free on cuda:0"),
                               HasSubstr("end other programs on this GPU")));
  // A plan that is made now keeps to what is left.
  workload.fill(arrays);
  const Node now = node_of(*device, find_profile("h100"));
  run(*device, plan(now, job), job);
  EXPECT_EQ(workload.verify(arrays), "");
  taker.kill();
  workload.fill(arrays);
  for (int attempt = 0; attempt < 50; ++attempt) {  // the driver gives the memory back a little later
    try {
      prepare(*device, job, all_at_once, node.limits).run();
      break;
    } catch (const Error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  EXPECT_EQ(workload.verify(arrays), "");
}

}  // namespace
}  // namespace shiplap
