#include "shiplap/plan/search.hpp"

#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/limits.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

TEST(Search, of_any_size_that_is_planned_simulates_a_limited_number_of_ops) {
  const Profile profile = find_profile("h200");
  for (const Bytes size : {1_GiB, 1024_GiB, 20480_GiB, 204800_GiB, 512000_GiB})
    for (const double kernel : {1e-3, 1e3, 1e6}) {
      const Job job = in_out_job(size, size, Seconds{kernel}, size.count / 4);
      for (const char* strategy : {"streams", "hybrid", "implicit"}) {
        Search search(job, profile, {}, limits_of(profile));
        search.run(find_strategy(strategy));
        EXPECT_LE(search.simulated_ops, most_simulated_ops + 8 * most_chunks) << to_string(size) << ' ' << strategy;
        EXPECT_EQ(search.left_out > 0, search.simulated_ops > most_simulated_ops) << to_string(size) << ' ' << strategy;
      }
    }
}

TEST(Ranking, refuses_arrays_larger_than_it_plans_also_where_their_sum_exceeds_64_bits) {
  for (const Bytes size : {most_planned, Bytes{~0ull} / 2, Bytes{~0ull} / 16 * 9})
    EXPECT_NE(message_of<UsageError>([&] {
                rank(in_out_job(size, size, Seconds{1}, 1 << 20), find_profile("h200"));
              }).find("a plan is made for at most 1 PiB"),
              std::string::npos)
        << to_string(size);
}

}  // namespace
}  // namespace shiplap
