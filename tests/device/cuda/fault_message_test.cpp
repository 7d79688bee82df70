// What a run or an allocation says and leaves behind when a kernel's function throws or memory is short. Needs no GPU:
// every call is faked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/cuda/faults.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using testing::fake_cuda;
using testing::FakeCuda;
using testing::fault_chunks;
using testing::FaultMemory;
using testing::faults;
using testing::faulty_api;
using ::testing::HasSubstr;
using ::testing::Not;

struct OnFakeGpus : ::testing::Test {
  OnFakeGpus() {
    fake_cuda().devices = 2;
    device = open_cuda(std::vector{0, 1}, api);
  }

  Api api = faulty_api();
  std::unique_ptr<Device> device;
};
using ThrowingKernel = OnFakeGpus;
using ShortMemory = OnFakeGpus;
using FailedRun = OnFakeGpus;

/// Puts `what` in front of the kernel, for one chunk.
void before_chunk(FaultMemory& memory, std::uint64_t chunk, const std::function<void()>& what) {
  for (KernelBinding& kernel : memory.bindings.kernels)
    kernel.cuda = [chunk, what, then = kernel.cuda](const Launch& l) {
      if (l.first_item == chunk) what();
      then(l);
    };
}

const auto refuse = [] { throw std::runtime_error("no such item"); };

TEST_F(ThrowingKernel, is_named_and_leaves_whole_chunks_and_an_execution_that_runs_again) {
  const Schedule schedule = testing::three_streams_inverting();
  FaultMemory memory(*device, api, schedule, true);
  const Bindings good = memory.bindings;
  device->prepare(schedule, good)->run({.hold = true});  // the gate stays with the device
  const int before = fake_cuda().live();
  bool throws = true;
  before_chunk(memory, 1, [&] { throws ? refuse() : void(); });
  for (const RunOptions& options : {RunOptions{}, RunOptions{.hold = true}, RunOptions{.trace = Trace::events}}) {
    const auto execution = device->prepare(schedule, memory.bindings);
    throws = true;
    memory.reset();
    fake_cuda().gate_open_at_wait.clear();
    EXPECT_THAT(message_of([&] { execution->run(options); }), HasSubstr("invert of chunk 1 (op 4): no such item"));
    for (const bool open : fake_cuda().gate_open_at_wait) EXPECT_TRUE(open) << "the host waits behind a closed gate";
    EXPECT_TRUE(memory.is_complete(0));
    for (const std::uint32_t chunk : {1u, 2u}) EXPECT_TRUE(memory.is_untouched(chunk)) << chunk;
    throws = false;
    execution->run(options);
    memory.expect_output();
  }
  EXPECT_EQ(fake_cuda().live(), before);
}

TEST_F(ThrowingKernel, stops_the_other_host_thread) {
  for (const Schedule& schedule : {testing::host_agents_inverting(), testing::two_gpus_inverting_twice()}) {
    FaultMemory memory(*device, api, schedule, schedule.streams.size() == 2);
    bool throws = true;
    before_chunk(memory, 2, [&] { throws ? refuse() : void(); });
    const auto execution = device->prepare(schedule, memory.bindings);
    EXPECT_THAT(message_of([&] { execution->run(); }), HasSubstr("of chunk 2 (op "));
    memory.expect_whole_chunks();
    throws = false;
    execution->run();
    memory.expect_output();
  }
}

TEST_F(ThrowingKernel, leaves_no_capture_behind_when_a_graph_is_made) {
  Schedule schedule = testing::three_streams_inverting();
  schedule.as_graph = true;
  FaultMemory memory(*device, api, schedule, true);
  const Bindings good = memory.bindings;
  const int before = fake_cuda().live();
  before_chunk(memory, 1, refuse);
  EXPECT_THAT(message_of([&] { device->prepare(schedule, memory.bindings); }), HasSubstr("(op 4): no such item"));
  EXPECT_EQ(fake_cuda().live(), before);
  EXPECT_EQ(fake_cuda().count("stream_end_capture"), 1u);
  device->prepare(schedule, good)->run();
  memory.expect_output();
}

TEST_F(ThrowingKernel, is_named_whatever_it_throws) {
  const Schedule schedule = testing::three_streams_inverting();
  FaultMemory memory(*device, api, schedule, true);
  before_chunk(memory, 1, [] { throw 42; });
  const auto execution = device->prepare(schedule, memory.bindings);
  EXPECT_THAT(message_of([&] { execution->run(); }), HasSubstr("invert of chunk 1 (op 4)"));
}

TEST_F(ThrowingKernel, that_says_what_the_device_cannot_do_is_taken_at_its_word) {
  const Schedule schedule = testing::three_streams_inverting();
  FaultMemory memory(*device, api, schedule, true);
  before_chunk(memory, 1, [] { throw Unsupported("no tensor cores"); });
  const auto execution = device->prepare(schedule, memory.bindings);
  EXPECT_THAT(message_of<Unsupported>([&] { execution->run(); }), HasSubstr("(op 4): no tensor cores"));
}

// A function that throws because a call of its own has failed need not have asked for the runtime's last error.
TEST_F(ThrowingKernel, has_its_error_blamed_on_no_later_run) {
  Schedule graph = testing::three_streams_inverting();
  graph.as_graph = true;
  const Schedule two_gpus = testing::two_gpus_inverting_twice();  // its kernels are launched by the second thread
  for (const Schedule& schedule : {testing::three_streams_inverting(), graph, two_gpus}) {
    FaultMemory memory(*device, api, schedule, schedule.agents.size() == 1);
    const Bindings good = memory.bindings;
    bool throws = true;
    before_chunk(memory, 1, [&] {
      if (!throws) return;
      FakeCuda::last_error = cudaErrorInvalidConfiguration;
      refuse();
    });
    std::unique_ptr<Execution> execution;
    EXPECT_THAT(message_of([&] {
                  execution = device->prepare(schedule, memory.bindings);
                  execution->run();
                }),
                HasSubstr("no such item"));
    throws = false;
    if (execution == nullptr) execution = device->prepare(schedule, good);
    EXPECT_NO_THROW(execution->run());
    memory.expect_output();
  }
}

TEST_F(ShortMemory, of_a_gpu_is_told_with_what_is_wanted_and_what_is_free) {
  fake_cuda().free_memory = (3_MiB).count;
  const int before = fake_cuda().live();
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::managed})
    EXPECT_THAT(message_of([&] { device->allocate(Place::gpu(1), kind, 5_MiB); }),
                AllOf(HasSubstr("5 MiB of"), HasSubstr("3 MiB of 4 MiB are free on cuda:1"), HasSubstr("more chunks")));
  for (const auto& [kind, call] :
       {std::pair{MemoryKind::device, "cudaMalloc"}, {MemoryKind::managed, "cudaMallocManaged"}}) {
    faults().fail_once(call, 0);  // there is enough in all, not in one piece
    EXPECT_THAT(
        message_of([&] { device->allocate(Place::gpu(), kind, 2_MiB); }),
        AllOf(HasSubstr(call), HasSubstr("(2 MiB of"), HasSubstr("3 MiB of 4 MiB are free"), HasSubstr("more chunks")));
  }
  EXPECT_EQ(fake_cuda().live(), before);
}

TEST_F(ShortMemory, that_an_op_allocates_is_told_with_the_op) {
  const Schedule schedule = testing::host_agents_inverting();
  FaultMemory memory(*device, api, schedule, true);
  const auto execution = device->prepare(schedule, memory.bindings);
  execution->run();  // the device keeps access between the GPUs
  const int before = fake_cuda().live();
  fake_cuda().free_memory = 100;
  EXPECT_THAT(message_of([&] { execution->run(); }), AllOf(HasSubstr("(op 1)"), HasSubstr("100 B of 4 MiB are free")));
  fake_cuda().free_memory = (1_MiB).count;
  faults().fail_once("cudaMalloc", 0);
  EXPECT_THAT(message_of([&] { execution->run(); }), AllOf(HasSubstr("(op 1)"), HasSubstr("cudaMalloc failed (192 B")));
  EXPECT_EQ(fake_cuda().live(), before);
  execution->run();
  memory.expect_output();
}

TEST_F(ShortMemory, that_cannot_be_pinned_is_told_with_what_the_host_has) {
  const int before = fake_cuda().live();
  for (const auto& [kind, call] : {std::pair{MemoryKind::pinned, "cudaHostRegister"},
                                   {MemoryKind::mapped, "cudaHostRegister"},
                                   {MemoryKind::driver_pinned, "cudaHostAlloc"},
                                   {MemoryKind::write_combined, "cudaHostAlloc"}}) {
    faults().fail_once(call, 0);
    EXPECT_THAT(
        message_of([&] { device->allocate(Place::host(), kind, 512_KiB); }),
        AllOf(HasSubstr(std::string(call) + " failed (512 KiB of " + to_string(kind) + " memory)"),
              HasSubstr("of host memory are available"), Not(HasSubstr("ulimit")), Not(HasSubstr("on the GPU"))));
  }
  EXPECT_EQ(fake_cuda().live(), before);

  const Schedule schedule = testing::host_agents_inverting();
  FaultMemory memory(*device, api, schedule, true);
  const auto execution = device->prepare(schedule, memory.bindings);
  faults().fail_once("cudaHostRegister", 0);
  EXPECT_THAT(message_of([&] { execution->run(); }),
              AllOf(HasSubstr("cudaHostRegister failed (pin of chunk 0 (op 0): 192 B)"),
                    HasSubstr("of host memory are available")));
}

// --- What a run that failed leaves to the next one ---

TEST_F(FailedRun, leaves_no_thread_on_another_gpu_than_its_next_run_takes_it_for) {
  const Schedule schedule = testing::allocation_on_another_gpu_inverting();
  FaultMemory memory(*device, api, schedule, true);
  const auto execution = device->prepare(schedule, memory.bindings);
  faults().fail_once("cudaMalloc", 0);
  message_of([&] { execution->run(); });
  execution->run();
  memory.expect_output();
}

TEST_F(FailedRun, tells_that_a_stream_could_not_be_destroyed) {
  const Schedule schedule = testing::host_agents_inverting();
  FaultMemory memory(*device, api, schedule, true);
  const auto execution = device->prepare(schedule, memory.bindings);
  execution->run();  // the device keeps access between the GPUs
  const int before = fake_cuda().live();
  faults().fail_once("cudaStreamDestroy", 0);
  EXPECT_THAT(message_of([&] { execution->run(); }),
              AllOf(HasSubstr("cudaStreamDestroy failed ("), HasSubstr("(op 18)")));
  EXPECT_EQ(fake_cuda().live(), before);
}

// The GPU says only that some kernel has failed.
TEST_F(FailedRun, names_the_kernels_one_of_which_has_failed_when_all_ops_are_submitted) {
  Schedule graph = testing::three_streams_inverting();
  graph.as_graph = true;
  for (const auto& [schedule, call, before] :
       {std::tuple{testing::three_streams_inverting(), "cudaEventSynchronize", 0},
        {testing::stream_per_chunk_inverting(), "cudaStreamWaitEvent", 1},
        {graph, "cudaEventRecord", 1}}) {
    FaultMemory memory(*device, api, schedule, true);
    const auto execution = device->prepare(schedule, memory.bindings);
    faults().fail_once(call, before);
    EXPECT_THAT(
        message_of([&] { execution->run(); }),
        AllOf(HasSubstr(call), HasSubstr("behind 3 kernels, kernel invert of chunk 0 (op 1) to kernel invert of "
                                         "chunk 2 (op 7)")));
  }
}

}  // namespace
}  // namespace shiplap
