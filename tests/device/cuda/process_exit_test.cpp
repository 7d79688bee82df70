// A process that ends while its threads use the library, as daemon threads of Python do. Needs no GPU.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <thread>

#include "shiplap/device/cuda/numa.hpp"
#include "shiplap/device/pinned_regions.hpp"

namespace shiplap {
namespace {

/// Destroyed last, after some time in which threads still run.
struct SlowEnd {
  ~SlowEnd() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }
};

[[noreturn]] void end_beside_threads() {
  static const SlowEnd slow;
  std::thread([] {
    while (true) const OnCoresOf bound(numa_nodes_of_host().at(0));
  }).detach();
  std::thread([] {
    static std::array<std::byte, 64> memory{};
    while (true)
      const Memory held = PinnedRegions::of_process()->hold(
          memory.data(), Bytes{memory.size()},
          {.is_pinned = [] { return false; }, .pin = [] {}, .unpin = [](std::byte*) {}});
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::exit(0);  // NOLINT(concurrency-mt-unsafe): that is the question
}

TEST(ProcessExit, beside_threads_that_pin_and_move_to_other_cores_ends_well) {
  const std::string before = ::testing::GTEST_FLAG(death_test_style);
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(end_beside_threads(), ::testing::ExitedWithCode(0), "");
  ::testing::GTEST_FLAG(death_test_style) = before;
}

}  // namespace
}  // namespace shiplap
