// Profiles whose host memory is on another NUMA node than 0: nothing depends on the number of the node.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// The planted node with all host memory on this NUMA node.
Profile planted_on(std::uint16_t node, std::uint32_t gpus = 1) {
  Profile profile = with_gpus(planted_profile(), gpus);
  for (LinkModel& link : profile.links) link.numa_node = node;
  return profile;
}

Job job_in(MemoryKind memory) {
  Job job = in_out_job(64_MiB, 64_MiB, milliseconds(1), 1 << 20);
  for (Array& array : job.arrays) array.memory = memory;
  return job;
}

/// A job that gathers 2,048 blocks from a pool.
Job gathering(MemoryKind memory) {
  static const std::uint32_t index = 0;  // only whether there is a list matters for planning
  constexpr std::uint64_t count = 2048;
  Job job{count, "gathering"};
  job.arrays.push_back({.name = "pages",
                        .role = Role::in,
                        .size = 64_KiB * count,
                        .element = 64_KiB,
                        .memory = memory,
                        .blocks = Blocks{.indices = {.data = &index, .count = count},
                                         .count = count,
                                         .block = 64_KiB,
                                         .pitch = 64_KiB,
                                         .pool = 64_KiB * (2 * count)}});
  job.arrays.push_back({.name = "out", .role = Role::out, .size = Bytes{8 * count}, .element = 8_B, .memory = memory});
  job.cost = {.points = {{count, Interval<Seconds>::exact(milliseconds(1))}},
              .limited = {},
              .zero_copy = {},
              .origin = "stated"};
  return job;
}

/// What is planned with one strategy, to the last digit, or why nothing is.
struct Outcome {
  bool is_planned = false;
  std::string text;
};
Outcome outcome(const Job& job, const Profile& profile, const Strategy& strategy, std::uint32_t gpus) {
  const SearchSpace space{.strategies = {std::string(strategy.name)}, .gpus = gpus};
  try {
    const Ranking ranking = rank(job, profile, {.device_memory = 100_GiB}, space);
    const Candidate& best = ranking.best();
    return {true, fmt::format("{}: {:.17g} s, {:.17g} s to {:.17g} s, bound {:.17g} s", to_string(best.choice),
                              best.predicted.value.count(), best.predicted.low.count(), best.predicted.high.count(),
                              ranking.bound.time.count())};
  } catch (const Error& refusal) {
    return {false, refusal.what()};
  }
}

/// The strategies that plan the job on both nodes, where they must do so alike.
std::set<std::string_view> planned_alike(const Job& job, std::uint32_t gpus = 1) {
  std::set<std::string_view> planned;
  for (const Strategy& strategy : strategies()) {
    const Outcome on_0 = outcome(job, planted_on(0, gpus), strategy, gpus);
    const Outcome on_1 = outcome(job, planted_on(1, gpus), strategy, gpus);
    EXPECT_EQ(on_1.text, on_0.text) << strategy.name;
    EXPECT_EQ(on_1.is_planned, on_0.is_planned) << strategy.name << ": " << on_1.text;
    if (on_1.is_planned) planned.insert(strategy.name);
  }
  return planned;
}

TEST(OtherNode, gives_the_same_plans_as_node_0_for_every_strategy_and_kind_of_memory) {
  std::set<std::string_view> planned;
  for (const MemoryKind memory : {MemoryKind::pinned, MemoryKind::pageable, MemoryKind::managed}) {
    const std::set<std::string_view> of_memory = planned_alike(job_in(memory));
    EXPECT_FALSE(of_memory.empty()) << to_string(memory);
    planned.insert(of_memory.begin(), of_memory.end());
  }
  for (const char* name :
       {"explicit", "streams", "implicit", "staged", "managed", "managed-prefetch", "managed-implicit"})
    EXPECT_TRUE(planned.contains(name)) << name;
}

TEST(OtherNode, gives_the_same_plans_as_node_0_for_several_gpus) {
  EXPECT_FALSE(planned_alike(job_in(MemoryKind::pinned), 2).empty());
}

TEST(OtherNode, gives_the_same_plans_as_node_0_for_scattered_blocks) {
  EXPECT_TRUE(planned_alike(gathering(MemoryKind::pinned)).contains("streams"));
  planned_alike(gathering(MemoryKind::pageable));
}

// The first GPU is far from the memory of the second.
TEST(OtherNode, of_each_gpu_is_that_of_its_first_link) {
  Profile apart = planted_on(0, 2);
  apart.links[1].numa_node = 1;
  const Job job = job_in(MemoryKind::pinned);
  for (const Strategy& strategy : strategies())
    EXPECT_EQ(outcome(job, apart, strategy, 2).text, outcome(job, planted_on(0, 2), strategy, 2).text) << strategy.name;
  EXPECT_EQ(apart.find_link(1), &apart.links[1]);
  EXPECT_EQ(apart.find_link(1, 0), nullptr);
}

}  // namespace
}  // namespace shiplap
