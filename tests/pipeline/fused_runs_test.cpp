// Fused jobs do what their jobs do one after the other, byte for byte.
#include <gtest/gtest.h>

#include <optional>
#include <span>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/workload/fused_job.hpp"
#include "tests/support/drawn_jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// Whether a job after the first `count` reads the array before it is written.
bool is_read_later(const std::vector<Job>& jobs, std::size_t count, const Array& wanted) {
  for (std::size_t j = count; j < jobs.size(); ++j)
    for (const Array& array : jobs[j].arrays)
      if (is_same_array(array, wanted)) return array.role != Role::out;
  return true;
}

std::optional<Job> fused_or_refused(std::span<const Job> jobs, const std::function<bool(const Array&)>& is_needed) {
  try {
    return fuse(jobs, is_needed);
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

TEST(FusedRuns, of_random_jobs_give_what_the_host_gives) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  unsigned fused_jobs = 0;
  unsigned with_private_halo = 0;
  unsigned with_scratch = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    DrawnJobs drawn(seed);
    const std::vector<Job>& jobs = drawn.jobs();
    const auto before = drawn.data();
    DrawnJobs::run_on_host(jobs);
    const auto expected = drawn.data();
    const auto expected_sum = drawn.sum();
    drawn.data() = before;  // the vectors keep their memory
    std::ranges::fill(drawn.sum(), 0u);
    for (std::size_t begin = 0; begin < jobs.size();) {
      std::size_t end = jobs.size();
      std::optional<Job> job;
      for (; end > begin && !job; --end)
        job = fused_or_refused(std::span(jobs).subspan(begin, end - begin),
                               [&](const Array& array) { return is_read_later(jobs, end, array); });
      ++end;
      fused_jobs += end - begin > 1 ? 1 : 0;
      for (const Array& array : job->arrays) {
        with_private_halo += array.private_halo ? 1 : 0;
        with_scratch += array.role == Role::scratch ? 1 : 0;
      }
      const bool at_home = drawn.between(0, 2) == 0;
      for (Array& array : job->arrays)
        if (at_home && !stays(array.role) && array.role != Role::scratch && !array.private_halo) array.home = Home{};
      const std::uint32_t chunks = static_cast<std::uint32_t>(drawn.between(1, std::min<std::uint64_t>(job->items, 9)));
      Choice choice{.chunks = chunks};
      choice.layout = drawn.between(0, 1) == 0 ? Layout::three : Layout::few;
      choice.order = drawn.between(0, 1) == 0 ? IssueOrder::depth : IssueOrder::breadth;
      choice.ring = static_cast<std::uint32_t>(drawn.between(1, chunks));
      Prepared prepared = prepare(*device, *job, choice, {.device_memory = 1_MiB});
      prepared.run();
      begin = end;
    }
    EXPECT_FALSE(drawn.was_out_of_bounds()) << seed;
    EXPECT_EQ(drawn.sum(), expected_sum) << seed;
    for (std::size_t a = 0; a < expected.size(); ++a)
      EXPECT_TRUE(drawn.data()[a] == expected[a]) << "seed " << seed << ", array " << a;
  }
  EXPECT_GT(fused_jobs, 150u);
  EXPECT_GT(with_private_halo, 20u);
  EXPECT_GT(with_scratch, 20u);
}

}  // namespace
}  // namespace shiplap
