// Jobs drawn at random: always the same ones, and such as an evaluation asks for.
#include "shiplap/evaluate/random_jobs.hpp"

#include <gtest/gtest.h>

#include <set>

#include "shiplap/workload/workload.hpp"

namespace shiplap {
namespace {

TEST(RandomJobs, are_the_same_for_a_seed_and_others_for_another) {
  EXPECT_EQ(random_workloads(20, 1), random_workloads(20, 1));
  EXPECT_NE(random_workloads(20, 1), random_workloads(20, 2));
  const auto longer = random_workloads(30, 1);
  EXPECT_EQ(random_workloads(20, 1), std::vector<std::string>(longer.begin(), longer.begin() + 20));
}

TEST(RandomJobs, exist_and_are_of_every_workload_and_from_small_to_large) {
  std::set<std::string> kinds;
  Bytes least{~0ull};
  Bytes most;
  double most_uneven = 1;
  for (const std::string& name : random_workloads(300, 1)) {
    const Workload workload = find_workload(name);
    kinds.insert(name.substr(0, name.find(':')));
    Bytes larger;
    for (const Array& array : workload.job.arrays) larger = std::max(larger, array.size);
    least = std::min(least, larger);
    most = std::max(most, larger);
    EXPECT_LE(larger, 2_GiB) << name;
    if (name.starts_with("scalar-add"))
      most_uneven = std::max(
          most_uneven, in_bytes(larger) / in_bytes(std::min(workload.job.arrays[0].size, workload.job.arrays[1].size)));
  }
  EXPECT_EQ(kinds.size(), built_in_workloads().size());
  EXPECT_LT(least, 128_KiB);
  EXPECT_GT(most, 1_GiB);
  EXPECT_GT(most_uneven, 40);
}

}  // namespace
}  // namespace shiplap
