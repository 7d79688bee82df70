#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "shiplap/core/error.hpp"
#include "tests/support/workload_memory.hpp"

namespace shiplap {
namespace {

using testing::WorkloadMemory;

constexpr std::uint64_t arccos_n = 10007;
/// Elements of arrays on which many calls are made.
constexpr std::uint64_t few = 2003;

std::string name(std::uint64_t elements, std::uint64_t calls, bool promoted) {
  return "arccos:n=" + std::to_string(elements) + ",calls=" + std::to_string(calls) +
         (promoted ? ",precision=promoted" : "");
}

// In float as kernels do, with the product fused into the subtraction, which the host function leaves apart.
float psi(float x, bool promoted) {
  if (promoted) return static_cast<float>(2 * std::acos(x) / M_PI - 1);
  return std::fma(std::acos(x), static_cast<float>(2 / M_PI), -1.0f);
}

void call(WorkloadMemory& w, std::uint64_t calls, bool promoted) {
  const auto x = w.array<const float>(0);
  const auto y = w.array<float>(1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    float value = x[i];
    for (std::uint64_t k = 0; k < calls; ++k) value = psi(value, promoted);
    y[i] = value;
  }
}

TEST(Arccos, is_right_for_the_calls_asked_for_and_wrong_for_one_more_or_fewer) {
  for (const bool promoted : {false, true})
    for (const std::uint64_t calls : {1, 2, 3, 8, 31, 32, 33, 64, 512}) {
      WorkloadMemory w(name(calls > 64 ? few : arccos_n, calls, promoted));
      EXPECT_NE(w.verify(), "") << "the kernel has not run yet";
      call(w, calls, promoted);
      EXPECT_EQ(w.verify(), "") << w.job().name;
      for (const std::uint64_t others : {calls - 1, calls + 1}) {
        call(w, others, promoted);
        EXPECT_NE(w.verify(), "") << w.job().name << " after " << others << " calls";
      }
    }
}

TEST(Arccos, is_wrong_for_two_calls_more_or_fewer_while_values_have_not_shrunk_to_rounding_errors) {
  for (const bool promoted : {false, true})
    for (std::uint64_t calls = 1; calls <= 24; ++calls) {
      WorkloadMemory w(name(arccos_n, calls, promoted));
      for (const std::uint64_t others : {calls - 2, calls + 2}) {
        if (others > 1000) continue;
        call(w, others, promoted);
        EXPECT_NE(w.verify(), "") << w.job().name << " after " << others << " calls";
      }
    }
}

TEST(Arccos, tells_its_precisions_apart_from_a_cruder_one) {
  WorkloadMemory w(name(arccos_n, 1, false));
  call(w, 1, false);
  for (float& y : w.array<float>(1)) y = static_cast<float>(static_cast<int>(y * 1e6f)) / 1e6f;
  EXPECT_NE(w.verify(), "") << "six digits are not enough";
}

TEST(Arccos, agrees_with_its_definition_whole_and_in_chunks) {
  for (const bool promoted : {false, true})
    for (const std::uint64_t chunk : {5003, 1024, 777, 1}) {
      WorkloadMemory w(name(5003, 3, promoted));
      w.run(chunk);
      EXPECT_EQ(w.verify(), "") << w.job().name;
      for (std::uint64_t i = 0; i < 5003; ++i) {
        double y = w.array<const float>(0)[i];
        for (int k = 0; k < 3; ++k) y = 2 * std::acos(y) / M_PI - 1;
        ASSERT_NEAR(w.array<float>(1)[i], y, 3e-6);
      }
    }
}

TEST(Arccos, has_ones_of_either_sign_among_its_many_values) {
  WorkloadMemory w(name(100000, 1, false));
  const auto x = w.array<const float>(0);
  const std::set<float> values(x.begin(), x.end());
  EXPECT_GT(values.size(), 45000u);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(x, 1.0f)), 100000 / 32, 300);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(x, -1.0f)), 100000 / 32, 300);
  EXPECT_FALSE(values.contains(0.0f));
}

TEST(Arccos, finds_a_single_wrong_element_in_outputs_and_a_single_wrong_bit_in_inputs) {
  for (const std::uint64_t calls : {1, 2, 512}) {
    const std::uint64_t n = calls > 64 ? few : arccos_n;
    WorkloadMemory w(name(n, calls, false));
    w.run(1000);
    ASSERT_EQ(w.verify(), "");
    for (const std::size_t i : {std::uint64_t{0}, std::uint64_t{1}, n / 2, n - 1}) {
      EXPECT_TRUE(w.finds_wrong_byte(0, 4 * i));
      float& y = w.array<float>(1)[i];
      for (const float wrong : {y + 3e-6f, y - 3e-6f, -y + (std::abs(y) < 1e-3f ? 1.0f : 0.0f), std::nanf("")}) {
        const float right = std::exchange(y, wrong);
        EXPECT_NE(w.verify(), "") << "y[" << i << "] = " << wrong << " instead of " << right;
        y = right;
      }
    }
  }
}

TEST(Arccos, refuses_calls_and_precisions_that_it_has_not) {
  EXPECT_THROW(find_workload("arccos:calls=513", {}), UsageError);
  EXPECT_THROW(find_workload("arccos:calls=0", {}), UsageError);
  EXPECT_THROW(find_workload("arccos:precision=double", {}), UsageError);
}

}  // namespace
}  // namespace shiplap
