#include "shiplap/workload/view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <type_traits>
#include <vector>

#include "shiplap/workload/described_job.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

float sum_of(View<const float> view) {
  float sum = 0;
  for (std::uint64_t i = view.first(); i < view.end_index(); ++i) sum += view[i];
  return sum;
}

TEST(View, converts_to_a_view_of_const_elements_with_the_same_indices_and_name) {
  std::vector<float> x{1, 2, 3};
  const View<float> view(x.data(), 10, x.size(), "x");
  EXPECT_EQ(sum_of(view), 6);
  const View<const float> constant = view;
  EXPECT_EQ(constant.first(), 10u);
  EXPECT_EQ(constant.data(), x.data());
  EXPECT_THAT(message_of([&] { static_cast<void>(constant[13]); }), HasSubstr("x[13]"));
  static_assert(!std::is_convertible_v<View<const float>, View<float>> &&
                !std::is_convertible_v<View<float>, View<const double>>);
  static_assert(std::is_trivially_copyable_v<View<float>>, "it is passed to kernels by value");
}

TEST(View, converts_to_a_span_whose_first_element_is_its_own) {
  std::vector<float> x{1, 2, 3};
  const View<float> view(x.data(), 10, x.size(), "x");
  const std::span<float> span = view;
  EXPECT_EQ(span.data(), x.data());
  EXPECT_EQ(span.size(), 3u);
  const std::span<const float> constant = view;
  EXPECT_EQ(constant[0], 1);
  const std::span<const float> of_constant = View<const float>(view);
  EXPECT_EQ(of_constant.size(), 3u);
  static_assert(!std::is_convertible_v<View<const float>, std::span<float>>);
}

TEST(View, may_be_const_in_a_kernel_that_only_reads_what_it_may_write) {
  std::vector<float> x(8, 1);
  const auto job = Job{8}.inout("x", x).host_kernel([](Chunk, View<const float> from) { sum_of(from); });
  EXPECT_TRUE(job.binding.host);
}

TEST(View, says_of_an_element_outside_of_it_what_describes_a_read_or_a_write) {
  std::vector<float> x{1, 2, 3};
  const View<float> writable(x.data(), 10, x.size(), "x");
  EXPECT_THAT(message_of([&] { static_cast<void>(writable[13]); }),
              AllOf(HasSubstr("writes"), HasSubstr("`.carried`"), Not(HasSubstr("halo"))));
  EXPECT_THAT(message_of([&] { static_cast<void>(View<const float>(writable)[13]); }),
              AllOf(HasSubstr("reads"), HasSubstr("`halo`")));
}

}  // namespace
}  // namespace shiplap
