// The calling thread's GPU, which everything leaves as it was. Needs no GPU: every call is faked.
#include "shiplap/device/cuda/callers_gpu.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/suite/transfers.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;
using testing::FaultMemory;

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

struct PeerFixture : ::testing::Test {
  PeerFixture() { fake_cuda().devices = 2; }
  /// Copies from one GPU to the other, with or without access between them.
  struct Copying {
    Copying(Device& device, const Api& api, bool access) {
      Schedule schedule = testing::two_gpus_inverting_twice();
      schedule.peer_access = access;
      memory.emplace(device, api, schedule, false);
      execution = device.prepare(schedule, memory->bindings);
    }
    std::optional<FaultMemory> memory;
    std::unique_ptr<Execution> execution;
  };

  Api api = fake_api();
};
using PeerAccessOfDevices = PeerFixture;

TEST_F(PeerAccessOfDevices, stays_as_long_as_one_of_them_lives_that_has_used_it) {
  auto first = open_cuda(std::vector{0, 1}, api);
  const auto second = open_cuda(std::vector{0, 1}, api);
  { Copying(*first, api, true).execution->run(); }
  Copying copying(*second, api, true);
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
    Copying(*first, api, true).execution->run();
    Copying(*second, api, true).execution->run();
  }
  EXPECT_EQ(fake_cuda().live_peers, 0);
}

TEST_F(PeerAccessOfDevices, is_not_taken_from_a_run_in_flight) {
  const auto first = open_cuda(std::vector{0, 1}, api);
  const auto second = open_cuda(std::vector{0, 1}, api);
  Copying with(*first, api, true);
  Copying without(*second, api, false);
  with.execution->submit();
  EXPECT_THROW(without.execution->run(), Error);
  EXPECT_EQ(fake_cuda().live_peers, 2);
  with.execution->wait();
  without.execution->run();
  EXPECT_EQ(fake_cuda().live_peers, 0);
}

}  // namespace
}  // namespace shiplap
