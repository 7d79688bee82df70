// The calling thread's GPU, which everything leaves as it was. Needs no GPU: every call is faked.
#include "shiplap/device/cuda/callers_gpu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/move_blocks.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/cuda/fault_schedules.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;
using testing::FaultMemory;

/// Everything that a user can do with a device, by name.
std::vector<std::pair<std::string, std::function<void(const Api&)>>> uses() {
  const auto on_device = [](auto use) { return [use](const Api& api) { use(*open_cuda(0, api)); }; };
  return {
      {"list",
       [](const Api& api) {
         std::string why;
         list_cuda(why, api);
       }},
      {"open",
       [](const Api& api) {
         open_cuda(std::vector{0, 1}, api);
       }},
      {"info", on_device([](MeasurableDevice& device) { device.info(); })},
      {"allocate", on_device([](MeasurableDevice& device) {
         for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::pageable})
           device.allocate(Place::host(), kind, 4_KiB);
         device.allocate(Place::gpu(), MemoryKind::device, 4_KiB);
         device.allocate(Place::gpu(), MemoryKind::managed, 4_KiB);
       })},
      {"pin", on_device([](MeasurableDevice& device) {
         std::vector<std::byte> data(4096);
         device.pin(data.data(), 4_KiB);
         device.kind_of(data.data(), 4_KiB);
       })},
      {"probe", on_device([](MeasurableDevice& device) { device.probe_kernel(ProbeKernel::Kind::empty, 1, 0); })},
      {"fill", on_device([](MeasurableDevice& device) {
         const Memory memory = device.allocate(Place::gpu(), MemoryKind::device, 4_KiB);
         device.fill(memory, 1);
         device.mismatches(memory, 0_B, 4_KiB, 1, 0_B);
       })},
      {"gap", on_device([](MeasurableDevice& device) {
         int stream = 0;
         device.open_gap(&stream);
       })},
      {"run",
       [](const Api& api) {
         const auto device = open_cuda(0, api);
         for (const Schedule& schedule : {testing::three_streams_inverting(), testing::host_agents_inverting()}) {
           const FaultMemory memory(*device, api, schedule, true);
           const auto execution = device->prepare(schedule, memory.bindings);
           execution->run();
           execution->run({.trace = Trace::events});
           if (schedule.agents.size() == 1) execution->run({.hold = true});
         }
       }},
      {"gap that is waited for in another thread", on_device([](MeasurableDevice& device) {
         int stream = 0;
         const auto gap = device.open_gap(&stream);
         std::thread([&] { gap->wait(Seconds{1}, {}); }).join();
       })},
      {"memory that ends in another thread", on_device([](MeasurableDevice& device) {
         std::vector<std::byte> data(4096);
         std::vector<Memory> all;
         all.push_back(device.allocate(Place::host(), MemoryKind::pinned, 4_KiB));
         all.push_back(device.allocate(Place::gpu(), MemoryKind::device, 4_KiB));
         all.push_back(device.pin(data.data(), 4_KiB));
         std::thread([&] { all.clear(); }).join();
       })},
      {"failed run",
       [](const Api& api) {
         const auto device = open_cuda(0, api);
         const Schedule schedule = testing::three_streams_inverting();
         const FaultMemory memory(*device, api, schedule, true);
         const auto execution = device->prepare(schedule, memory.bindings);
         fake_cuda().fail(0, cudaErrorUnknown, "memcpy_async");
         EXPECT_THROW(execution->run(), Error);
       }},
  };
}

void* current(const Api& api) {
  void* context = nullptr;
  EXPECT_EQ(api.current_context(&context), cudaSuccess);
  return context;
}

TEST(CallersGpu, stays_current_whatever_is_done_with_a_device) {
  for (const auto& [name, use] : uses()) {
    const Api api = fake_api();
    fake_cuda().devices = 3;
    ASSERT_EQ(api.set_device(2), cudaSuccess);
    void* const before = current(api);
    use(api);
    EXPECT_EQ(current(api), before) << name;
  }
}

TEST(CallersGpu, is_none_afterwards_for_a_thread_that_had_none) {
  for (const auto& [name, use] : uses()) {
    const Api api = fake_api();
    fake_cuda().devices = 3;
    use(api);
    EXPECT_EQ(current(api), nullptr) << name;
    EXPECT_THAT(fake_cuda().made_contexts, ::testing::IsEmpty()) << name;
  }
}

TEST(ListCuda, makes_no_gpu_current_and_so_no_context) {
  const Api api = fake_api();
  fake_cuda().devices = 4;
  std::string why;
  EXPECT_EQ(list_cuda(why, api).size(), 4u);
  EXPECT_EQ(fake_cuda().count("set_device"), 0u);
  EXPECT_EQ(fake_cuda().count("mem_get_info"), 0u) << "it needs a context";
}

TEST(RealApi, leaves_the_environment_of_the_process_alone) {
  const char* const before = std::getenv("CUDA_MODULE_LOADING");
  static_cast<void>(real_api());
  EXPECT_EQ(std::getenv("CUDA_MODULE_LOADING"), before);
}

/// A copy from one GPU to the other, with or without access between them.
struct PeerFixture : ::testing::Test {
  PeerFixture() {
    fake_cuda().devices = 2;
    fake_cuda().free_memory = 64u << 20;
  }
  static Schedule schedule(bool access) {
    Schedule s;
    const BufferId from = s.add_buffer({"gpu 0", Place::gpu(0), MemoryKind::device, 4_KiB});
    const BufferId to = s.add_buffer({"gpu 1", Place::gpu(1), MemoryKind::device, 4_KiB});
    s.add({.what = Copy{{from, 0_B, 4_KiB}, {to, 0_B, 4_KiB}},
           .stream = s.add_stream("copy", Place::gpu(0)),
           .agent = AgentId{0},
           .after = {}});
    s.peer_access = access;
    return s;
  }
  struct Copying {
    Copying(Device& device, bool access)
        : from(device.allocate(Place::gpu(0), MemoryKind::device, 4_KiB)),
          to(device.allocate(Place::gpu(1), MemoryKind::device, 4_KiB)),
          execution(device.prepare(schedule(access), {.buffers = {from.data(), to.data()}, .kernels = {}})) {}
    Memory from;
    Memory to;
    std::unique_ptr<Execution> execution;
  };

  Api api = fake_api();
};
using PeerAccessOfDevices = PeerFixture;

TEST_F(PeerAccessOfDevices, stays_as_long_as_one_of_them_lives_that_has_used_it) {
  auto first = open_cuda(std::vector{0, 1}, api);
  const auto second = open_cuda(std::vector{0, 1}, api);
  { Copying(*first, true).execution->run(); }
  Copying copying(*second, true);
  copying.execution->run();
  first.reset();
  EXPECT_EQ(fake_cuda().live_peers, 2);
  copying.execution->run();
  EXPECT_EQ(fake_cuda().live_peers, 2);
}

TEST_F(PeerAccessOfDevices, is_left_as_it_was_when_the_last_one_goes) {
  {
    const auto first = open_cuda(std::vector{0, 1}, api);
    const auto second = open_cuda(std::vector{0, 1}, api);
    Copying(*first, true).execution->run();
    Copying(*second, true).execution->run();
  }
  EXPECT_EQ(fake_cuda().live_peers, 0);
}

TEST_F(PeerAccessOfDevices, is_not_taken_from_a_run_in_flight) {
  const auto first = open_cuda(std::vector{0, 1}, api);
  const auto second = open_cuda(std::vector{0, 1}, api);
  Copying with(*first, true);
  Copying without(*second, false);
  with.execution->submit();
  EXPECT_THROW(without.execution->run(), Error);
  EXPECT_EQ(fake_cuda().live_peers, 2);
  with.execution->wait();
  without.execution->run();
  EXPECT_EQ(fake_cuda().live_peers, 0);
}

}  // namespace
}  // namespace shiplap
