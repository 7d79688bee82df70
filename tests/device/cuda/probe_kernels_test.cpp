// What probe kernels are refused. Needs no GPU: every call is faked.
#include "shiplap/device/cuda/probe_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;
using ::testing::HasSubstr;
using ProbeKind = ProbeKind;

struct ProbeKernelsFixture : ::testing::Test {
  std::string refusal(ProbeKind kind, std::uint64_t blocks, double amount) const {
    return message_of([&] { make_probe_kernel(api, 0, kind, blocks, amount); });
  }
  /// Launches the kernel on `operands` operands, each of `each` bytes.
  void launch(const ProbeKernel& probe, std::size_t operands, Bytes each) {
    std::vector<std::byte*> memory(operands, memory_of_all.data());
    const std::vector<Bytes> lengths(operands, each);
    probe.binding.cuda({.items = 1, .operands = memory, .lengths = lengths});
  }

  Api api = fake_api();
  std::array<std::byte, 256> memory_of_all{};
};
using ProbeKernels = ProbeKernelsFixture;

TEST_F(ProbeKernels, have_a_grid_that_a_gpu_can_launch) {
  constexpr std::uint64_t most = std::numeric_limits<int>::max();
  for (const ProbeKind kind : {ProbeKind::empty, ProbeKind::spin, ProbeKind::map, ProbeKind::touch}) {
    EXPECT_EQ(refusal(kind, most + 1, 16), "a grid of 2147483648 blocks is too large: at most 2147483647 are possible");
    EXPECT_EQ(refusal(kind, 0, 16), "a probe kernel needs at least one block");
    EXPECT_EQ(make_probe_kernel(api, 0, kind, most, 16).blocks, most);
  }
  // These choose their grids themselves.
  for (const ProbeKind kind : {ProbeKind::stream, ProbeKind::multiply_add, ProbeKind::chase})
    EXPECT_NO_THROW(make_probe_kernel(api, 0, kind, 0, 64));
}

TEST_F(ProbeKernels, have_an_amount_of_work_that_can_be_counted) {
  for (const ProbeKind kind : {ProbeKind::stream, ProbeKind::multiply_add, ProbeKind::touch, ProbeKind::chase}) {
    for (const double amount : {0.0, -1.0, 1e18, std::numeric_limits<double>::quiet_NaN()})
      EXPECT_THAT(refusal(kind, 1, amount), HasSubstr("amount of work must be between 0 and 1e18, not ")) << amount;
    EXPECT_NO_THROW(make_probe_kernel(api, 0, kind, 1, 64));
  }
}

TEST_F(ProbeKernels, that_map_move_words_that_there_are) {
  for (const double amount : {0.0, 4.5, 5.0, 32.0})
    EXPECT_THAT(refusal(ProbeKind::map, 1, amount), HasSubstr("the map kernel moves 4, 8 or 16 bytes at a time, not "))
        << amount;
  for (const double amount : {4.0, 8.0, 16.0})
    EXPECT_NO_THROW(make_probe_kernel(api, 0, ProbeKind::map, 1, amount)) << amount;
}

TEST_F(ProbeKernels, that_stream_stay_inside_their_memory) {
  const ProbeKernel probe = make_probe_kernel(api, 0, ProbeKind::stream, 1, 256);
  const std::string message = "the stream kernel needs one operand of at least 256 bytes";
  EXPECT_EQ(message_of([&] { launch(probe, 0, 0_B); }), message);
  EXPECT_EQ(message_of([&] { launch(probe, 1, 255_B); }), message);
  EXPECT_EQ(fake_cuda().count("launch_kernel"), 0u);
  launch(probe, 1, 256_B);
  EXPECT_EQ(fake_cuda().count("launch_kernel"), 1u);
}

TEST_F(ProbeKernels, are_launched_on_as_many_operands_as_they_have) {
  for (const auto& [kind, operands, message] : {std::tuple{ProbeKind::map, 2, "the map kernel has two operands"},
                                                {ProbeKind::touch, 1, "the touch kernel has one operand"},
                                                {ProbeKind::chase, 1, "the chase kernel has one operand"}}) {
    const ProbeKernel probe = make_probe_kernel(api, 0, kind, 1, 16);
    fake_cuda().calls.clear();
    for (const int given : {0, operands - 1, operands + 1})
      EXPECT_EQ(message_of([&] { launch(probe, static_cast<std::size_t>(given), 16_B); }), message) << given;
    EXPECT_EQ(fake_cuda().count("launch_kernel"), 0u);
  }
}

}  // namespace
}  // namespace shiplap
