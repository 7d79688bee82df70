#include "shiplap/device/cuda/advice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>

#include "shiplap/core/error.hpp"
#include "tests/device/cuda/fake_api.hpp"

namespace shiplap {
namespace {

using testing::fake_cuda;
using Advised = testing::FakeCuda::Advised;

class Advice : public ::testing::Test {
 protected:
  HeldAdvice hold(MemoryAdvice advice, std::size_t size = 64) {
    return {api, data.data(), Bytes{size}, advice, 1, "x"};
  }
  /// What the driver knows of the memory.
  Advised now() const {
    const auto found = fake_cuda().advised.find(data.data());
    return found == fake_cuda().advised.end() ? Advised{} : found->second;
  }

  Api api = testing::fake_api();
  std::array<std::byte, 64> data{};
};

TEST_F(Advice, lasts_from_the_first_holder_to_the_last) {
  std::optional<HeldAdvice> first(hold(MemoryAdvice::prefer_host));
  std::optional<HeldAdvice> second(hold(MemoryAdvice::prefer_host));
  EXPECT_EQ(now().preferred, cudaCpuDeviceId);
  first.reset();
  EXPECT_EQ(now().preferred, cudaCpuDeviceId) << "the second still holds it";
  second.reset();
  EXPECT_EQ(now(), Advised{});
  EXPECT_EQ(fake_cuda().count("mem_advise"), 2);
}

TEST_F(Advice, on_a_part_of_a_held_range_is_that_of_the_range_and_a_longer_range_is_refused) {
  std::optional<HeldAdvice> whole(hold(MemoryAdvice::prefer_host));
  std::optional<HeldAdvice> part(hold(MemoryAdvice::prefer_host, 32));
  EXPECT_EQ(fake_cuda().count("mem_advise"), 1);
  whole.reset();
  EXPECT_EQ(now().preferred, cudaCpuDeviceId) << "the part still holds the range";
  part.reset();
  EXPECT_EQ(now(), Advised{});
  const HeldAdvice first = hold(MemoryAdvice::prefer_host, 32);
  EXPECT_THROW(hold(MemoryAdvice::prefer_host), Error);
  EXPECT_EQ(fake_cuda().count("mem_advise"), 3) << "the refused one has called nothing";
}

TEST_F(Advice, of_each_kind_is_given_and_taken_back) {
  {
    const HeldAdvice mostly_read = hold(MemoryAdvice::read_mostly);
    const HeldAdvice accessed = hold(MemoryAdvice::accessed_by_gpu);
    EXPECT_EQ(now(), (Advised{.read_mostly = true, .accessed_by = {1}}));
  }
  EXPECT_EQ(now(), Advised{});
}

TEST_F(Advice, of_the_caller_stays_as_it_was) {
  const Advised of_caller{.preferred = 0, .read_mostly = true, .accessed_by = {1, 2}};
  fake_cuda().advised[data.data()] = of_caller;
  {
    const HeldAdvice preferred = hold(MemoryAdvice::prefer_host);
    const HeldAdvice mostly_read = hold(MemoryAdvice::read_mostly);
    const HeldAdvice accessed = hold(MemoryAdvice::accessed_by_gpu);
    EXPECT_EQ(now(), (Advised{.preferred = cudaCpuDeviceId, .read_mostly = true, .accessed_by = {1, 2}}));
  }
  EXPECT_EQ(now(), of_caller);
  fake_cuda().advised.clear();
}

TEST_F(Advice, that_the_driver_refuses_leaves_nothing_behind) {
  fake_cuda().fail(0, cudaErrorInvalidValue, "mem_advise");
  EXPECT_THROW(hold(MemoryAdvice::prefer_host), Error);
  EXPECT_EQ(now(), Advised{});
  const HeldAdvice again = hold(MemoryAdvice::prefer_host);
  EXPECT_EQ(now().preferred, cudaCpuDeviceId) << "the refused holder is not counted";
}

TEST_F(Advice, moves_with_its_holder) {
  auto first = std::make_unique<HeldAdvice>(hold(MemoryAdvice::prefer_host));
  const HeldAdvice second = std::move(*first);
  first.reset();
  EXPECT_EQ(now().preferred, cudaCpuDeviceId);
}

}  // namespace
}  // namespace shiplap
