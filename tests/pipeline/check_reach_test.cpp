#include "shiplap/pipeline/check_reach.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// A job over x, in, and y, out, whose kernel works on bare pointers as a GPU's does: from the first element of x and y
/// that the chunk is handed, and with the numbers of elements.
class CheckReach : public ::testing::Test {
 protected:
  static constexpr std::uint64_t n = 12;
  using Compute = std::function<void(Chunk, const float*, float*)>;
  std::vector<Undeclared> found_with(const Compute& compute, Reach reach = {}) {
    std::iota(x.begin(), x.end(), 1.0f);
    const std::vector<float> x_before = x;
    const std::vector<float> y_before = y;
    const auto job = Job{n}.in("x", x, reach).out("y", y).host_kernel([compute](Chunk c, auto from, auto to) {
      compute(c, from.data() + (c.first - from.first()), to.data());
    });
    auto found = check_reach(*gpu, job, 3);
    EXPECT_EQ(x, x_before);
    EXPECT_EQ(y, y_before);
    return found;
  }

  std::vector<float> x = std::vector<float>(n);
  std::vector<float> y = std::vector<float>(n, 7.0f);
  std::shared_ptr<Device> gpu = open_virtual(planted_profile(), "virtual:planted");
};

TEST_F(CheckReach, finds_nothing_where_everything_is_declared) {
  const auto with_halo = [](Chunk c, const float* from, float* to) {
    for (std::uint64_t i = 0; i < c.count; ++i)
      to[i] = from[i] + (c.first + i > 0 ? from[static_cast<std::int64_t>(i) - 1] : 0);
  };
  EXPECT_TRUE(found_with(with_halo, halo(1, 0)).empty());
}

TEST_F(CheckReach, finds_a_halo_that_is_not_declared) {
  const auto found = found_with([](Chunk c, const float* from, float* to) {
    for (std::uint64_t i = 0; i < c.count; ++i)
      to[i] = from[i] + (c.first + i > 0 ? from[static_cast<std::int64_t>(i) - 1] : 0);
  });
  ASSERT_EQ(found.size(), 2u);  // in the second and the third chunk
  EXPECT_EQ(found[0].kind, Undeclared::Kind::read);
  EXPECT_EQ(found[0].array, "x");
  EXPECT_EQ(found[0].result, "y");
  EXPECT_EQ(found[0].element, 4);
  EXPECT_EQ(found[0].chunk, (ItemRange{4, 4}));
}

TEST_F(CheckReach, finds_a_write_beyond_the_chunk_and_one_to_an_input) {
  const auto beyond = found_with([](Chunk c, const float* from, float* to) {
    for (std::uint64_t i = 0; i <= c.count; ++i) to[i] = i < c.count ? from[i] : 0.5f;
  });
  ASSERT_EQ(beyond.size(), 3u);
  EXPECT_EQ(beyond[0].kind, Undeclared::Kind::write);
  EXPECT_EQ(beyond[0].array, "y");
  EXPECT_EQ(beyond[0].element, 4);
  EXPECT_EQ(beyond[2].element, static_cast<std::int64_t>(n));  // behind the array
  const auto input = found_with([](Chunk c, const float* from, float* to) {
    for (std::uint64_t i = 0; i < c.count; ++i) to[i] = from[i];
    if (c.first == 4) const_cast<float*>(from)[2] = 0.25f;
  });
  ASSERT_EQ(input.size(), 1u);
  EXPECT_EQ(input[0].array, "x");
  EXPECT_EQ(input[0].element, 6);
}

TEST_F(CheckReach, finds_an_output_that_is_left_unwritten) {
  const auto found = found_with([](Chunk c, const float* from, float* to) {
    for (std::uint64_t i = 0; i < c.count; ++i)
      if (c.first + i != 9) to[i] = from[i];
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Undeclared::Kind::unwritten);
  EXPECT_EQ(found[0].element, 9);
  EXPECT_NE(to_string(found[0]).find("y[9]"), std::string::npos);
}

// A double that swallows what it is added to has the bytes of the poison, and some bytes of any result are those of the
// other one.
TEST_F(CheckReach, tells_a_result_that_has_bytes_of_the_poison_from_an_output_that_is_left) {
  std::vector<double> many(4000);
  std::vector<double> sums(4000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = 1.0 / static_cast<double>(i + 1);
  const auto job = Job{many.size()}.in("many", many).out("sums", sums).host_kernel([](Chunk c, auto from, auto to) {
    for (std::uint64_t i = 0; i < c.count; ++i)
      to.data()[i] = from.data()[i] + (c.first > 0 ? from.data()[static_cast<std::int64_t>(i) - 40] : 0);
  });
  const auto found = check_reach(*gpu, job, 2);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, Undeclared::Kind::read);
  EXPECT_EQ(found[0].element, 2000);
}

TEST_F(CheckReach, tells_a_copy_of_what_is_not_declared_from_an_output_that_is_left) {
  const auto found = found_with([](Chunk c, const float* from, float* to) {
    for (std::uint64_t i = 0; i < c.count; ++i) to[i] = from[static_cast<std::int64_t>(i) - (c.first > 0 ? 1 : 0)];
  });
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].kind, Undeclared::Kind::read);
}

struct Padded {
  double value;
  int count;
};

TEST_F(CheckReach, does_not_mind_what_is_between_the_members_of_an_element) {
  std::vector<Padded> padded(n);
  const auto job = Job{n}.in("x", x).out("padded", padded).host_kernel([](Chunk c, auto from, auto to) {
    for (std::uint64_t i = c.first; i < c.end(); ++i) {
      to[i].value = from[i];
      to[i].count = 1;
    }
  });
  EXPECT_TRUE(check_reach(*gpu, job).empty());
}

TEST_F(CheckReach, finds_results_that_depend_on_what_was_in_scratch) {
  const auto clean = Job{n}.in("x", x).scratch<float>("t", n).out("y", y);
  const auto writes_first = clean.host_kernel([](Chunk c, auto from, auto t, auto to) {
    for (std::uint64_t i = c.first; i < c.end(); ++i) t[i] = from[i], to[i] = t[i];
  });
  EXPECT_TRUE(check_reach(*gpu, writes_first).empty());
  const auto adds = clean.host_kernel([](Chunk c, auto from, auto t, auto to) {
    for (std::uint64_t i = c.first; i < c.end(); ++i) t[i] += from[i], to[i] = 2 * t[i];
  });
  const auto found = check_reach(*gpu, adds);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].kind, Undeclared::Kind::uninitialised);
  EXPECT_NE(to_string(found[0]).find("scratch t"), std::string::npos) << to_string(found[0]);
}

TEST_F(CheckReach, throws_a_failed_check_that_lists_what_was_found) {
  const auto job = Job{n}.in("x", x).out("y", y).host_kernel([](Chunk c, auto from, auto to) {
    for (std::uint64_t i = 0; i + 1 < c.count; ++i) to.data()[i] = from.data()[i];
  });
  EXPECT_THROW(require_declared_reach(*gpu, job), CheckFailed);
}

TEST(Undeclared, is_of_a_kind_that_exists) {
  EXPECT_EQ(
      message_of([] {
        to_string(Undeclared{.kind = static_cast<Undeclared::Kind>(99), .array = "x", .chunk = {0, 1}, .result = {}});
      }),
      "a kind of undeclared access that does not exist");
}

}  // namespace
}  // namespace shiplap
