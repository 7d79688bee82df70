// Whether it pays to pin, on a profile whose calls have round prices.
#include "shiplap/plan/memory_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

Interval<Seconds> ms(double value) { return Interval<Seconds>::exact(milliseconds(value)); }

Profile with_prices(double pin_ms, double allocate_ms) {
  Profile profile = planted_profile();
  profile.host->calls["pin"] = {{64_MiB, ms(pin_ms)}};
  profile.host->calls["unpin"] = {{64_MiB, ms(pin_ms / 4)}};
  profile.host->calls["allocate pinned"] = {{64_MiB, ms(allocate_ms)}};
  profile.host->calls["release pinned"] = {{64_MiB, ms(allocate_ms / 2)}};
  return profile;
}

Job pageable_job() {
  Job job = in_out_job(64_MiB, 64_MiB, microseconds(100), 64 << 10);
  for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
  return job;
}

MemoryChoice choose(const Profile& profile, std::uint64_t runs) {
  const Job job = pageable_job();
  return choose_memory(job, profile, limits_of(profile), {}, rank(job, profile), runs);
}

const MemoryWay& way(const MemoryChoice& choice, Preparation preparation) { return *choice.find(preparation); }

TEST(MemoryChoice, counts_what_is_paid_once_and_what_in_every_run) {
  const MemoryChoice choice = choose(with_prices(4, 8), 10);
  ASSERT_EQ(choice.ways.size(), 3u);
  EXPECT_NEAR(in_milliseconds(way(choice, Preparation::none).setup_time), 0, 1e-12);
  EXPECT_NEAR(in_milliseconds(way(choice, Preparation::registered).setup_time), 2 * (4 + 1), 1e-9);  // two arrays
  EXPECT_NEAR(in_milliseconds(way(choice, Preparation::pinned).setup_time), 2 * (8 + 4), 1e-9);
  for (const MemoryWay& w : choice.ways)
    EXPECT_NEAR((w.total_time - w.setup_time) / w.best.predicted.value, 10, 1e-9) << enum_name(w.preparation);
  EXPECT_TRUE(std::ranges::is_sorted(choice.ways, {}, &MemoryWay::total_time));
  // Pinned memory is overlapped by copy engines alone.
  Job pinned = pageable_job();
  for (Array& array : pinned.arrays) array.memory = MemoryKind::pinned;
  EXPECT_EQ(way(choice, Preparation::registered).best.choice, rank(pinned, with_prices(4, 8)).best().choice);
}

// Only arrays that are cut are pinned, so only they cost something and change the runs.
TEST(MemoryChoice, leaves_arrays_that_stay_on_the_gpu_as_they_are) {
  const Profile profile = with_prices(4, 8);
  Job job = pageable_job();
  Array table = job.arrays.front();
  table.name = "table";
  table.role = Role::broadcast;
  job.arrays.push_back(table);
  const MemoryChoice choice = choose_memory(job, profile, limits_of(profile), {}, rank(job, profile), 10);
  EXPECT_NEAR(in_milliseconds(way(choice, Preparation::registered).setup_time), 2 * (4 + 1), 1e-9)
      << "of the two that are cut";
  EXPECT_EQ(way(choice, Preparation::registered).best.schedule->buffers[2].memory, MemoryKind::pageable);
  EXPECT_EQ(way(choice, Preparation::registered).best.schedule->buffers[0].memory, MemoryKind::pinned);
  for (Array& array : job.arrays)
    if (array.role != Role::broadcast) array.memory = MemoryKind::pinned;
  EXPECT_THROW(choose_memory(job, profile, limits_of(profile), {}, rank(job, profile), 10), UsageError);
}

TEST(MemoryChoice, pays_from_the_first_number_of_runs_at_which_it_is_faster) {
  const Profile profile = with_prices(40, 80);
  for (const Preparation name : {Preparation::registered, Preparation::pinned}) {
    const auto pays_from = way(choose(profile, 1), name).pays_from;
    ASSERT_TRUE(pays_from) << enum_name(name);
    ASSERT_GT(*pays_from, 1u) << enum_name(name);
    for (const std::uint64_t runs : {*pays_from - 1, *pays_from}) {
      const MemoryChoice choice = choose(profile, runs);
      EXPECT_EQ(way(choice, name).total_time < way(choice, Preparation::none).total_time, runs == *pays_from)
          << enum_name(name) << " " << runs;
    }
  }
}

TEST(MemoryChoice, never_pays_where_pinned_memory_is_no_faster) {
  Profile profile = with_prices(40, 80);
  // Host threads that are no limit, and copies of pageable memory that cost nothing.
  profile.links[0].pageable->h2d = profile.links[0].pageable->d2h = {{64_MiB, ms(0.001)}};
  const MemoryChoice choice = choose(profile, 1'000'000);
  EXPECT_EQ(choice.ways.front().preparation, Preparation::none);
  EXPECT_FALSE(way(choice, Preparation::registered).pays_from);
}

TEST(MemoryChoice, never_pays_when_it_would_take_more_runs_than_can_be_counted) {
  EXPECT_FALSE(way(choose(with_prices(1e30, 1e30), 1), Preparation::registered).pays_from);
}

TEST(MemoryChoice, names_the_ways_that_the_profile_has_no_figures_for) {
  Profile profile = with_prices(4, 8);
  profile.host->calls.erase("unpin");
  const MemoryChoice choice = choose(profile, 3);
  ASSERT_EQ(choice.unknown.size(), 1u);
  EXPECT_EQ(choice.unknown[0].preparation, Preparation::registered);
  EXPECT_NE(choice.unknown[0].reason.find("unpin"), std::string::npos) << choice.unknown[0].reason;
  EXPECT_EQ(choice.ways.size(), 2u);
}

TEST(MemoryChoice, is_refused_for_no_runs_and_without_pageable_arrays) {
  const Profile profile = planted_profile();
  const Job job = pageable_job();
  EXPECT_THROW(choose_memory(job, profile, limits_of(profile), {}, rank(job, profile), 0), UsageError);
  const Job pinned = in_out_job(1_MiB, 1_MiB, microseconds(1), 64);
  EXPECT_THROW(choose_memory(pinned, profile, limits_of(profile), {}, rank(pinned, profile), 1), UsageError);
}

}  // namespace
}  // namespace shiplap
