#include "shiplap/measure/sampler.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

/// A probe that always takes `time`, counting its runs.
Probe constant(Seconds time, unsigned& runs) {
  return [time, &runs]() -> Reading {
    ++runs;
    return {.time = time, .cost = time};
  };
}

/// A probe that takes turns between two times that are `spread` apart, relative to the first.
Probe alternating(Seconds time, double spread, unsigned& runs) {
  return [time, spread, &runs]() -> Reading {
    const Seconds t = ++runs % 2 == 0 ? time * (1 + spread) : time;
    return {.time = t, .cost = t};
  };
}

TEST(Sample, stops_at_the_least_number_when_all_samples_are_equal) {
  unsigned runs = 0;
  const auto samples = sample(std::vector{constant(microseconds(7), runs)}, {.warm_up = 2, .least = 5});
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].size(), 5u);
  for (const double us : samples[0]) EXPECT_DOUBLE_EQ(us, 7);
  EXPECT_EQ(runs, 7u) << "two warm-up runs are thrown away";
}

TEST(Sample, goes_on_to_the_most_when_the_spread_stays) {
  unsigned runs = 0;
  const auto samples =
      sample(std::vector{alternating(microseconds(10), 0.2, runs)}, {.most = 40, .budget = Seconds{1}});
  EXPECT_EQ(samples[0].size(), 40u);
}

TEST(Sample, keeps_some_of_very_many_samples_evenly_spaced) {
  double us = 0;
  const Probe probe = [&us]() -> Reading { return {.time = microseconds(++us), .cost = microseconds(1)}; };
  const unsigned most = static_cast<unsigned>(most_kept_samples) * 5 / 2;
  const auto samples =
      sample(std::vector{probe}, {.warm_up = 0, .most = most, .relative_half_width = -1, .budget = Seconds{1e9}});
  ASSERT_EQ(samples[0].size(), most_kept_samples);
  EXPECT_DOUBLE_EQ(samples[0].front(), 1);
  EXPECT_DOUBLE_EQ(samples[0][2], 6);
  EXPECT_NEAR(samples[0].back(), most, 3);
}

TEST(Sample, stops_when_the_budget_of_device_time_is_used_but_not_before_the_least_number) {
  unsigned runs = 0;
  const auto few = sample(std::vector{alternating(milliseconds(100), 0.2, runs)}, {.budget = milliseconds(150)});
  EXPECT_EQ(few[0].size(), 5u);
  runs = 0;
  // 10 ms and 12 ms in turns: the ninth sample brings the sum to 98 ms, the tenth over 100 ms.
  const auto more =
      sample(std::vector{alternating(milliseconds(10), 0.2, runs)}, {.warm_up = 0, .budget = milliseconds(100)});
  EXPECT_EQ(more[0].size(), 10u);
}

TEST(Sample, looks_at_a_window_of_time_before_a_narrow_interval_counts) {
  // 10 us, and 0.1 % more every other time: narrow after 5 samples, but 2 ms hold 200 of them.
  unsigned runs = 0;
  const SampleOptions options{.most = 1000, .relative_half_width = 0.005, .window = milliseconds(2)};
  EXPECT_GE(sample(std::vector{alternating(microseconds(10), 0.001, runs)}, options)[0].size(), 199u);
  EXPECT_EQ(sample(std::vector{constant(microseconds(10), runs)}, options)[0].size(), 5u);
}

TEST(Sample, lets_the_probes_take_turns_and_gives_each_equally_many_samples) {
  std::string order;
  const Probe a = [&]() -> Reading { return order += 'a', Reading{microseconds(1), microseconds(1)}; };
  const Probe b = [&]() -> Reading { return order += 'b', Reading{microseconds(2), microseconds(2)}; };
  const auto samples = sample(std::vector{a, b}, {.warm_up = 1, .least = 6});
  EXPECT_EQ(order, "ababababababab");
  EXPECT_EQ(samples[0].size(), 6u);
  EXPECT_EQ(samples[1].size(), 6u);
}

TEST(Sample, of_fewer_than_five_ends_with_its_budget_only) {
  const Probe quick_one = [] { return Reading{milliseconds(1), milliseconds(1)}; };
  EXPECT_EQ(sample(std::vector{quick_one}, {.least = 3})[0].size(), 5u) << "three that agree may do so by chance";
  EXPECT_EQ(sample(std::vector{quick_one}, {.least = 3, .budget = milliseconds(2)})[0].size(), 3u);
}

TEST(Sample, waits_until_every_probe_is_known_well_enough) {
  unsigned steady = 0;
  unsigned unsteady = 0;
  const auto samples =
      sample(std::vector{constant(microseconds(10), steady), alternating(microseconds(10), 0.2, unsteady)},
             {.most = 30, .budget = Seconds{1}});
  EXPECT_EQ(samples[0].size(), 30u);
}

TEST(Sample, refuses_numbers_of_samples_and_probes_that_give_none) {
  unsigned runs = 0;
  const std::vector one{constant(microseconds(7), runs)};
  const auto refusal = [](std::span<const Probe> probes, const SampleOptions& options) {
    return message_of([&] { sample(probes, options); });
  };
  const std::string all = "sampling needs a probe, at least one sample and no upper limit below the lower one";
  EXPECT_EQ(refusal({}, {}), all);
  EXPECT_EQ(refusal(one, {.least = 0}), all);
  EXPECT_EQ(refusal(one, {.least = 6, .most = 5}), all);
  EXPECT_EQ(runs, 0u);
  EXPECT_EQ(sample(one, {.warm_up = 0, .least = 6, .most = 6}).front().size(), 6u);
}

}  // namespace
}  // namespace shiplap
