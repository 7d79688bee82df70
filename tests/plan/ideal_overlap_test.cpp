#include "shiplap/plan/ideal_overlap.hpp"

#include <gtest/gtest.h>

#include "shiplap/plan/duplex_schedule.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/strategy/limits.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

TEST(IdealOverlap, of_arrays_that_fill_the_memory_thousands_of_times_is_that_of_all_their_copies) {
  Profile profile = planted_profile();
  profile.gpus.front().memory = 40_MiB;
  const Bytes memory = limits_of(profile).device_memory;
  for (const auto& [in, out] :
       {std::pair{96_GiB, 24_GiB}, {40_GiB, 0_B}, {3_GiB, 64_GiB}, {64_GiB + 12345_B, 64_GiB}}) {
    const Job job = in_out_job(in, out, milliseconds(1), 1 << 20);
    ASSERT_GT((bytes_in(job) + bytes_out(job)).count / memory.count, 1024u) << "a part of the copies is simulated";
    const Seconds all = simulate(duplex_schedule(job, memory), profile, {.held = true}).timeline.makespan;
    EXPECT_NEAR(ideal_overlap(job, profile).copies.count(), all.count(), 2e-3 * all.count())
        << to_string(in) << " in, " << to_string(out) << " out";
  }
}

}  // namespace
}  // namespace shiplap
