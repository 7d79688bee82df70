// What a run or an allocation says and leaves behind when a kernel's function throws or memory is short. Needs no GPU:
// every call is faked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using ShortMemory = OnFakeGpus;
using FailedRun = OnFakeGpus;

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

TEST_F(FailedRun, tells_that_a_stream_could_not_be_made_or_destroyed) {
  const Schedule schedule = testing::host_agents_inverting();
  FaultMemory memory(*device, api, schedule, true);
  const auto execution = device->prepare(schedule, memory.bindings);
  execution->run();  // the device keeps access between the GPUs
  const int before = fake_cuda().live();
  faults().fail_once("cudaStreamCreateWithFlags", 0);
  EXPECT_THAT(message_of([&] { execution->run(); }),
              HasSubstr("cudaStreamCreateWithFlags failed (creation of a stream"));
  EXPECT_EQ(fake_cuda().live(), before);
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
