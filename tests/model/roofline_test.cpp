#include "shiplap/model/roofline.hpp"

#include <gtest/gtest.h>

#include "tests/model/hand_simulation.hpp"

namespace shiplap::roofline {
namespace {

// 1000 flop/s, 100 B/s of memory, 10 B/s in, 5 B/s out.
const Machine machine{1000, {100}, {10}, {5}};

struct Case {
  Machine machine;
  Traffic traffic;
};

std::vector<Case> random_cases() {
  by_hand::Random random(3);
  std::vector<Case> cases;
  while (cases.size() < 300) {
    const auto rate = [&] { return Bandwidth{random.power_of_two(30, 36)}; };
    const auto bytes = [&] { return Bytes{random.count(10, 28)}; };
    cases.push_back({{random.power_of_two(30, 44), {random.power_of_two(34, 42)}, rate(), rate()},
                     {random.power_of_two(10, 40), bytes(), bytes(), bytes(), bytes()}});
  }
  return cases;
}

// Flops over the time of 20,000 chunks played through on a device.
double simulated(const Case& c, Seconds kernel, Seconds in, Seconds out, const by_hand::Device& device) {
  constexpr std::uint32_t n = 20000;
  return c.traffic.flops /
         by_hand::simulate({.n = n, .in = in.count() / n, .kernel = kernel.count() / n, .out = out.count() / n},
                           device);
}

Seconds kernel_time(const Case& c) {
  const double memory = static_cast<double>(c.traffic.reads.count + c.traffic.writes.count);
  return Seconds{std::max(c.traffic.flops / c.machine.flop_rate, memory / c.machine.memory.bytes_per_second)};
}

TEST(Roofline, gives_values_computed_by_hand) {
  // 4 s of memory traffic against 2 s of flops; 10 s in, 8 s out.
  const Traffic t{.flops = 2000, .reads = Bytes{300}, .writes = Bytes{100}, .in = Bytes{100}, .out = Bytes{40}};
  EXPECT_DOUBLE_EQ(plain(machine, t), 500);
  EXPECT_DOUBLE_EQ(full_overlap(machine, t), 200);
  EXPECT_DOUBLE_EQ(zero_overlap(machine, t), 2000.0 / 22);
  EXPECT_DOUBLE_EQ(zero_copy(machine, t), 2000.0 / 30);  // 300 bytes of reads at 10 B/s
  const Traffic writing{.flops = 2000, .reads = Bytes{100}, .writes = Bytes{300}, .in = {}, .out = {}};
  EXPECT_DOUBLE_EQ(zero_copy(machine, writing), 2000.0 / 60);  // 300 bytes of writes at 5 B/s
  EXPECT_DOUBLE_EQ(as_printed::full_overlap(machine, t, {10}), 2000.0 / 14);
  EXPECT_DOUBLE_EQ(as_printed::zero_overlap(machine, t, {10}), 2000.0 / 18);
  EXPECT_DOUBLE_EQ(as_printed::zero_copy(machine, t, {10}), 2000.0 / 40);
}

TEST(Roofline, as_printed_is_the_formula_of_intensities) {
  for (const Case& c : random_cases()) {
    const auto& [m, t] = c;
    const double oi = t.flops / static_cast<double>(t.reads.count + t.writes.count);
    const double di = t.flops / static_cast<double>(t.in.count + t.out.count);
    const double r_m = std::min(m.flop_rate, m.memory.bytes_per_second * oi);
    ASSERT_NEAR(plain(m, t) / r_m, 1, 1e-12);
    ASSERT_NEAR(as_printed::full_overlap(m, t, m.h2d) / std::min(r_m, m.h2d.bytes_per_second * di), 1, 1e-12);
    ASSERT_NEAR(as_printed::zero_copy(m, t, m.h2d) / std::min(m.flop_rate, m.h2d.bytes_per_second * oi), 1, 1e-12);
    const double transfer = static_cast<double>(t.in.count + t.out.count) / m.h2d.bytes_per_second;
    ASSERT_NEAR(as_printed::zero_overlap(m, t, m.h2d) / (t.flops / (transfer + t.flops / r_m)), 1, 1e-12);
  }
}

TEST(FullOverlap, is_what_very_many_chunks_reach_on_two_engines_and_the_printed_one_on_one) {
  for (const Case& c : random_cases()) {
    const auto& [m, t] = c;
    const double two = simulated(c, kernel_time(c), t.in / m.h2d, t.out / m.d2h, {.copy_engines = 2});
    ASSERT_LE(two, full_overlap(m, t) * (1 + 1e-9));
    ASSERT_NEAR(two / full_overlap(m, t), 1, 2e-4);
    const double one = simulated(c, kernel_time(c), t.in / m.h2d, t.out / m.h2d, {.copy_engines = 1});
    ASSERT_NEAR(one / as_printed::full_overlap(m, t, m.h2d), 1, 2e-4);
  }
}

TEST(ZeroOverlap, is_one_chunk) {
  for (const Case& c : random_cases()) {
    const auto& [m, t] = c;
    const double alone =
        t.flops /
        by_hand::simulate(
            {.n = 1, .in = (t.in / m.h2d).count(), .kernel = kernel_time(c).count(), .out = (t.out / m.d2h).count()},
            {});
    ASSERT_NEAR(zero_overlap(m, t) / alone, 1, 1e-12);
  }
}

TEST(FullOverlap, of_equal_traffic_each_way_is_twice_what_is_printed) {
  const Machine symmetric{1e12, {1e11}, {1e10}, {1e10}};
  const Traffic t{.flops = 1e6, .reads = Bytes{0}, .writes = Bytes{0}, .in = 1_GiB, .out = 1_GiB};
  EXPECT_DOUBLE_EQ(full_overlap(symmetric, t) / as_printed::full_overlap(symmetric, t, symmetric.h2d), 2);
}

TEST(Roofline, has_no_limit_from_a_link_or_memory_that_carries_nothing) {
  const Traffic none{.flops = 2000, .reads = {}, .writes = {}, .in = {}, .out = {}};
  for (const auto& bound : {plain, full_overlap, zero_overlap, zero_copy}) EXPECT_DOUBLE_EQ(bound(machine, none), 1000);
}

}  // namespace
}  // namespace shiplap::roofline
