// Runs that are stopped, by their caller or by a kernel's function. Needs no GPU: every call is faked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/cuda/fault_schedules.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;
using testing::FakeCuda;
using testing::fault_chunks;
using testing::FaultMemory;
using ::testing::HasSubstr;

struct CancelFixture : ::testing::Test {
  CancelFixture() {
    fake_cuda().devices = 2;
    device = open_cuda(std::vector{0, 1}, api);
  }

  Api api = fake_api();
  std::unique_ptr<Device> device;
};
using CancelledRun = CancelFixture;

TEST_F(CancelledRun, leaves_whole_chunks_and_an_execution_that_runs_again) {
  const Schedule schedule = testing::three_streams_inverting();
  for (const bool hold : {false, true}) {
    FaultMemory memory(*device, api, schedule, true);
    const auto execution = device->prepare(schedule, memory.bindings);
    for (std::uint32_t whole = 0; whole < fault_chunks; ++whole) {
      memory.reset();
      std::uint32_t asked = 0;
      EXPECT_EQ(
          message_of<Cancelled>([&] { execution->run({.hold = hold, .stop = [&] { return asked++ == whole; }}); }),
          "the run was stopped before " + describe(schedule, OpId{3 * whole}));
      EXPECT_EQ(asked, whole + 1) << "before each chunk, until the answer is yes";
      for (std::uint32_t c = 0; c < fault_chunks; ++c)
        EXPECT_TRUE(c < whole ? memory.is_complete(c) : memory.is_untouched(c)) << c;
    }
    execution->run({.hold = hold, .stop = [] { return false; }});
    memory.expect_output();
  }
}

TEST_F(CancelledRun, is_ended_by_all_host_threads) {
  const Schedule schedule = testing::host_agents_inverting();
  FaultMemory memory(*device, api, schedule, true);
  const auto execution = device->prepare(schedule, memory.bindings);
  execution->run();  // the device keeps access between the GPUs
  const int before = fake_cuda().live();
  for (int more = 0; more < 6; ++more) {
    memory.reset();
    std::atomic<int> asked{0};
    try {
      execution->run({.stop = [&] { return asked++ >= more; }});
      memory.expect_output();
      EXPECT_LE(asked, more) << "a run that was to stop did not";
    } catch (const Cancelled&) {
      EXPECT_GT(asked, more);
    }
    memory.expect_whole_chunks();
    EXPECT_EQ(fake_cuda().live(), before) << "what ops had pinned, allocated and created";
  }
  execution->run();
  memory.expect_output();
}

TEST_F(CancelledRun, of_a_graph_has_not_launched_it) {
  Schedule graph = testing::three_streams_inverting();
  graph.as_graph = true;
  const FaultMemory memory(*device, api, graph, true);
  const auto execution = device->prepare(graph, memory.bindings);
  for (const bool hold : {false, true}) {
    fake_cuda().calls.clear();
    fake_cuda().gate_open_at_wait.clear();
    EXPECT_EQ(message_of<Cancelled>([&] { execution->run({.hold = hold, .stop = [] { return true; }}); }),
              "the run was stopped before its graph was launched");
    EXPECT_EQ(fake_cuda().count("graph_launch"), 0u);
    for (const bool open : fake_cuda().gate_open_at_wait) EXPECT_TRUE(open) << "the host waits behind a closed gate";
    execution->run({.hold = hold, .stop = [] { return false; }});
    EXPECT_EQ(fake_cuda().count("graph_launch"), 1u);
  }
}

// The last error is the thread's, and the second schedule's kernels are launched by a thread of its own.
TEST_F(CancelledRun, by_a_kernel_has_its_words_and_blames_no_later_run) {
  for (const Schedule& schedule : {testing::three_streams_inverting(), testing::two_gpus_inverting_twice()}) {
    FaultMemory memory(*device, api, schedule, schedule.agents.size() == 1);
    bool cancels = true;
    for (KernelBinding& kernel : memory.bindings.kernels)
      kernel.cuda = [&cancels, then = kernel.cuda](const Launch& l) {
        if (cancels && l.first_item == 1) {
          FakeCuda::last_error = cudaErrorInvalidConfiguration;
          throw Cancelled("nobody wants it any more");
        }
        then(l);
      };
    const auto execution = device->prepare(schedule, memory.bindings);
    EXPECT_EQ(message_of<Cancelled>([&] { execution->run(); }), "nobody wants it any more");
    memory.expect_whole_chunks();
    cancels = false;
    execution->run();
    memory.expect_output();
  }
}

}  // namespace
}  // namespace shiplap
