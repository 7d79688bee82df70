// Kernels that share the SMs, against times worked out by hand.
#include "shiplap/sim/compute.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "shiplap/sim/kernel_order.hpp"

namespace shiplap::sim {
namespace {

/// Kernels that all arrive at 0; when each ends.
std::map<std::uint32_t, double> ends(const std::vector<Compute::Kernel>& kernels, bool concurrent = true) {
  OpStates ops(kernels.size());
  KernelOrder order(ImplicitSync::none, ops);
  Compute compute(concurrent, order);
  for (const Compute::Kernel& kernel : kernels) compute.arrive(kernel);
  compute.start_next(0);
  std::map<std::uint32_t, double> result;
  while (compute.next_event() < never) {
    const double now = compute.next_event();
    if (const OpIndex op = compute.advance(); op != no_op) result[op] = now;
    compute.after_event(now);
  }
  return result;
}
Compute::Kernel kernel(std::uint32_t op, double work, std::uint64_t blocks, std::uint64_t full_rate_blocks,
                       std::uint64_t max_resident_blocks) {
  return {.op = op,
          .work = work,
          .blocks = blocks,
          .full_rate_blocks = full_rate_blocks,
          .max_resident_blocks = max_resident_blocks};
}

TEST(Compute, slows_kernels_down_alike_that_ask_for_more_than_the_whole_rate) {
  // Each takes half of the rate and a quarter of the space: three ask for 1.5 of it.
  const auto end = ends({kernel(0, 3, 5, 10, 20), kernel(1, 3, 5, 10, 20), kernel(2, 3, 5, 10, 20)});
  for (const auto& [op, time] : end) EXPECT_NEAR(time, 4.5, 1e-12) << op;
}

TEST(Compute, gives_what_a_kernel_leaves_to_the_others_when_it_ends) {
  // Both at two thirds of full speed until the shorter one has had its 2 s: 3 s; then the other one's last 2 s.
  const auto end = ends({kernel(0, 2, 15, 20, 40), kernel(1, 4, 15, 20, 40)});
  EXPECT_NEAR(end.at(0), 3, 1e-12);
  EXPECT_NEAR(end.at(1), 5, 1e-12);
}

TEST(Compute, runs_kernels_at_full_speed_that_ask_for_no_more_than_the_rate) {
  const auto end = ends({kernel(0, 2, 5, 10, 10), kernel(1, 3, 5, 10, 10)});
  EXPECT_NEAR(end.at(0), 2, 1e-12);
  EXPECT_NEAR(end.at(1), 3, 1e-12);
}

TEST(Compute, lets_kernels_wait_for_space_even_where_rate_is_left) {
  const auto end = ends({kernel(0, 2, 10, 100, 10), kernel(1, 2, 10, 100, 10)});
  EXPECT_NEAR(end.at(0), 2, 1e-12);
  EXPECT_NEAR(end.at(1), 4, 1e-12);
}

TEST(Compute, runs_one_kernel_at_a_time_where_the_gpu_can_no_more) {
  const auto end = ends({kernel(0, 2, 1, 10, 10), kernel(1, 2, 1, 10, 10)}, false);
  EXPECT_NEAR(end.at(1), 4, 1e-12);
}

TEST(Compute, runs_waves_and_leaves_the_space_of_the_last_one_to_others) {
  // 25 blocks in waves of 10, each of 1 s: after 2 s half of the GPU is free for the 5 blocks of the other.
  const auto end = ends({kernel(0, 3, 25, 10, 10), kernel(1, 2, 5, 10, 10)});
  EXPECT_NEAR(end.at(0), 3, 1e-12);
  EXPECT_NEAR(end.at(1), 4, 1e-12);
}

TEST(Compute, shares_the_gpu_among_kernels_of_many_launches_from_their_start) {
  // Two and a half waves of 10 blocks in each launch: five sixths of the rate on average, twice.
  const auto fine = [](std::uint32_t op) { return Compute::many_launches(kernel(op, 3, 25, 10, 10)); };
  EXPECT_NEAR(ends({fine(0)}).at(0), 3, 1e-12) << "alone as it is";
  const auto end = ends({fine(0), fine(1)});
  for (const auto& [op, time] : end) EXPECT_NEAR(time, 3 * 5. / 3, 1e-12) << op;
}

}  // namespace
}  // namespace shiplap::sim
