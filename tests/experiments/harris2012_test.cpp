#include "experiments/harris2012/harris2012.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "experiments/papers.hpp"
#include "experiments/reproduction.hpp"
#include "shiplap/device/open.hpp"
#include "tests/experiments/virtual_bench.hpp"

namespace shiplap::experiments::harris {
namespace {

SaxpyTimes times(std::uint64_t elements, double alone_us, double submitted_us, double waited_us) {
  return {.elements = elements,
          .alone = microseconds(alone_us),
          .listed = microseconds(alone_us),
          .submitted = microseconds(submitted_us),
          .waited = microseconds(waited_us)};
}

// 251,658,240 bytes in 2.280032 ms: the published run.
const SaxpyTimes published = times(published_elements, 2280.032, 5, 2290);
const Bandwidth published_peak{148.416e9};

TEST(Harris2012, every_claim_is_found_about_on_every_kind_of_profile) {
  for (const char* profile : {"h200", "tesla-m2050-2012", "ac922-v100-2019", "gtx-titan-2014"}) {
    const VirtualBench on(profile);
    const Reproduction reproduction = reproduced(harris2012, on.bench);
    for (const Claim& claim : harris2012.claims) {
      const Finding* finding = finding_of(harris2012, reproduction, claim.id);
      ASSERT_NE(finding, nullptr) << profile << ": " << claim.id;
      if (finding->verdict == Verdict::cannot_be_checked)
        EXPECT_NE(finding->why, "") << profile << ": " << claim.id;
      else
        EXPECT_NE(finding->observed, "") << profile << ": " << claim.id;
    }
  }
}

TEST(Harris2012, claims_have_names_of_their_own) {
  std::set<std::string_view> ids;
  for (const Claim& claim : harris2012.claims) EXPECT_TRUE(ids.insert(claim.id).second) << claim.id;
}

TEST(Harris2012, the_published_row_is_the_published_run) {
  const VirtualBench on("h200");
  const StepResult step = run_bandwidth(on.bench);
  const auto& row = step.figures.at(1).rows.at(0);
  EXPECT_NEAR(std::get<double>(row[1]), 251.658240, 1e-9);  // MB
  EXPECT_NEAR(std::get<double>(row[2]), 2.280032, 1e-6);    // ms
  EXPECT_EQ(std::get<double>(row[3]), 110.374872);          // GB/s
  EXPECT_NEAR(std::get<double>(row[4]), 74.37, 5e-3);       // %
  EXPECT_NEAR(std::get<double>(row[5]), 18.395812, 1e-5);   // GFLOP/s
  const auto& theory = step.figures.at(0).rows.at(0);
  EXPECT_DOUBLE_EQ(std::get<double>(theory[3]), 148.416);
  EXPECT_EQ(std::get<double>(theory[4]), 148);
}

TEST(Harris2012, the_articles_own_card_gives_the_printed_bandwidth) {
  const VirtualBench on("tesla-m2050-2012");
  const Reproduction reproduction = reproduced(harris2012, on.bench);
  const auto& row = figure_of(reproduction, "saxpy").rows.at(1);
  EXPECT_NEAR(std::get<double>(row[3]), 110.374872, 1e-6);
  EXPECT_EQ(verdict_of(harris2012, reproduction, "effective"), Verdict::consistent_with_model);
  EXPECT_EQ(verdict_of(harris2012, reproduction, "bound"), Verdict::consistent_with_model);
  // Nothing is published of its launches, so that no clock can be compared.
  EXPECT_EQ(verdict_of(harris2012, reproduction, "asynchronous"), Verdict::cannot_be_checked);
  for (const auto& size : figure_of(reproduction, "clocks").rows)
    EXPECT_TRUE(std::holds_alternative<std::monostate>(size[4]));
}

TEST(Harris2012, sizes_reach_beyond_the_count_of_32_bits) {
  const VirtualBench on("h200");
  const StepResult step = run_clocks(on.bench);
  const Figure& clocks = step.figures.at(0);
  EXPECT_EQ(std::get<std::string>(clocks.rows.front()[0]), "1 Ki");
  EXPECT_EQ(std::get<std::string>(clocks.rows.back()[0]), "256 Mi");
  EXPECT_THAT(clocks.rows, ::testing::Contains(::testing::Contains(Cell{std::string("20 Mi")})));
}

TEST(Harris2012, a_device_that_is_measured_gives_what_the_simulation_gives) {
  VirtualBench on("h200");
  const SaxpyTimes simulated = time_saxpy(on.bench, 100'000);
  on.bench.info.is_virtual = false;  // the same device, through the way of a real one
  // A real device's kernel needs no cost to run; the simulated one takes no time for it.
  const SaxpyTimes measured = time_saxpy(on.bench, 100'000);
  ASSERT_TRUE(measured.first.has_value());
  EXPECT_EQ(measured.submitted, simulated.submitted);
  // 1.2 MB at 3971 GB/s and nine tenths of it are 0.34 µs.
  EXPECT_NEAR(in_microseconds(simulated.alone - measured.alone), 1.2e6 / (0.9 * 3971e3), 0.02);
}

TEST(Harris2012, the_share_of_the_peak_decides_on_the_effective_bandwidth) {
  EXPECT_NEAR(in_gigabytes_per_second(effective(published)), 110.374872, 5e-5);
  const auto of = [](double peak_gb) { return judge_effective(published, gigabytes_per_second(peak_gb)).verdict; };
  EXPECT_EQ(of(148.416), Verdict::holds);
  EXPECT_EQ(of(120), Verdict::holds_with_a_change);  // 92 %
  EXPECT_EQ(of(200), Verdict::does_not_hold);        // 55 %
  EXPECT_EQ(of(100), Verdict::does_not_hold);        // 110 %: a cache, or a wrong peak
  EXPECT_EQ(judge_effective(published, std::nullopt).verdict, Verdict::cannot_be_checked);
}

TEST(Harris2012, arithmetic_that_is_nearer_to_its_peak_refutes_the_limit) {
  EXPECT_EQ(judge_limit(published, published_peak, 1030e9).verdict, Verdict::holds);
  EXPECT_EQ(judge_limit(published, published_peak, 40e9).verdict, Verdict::does_not_hold);  // 46 % of the peak
  EXPECT_EQ(judge_limit(published, published_peak, std::nullopt).verdict, Verdict::cannot_be_checked);
}

TEST(Harris2012, a_launch_that_grows_with_the_kernel_is_no_launch) {
  const SaxpyTimes small = times(1024, 3, 4, 12);
  EXPECT_EQ(judge_launch(std::vector{small, times(1 << 28, 900, 4.5, 910)}).verdict, Verdict::holds);
  EXPECT_EQ(judge_launch(std::vector{small, times(1 << 28, 900, 905, 910)}).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_launch(std::vector{small, times(1 << 28, 900, 40, 910)}).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_launch(std::vector{small, times(1 << 12, 3.5, 4, 12)}).verdict, Verdict::cannot_be_checked);
  EXPECT_EQ(judge_launch(std::vector{times(1024, 3, 0, 3), times(1 << 28, 900, 0, 900)}).verdict,
            Verdict::cannot_be_checked);
}

TEST(Harris2012, what_a_wait_adds_decides_on_the_barrier) {
  EXPECT_EQ(judge_barrier(times(published_elements, 2280, 5, 2290)).verdict, Verdict::holds);
  EXPECT_EQ(judge_barrier(times(published_elements, 70, 5, 85)).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_barrier(times(published_elements, 70, 5, 6)).verdict, Verdict::does_not_hold);
}

TEST(Harris2012, waits_and_events_are_judged_by_their_cost) {
  EXPECT_EQ(judge_waits(microseconds(8.8), {.time = microseconds(1.6)}).verdict, Verdict::holds);
  EXPECT_EQ(judge_waits(microseconds(1.7), {.time = microseconds(1.6)}).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_events({.time = microseconds(1)}, microseconds(8.8)).verdict, Verdict::holds);
  EXPECT_EQ(judge_events({.time = microseconds(6)}, microseconds(8.8)).verdict, Verdict::does_not_hold);
}

TEST(Harris2012, a_cost_too_small_for_its_clock_is_at_most_the_end_of_its_interval) {
  const auto of = [](double value, double high) {
    return cost_of({microseconds(value), Seconds{0}, microseconds(high)});
  };
  EXPECT_FALSE(of(0, 0).has_value());
  EXPECT_FALSE(of(0.1, 0.9)->at_most);
  EXPECT_NEAR(in_microseconds(of(0.1, 0.9)->time), 0.1, 1e-12);
  const Cost small = of(0, 0.11).value();
  EXPECT_TRUE(small.at_most);
  const Finding finding = judge_events(small, microseconds(8.4));
  EXPECT_EQ(finding.verdict, Verdict::holds);
  EXPECT_TRUE(finding.observed.starts_with("at most 0.1100 µs")) << finding.observed;
  EXPECT_EQ(judge_events(of(0, 6).value(), microseconds(8.4)).verdict, Verdict::cannot_be_checked);
  EXPECT_EQ(judge_waits(microseconds(8.4), of(0, 0.5).value()).verdict, Verdict::holds);
  EXPECT_EQ(judge_waits(microseconds(8.4), of(0, 8).value()).verdict, Verdict::cannot_be_checked);
}

TEST(Harris2012, the_grain_is_the_smallest_step) {
  EXPECT_NEAR(in_microseconds(*grain({4.5, 3.0, 3.5, 3.0, 6.0})), 0.5, 1e-12);
  EXPECT_FALSE(grain({3.0, 3.0, 3.0000001}).has_value());  // rounding of single precision is no step
  EXPECT_EQ(judge_grain(microseconds(0.5)).verdict, Verdict::holds);
  EXPECT_EQ(judge_grain(microseconds(0.032)).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_grain(microseconds(2)).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_grain(std::nullopt).verdict, Verdict::cannot_be_checked);
}

CopyTimes copy(const std::string& memory, Bytes size, double events_us, double submitted_us, double waited_us) {
  return {.direction = "host to GPU",
          .memory = memory,
          .size = size,
          .events = microseconds(events_us),
          .submitted = microseconds(submitted_us),
          .waited = microseconds(waited_us)};
}

TEST(Harris2012, only_calls_that_come_back_late_hold_the_host) {
  const CopyTimes pinned = copy("pinned", 16_MiB, 305, 3, 312);
  EXPECT_EQ(judge_blocking(std::vector{copy("pageable", 16_MiB, 2000, 1990, 2005), pinned}).verdict,
            Verdict::holds_with_a_change);
  EXPECT_EQ(judge_blocking(std::vector{copy("pageable", 16_MiB, 2000, 5, 2005), pinned}).verdict,
            Verdict::does_not_hold);
  EXPECT_EQ(
      judge_blocking(std::vector{copy("pageable", 16_MiB, 2000, 1990, 2005), copy("pinned", 16_MiB, 305, 310, 312)})
          .verdict,
      Verdict::holds);
  EXPECT_EQ(judge_blocking(std::vector{copy("pageable", 4_KiB, 4, 4, 4)}).verdict, Verdict::cannot_be_checked);
}

TEST(Harris2012, rates_by_two_clocks_have_to_agree) {
  EXPECT_EQ(judge_rates(std::vector{copy("pinned", 16_MiB, 305, 3, 312)}).verdict, Verdict::holds);
  EXPECT_EQ(judge_rates(std::vector{copy("pinned", 16_MiB, 250, 3, 312)}).verdict, Verdict::does_not_hold);
}

TEST(Harris2012, most_kernels_are_more_than_half_of_them) {
  const KernelBalance memory{"a", milliseconds(2), milliseconds(1)};
  const KernelBalance arithmetic{"b", milliseconds(1), milliseconds(2)};
  EXPECT_EQ(judge_kernels(std::vector{memory, memory, arithmetic}).verdict, Verdict::holds);
  EXPECT_EQ(judge_kernels(std::vector{memory, arithmetic}).verdict, Verdict::does_not_hold);
}

}  // namespace
}  // namespace shiplap::experiments::harris
