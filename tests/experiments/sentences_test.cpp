// The sentences of findings follow from the numbers: a planted opposite result gives the opposite sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "experiments/commscope2019/commscope2019.hpp"
#include "experiments/eth2025/verdicts.hpp"
#include "experiments/gomezluna2012/judge.hpp"
#include "experiments/harris2012/harris2012.hpp"
#include "experiments/werkhoven2014/judge.hpp"
#include "experiments/werkhoven2014/ocean.hpp"
#include "experiments/werkhoven2014/tables.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Harris 2012.

harris::SaxpyTimes saxpy(std::uint64_t elements, double alone_us, double submitted_us, double waited_us) {
  return {.elements = elements,
          .alone = microseconds(alone_us),
          .listed = microseconds(alone_us),
          .submitted = microseconds(submitted_us),
          .waited = microseconds(waited_us)};
}

TEST(SentencesOfHarris2012, a_launch_that_is_long_or_grows_is_described_by_both_ratios) {
  const harris::SaxpyTimes small = saxpy(1024, 3, 4, 12);
  EXPECT_THAT(harris::judge_launch(std::vector{small, saxpy(1 << 28, 900, 40, 1000)}).why,
              HasSubstr("4 % of the longest kernel, and 10 times"));
  EXPECT_THAT(harris::judge_launch(std::vector{saxpy(1024, 3, 100, 110), saxpy(1 << 28, 900, 250, 1000)}).why,
              HasSubstr("25 % of the longest kernel, and 2.5 times"))
      << "it does not grow, and is long all the same";
}

TEST(SentencesOfHarris2012, waits_events_and_arithmetic_are_compared_in_figures) {
  EXPECT_THAT(harris::judge_waits(microseconds(2.24), {.time = microseconds(1.6)}).why, HasSubstr("1.4 times as long"));
  EXPECT_THAT(harris::judge_waits(microseconds(0.8), {.time = microseconds(1.6)}).why, HasSubstr("0.5 times as long"));
  EXPECT_THAT(harris::judge_events({.time = microseconds(6)}, microseconds(8)).why, HasSubstr("0.75 times as much"));
  EXPECT_THAT(harris::judge_events({.time = microseconds(80)}, microseconds(8)).why, HasSubstr("10 times as much"));
  const harris::SaxpyTimes published = saxpy(harris::published_elements, 2280.032, 5, 2290);
  const Bandwidth peak{148.416e9};
  // 18.4 GFLOP/s are half and twice the 74 % of the bandwidth.
  EXPECT_THAT(harris::judge_limit(published, peak, 18.4e9 / 0.372).why,
              HasSubstr("is 0.5 times that of the bandwidth"));
  EXPECT_THAT(harris::judge_limit(published, peak, 18.4e9 / 1.487).why, HasSubstr("is 2 times that of the bandwidth"));
}

TEST(SentencesOfHarris2012, nothing_is_said_of_memory_whose_copies_were_not_timed) {
  const auto copy = [](const char* memory, double submitted_us) {
    return harris::CopyTimes{.direction = "host to GPU",
                             .memory = memory,
                             .size = 16_MiB,
                             .events = microseconds(300),
                             .submitted = microseconds(submitted_us),
                             .waited = microseconds(1000)};
  };
  EXPECT_EQ(harris::judge_blocking(std::vector{copy("pinned", 10)}).verdict, Verdict::cannot_be_checked);
  const Finding pageable = harris::judge_blocking(std::vector{copy("pageable", 990)});
  EXPECT_EQ(pageable.verdict, Verdict::holds);
  EXPECT_EQ(pageable.why, "");
  EXPECT_THAT(harris::judge_blocking(std::vector{copy("pageable", 990), copy("pinned", 10)}).why,
              HasSubstr("pinned memory hold the host for 1 % of the time at most"));
  EXPECT_THAT(harris::judge_blocking(std::vector{copy("pageable", 200)}).why, HasSubstr("back after 20 %"));
}

// Comm|Scope 2019.

shiplap::Figure rate(const std::string& primitive, double gb, commscope::Arguments arguments = {}) {
  const Bytes size = 64_MiB;
  arguments["bytes"] = static_cast<double>(size.count);
  const Seconds time = size / gigabytes_per_second(gb);
  return {.primitive = primitive,
          .arguments = std::move(arguments),
          .time = Interval<Seconds>::exact(time),
          .fast = time,
          .bytes = size,
          .limit = std::nullopt,
          .clock = "events",
          .counts = {1}};
}

TEST(SentencesOfCommScope2019, what_makes_no_difference_is_told_from_what_is_slower) {
  const auto peers = [](double with, double without) {
    return commscope::judge_peer_access(commscope::Rates({rate("peer.copy", with), rate("peer.staged", without)})).why;
  };
  EXPECT_THAT(peers(11, 11), HasSubstr("1 times as fast with peer access"));
  EXPECT_THAT(peers(5.5, 11), HasSubstr("0.5 times as fast with peer access"));
  const auto nodes = [](double far) {
    return commscope::judge_near_and_far(commscope::Rates({rate("numa.copy.pinned.h2d", 60, {{"node", 0}}),
                                                           rate("numa.copy.pinned.h2d", far, {{"node", 1}})}))
        .why;
  };
  EXPECT_THAT(nodes(60), HasSubstr("1 times"));
  EXPECT_THAT(nodes(66), HasSubstr("1.1 times"));
  const auto threads = [](double many) {
    return commscope::judge_threads(
               commscope::Rates({rate("demand.d2h", 4, {{"threads", 1}}), rate("demand.d2h", many, {{"threads", 8}})}))
        .why;
  };
  EXPECT_THAT(threads(5), HasSubstr("1.25 times"));
  EXPECT_THAT(threads(2), HasSubstr("1 times"));
  const auto flushed = [](double pinned) {
    return commscope::judge_flush(
               commscope::Rates({rate("copy.pageable.h2d", 15), rate("copy.pageable.h2d.flushed", 8),
                                 rate("copy.pinned.h2d", pinned), rate("copy.pinned.h2d.flushed", 50)}))
        .why;
  };
  EXPECT_THAT(flushed(55), HasSubstr("pinned memory by +10.0 %"));
  EXPECT_THAT(flushed(40), HasSubstr("pinned memory by -20.0 %"));
}

TEST(SentencesOfCommScope2019, reads_that_lose_little_are_told_from_writes_that_lose_as_much) {
  const auto of = [](double read, double write) {
    const commscope::ZeroCopy one{.size = 64_MiB,
                                  .to_gpu = gigabytes_per_second(55),
                                  .read = gigabytes_per_second(55 - read),
                                  .read16 = std::nullopt,
                                  .from_gpu = gigabytes_per_second(55),
                                  .write = gigabytes_per_second(55 - write),
                                  .write16 = std::nullopt};
    return commscope::judge_zero_copy_read({one}).why;
  };
  EXPECT_EQ(of(10, 1), "");
  EXPECT_THAT(of(3, 1), HasSubstr("reads lose less than half of the published 10 GB/s"));
  EXPECT_THAT(of(12, 12), HasSubstr("writes lose more than half of what reads lose"));
}

// Van Werkhoven 2014.

const Finding& named(std::span<const Finding> findings, std::string_view claim) {
  const auto f = std::ranges::find(findings, claim, &Finding::claim);
  return f == findings.end() ? throw Error("no finding about " + std::string(claim)) : *f;
}

TEST(SentencesOfWerkhoven2014, errors_of_one_sign_are_not_said_to_be_of_both) {
  using namespace werkhoven;
  const auto why = [](double small, double large) {
    const auto point = [](Bytes total, double error) {
      return Transfer{.to_device = true,
                      .total = total,
                      .copies = 1,
                      .observed = milliseconds(1),
                      .model = milliseconds(1 + error)};
    };
    const std::vector points{point(16_MiB, small), point(64_MiB, large)};
    return named(judge_transfer_errors(points), "error-h2d").why;
  };
  EXPECT_THAT(why(-0.01, 0.005), HasSubstr("of both signs"));
  EXPECT_THAT(why(-0.01, -0.005), HasSubstr("too short a time"));
}

TEST(SentencesOfWerkhoven2014, mapped_writes_and_copies_are_compared_in_figures) {
  using namespace werkhoven;
  DuplexRates found{
      .alone = {{1e-10}, {1e-10}}, .copies = {{{1.3e-10}, {1.1e-10}}}, .mapped = {{{1.2e-10}, {1.1e-10}}}};
  EXPECT_THAT(named(judge_duplex(found), "contention").why,
              HasSubstr("1.20 times as long concurrent with mapped writes, and 1.30 times concurrent with copies"));
  // By copies only the way to the host is slowed down, and mapped writes do nothing that counts.
  found.copies = {{1e-10}, {1.1e-10}};
  found.mapped = {{1.01e-10}, {1e-10}};
  EXPECT_THAT(named(judge_duplex(found), "contention").why,
              HasSubstr("1.01 times as long concurrent with mapped writes, and 1.00 times concurrent with copies"));
}

TEST(SentencesOfWerkhoven2014, a_condition_is_better_turned_round_only_where_it_is) {
  using namespace werkhoven;
  using van_werkhoven_2014::Category;
  // 10/1/10 ms in 10 chunks: by the corrected condition a second engine helps, by the printed one it does not.
  const auto pair = [](Scenario scenario, double on_two, std::vector<CategoryPoint>& points) {
    for (const Category category : {Category::one_engine, Category::two_engines}) {
      CategoryPoint& p = points.emplace_back(CategoryPoint{.category = category, .scenario = scenario, .chunks = 10});
      p.stages = {.h2d = milliseconds(10), .kernel = milliseconds(1), .d2h = milliseconds(10)};
      p.observed = milliseconds(category == Category::one_engine ? 20 : on_two);
      if (category == Category::two_engines) p.three_streams = p.observed;
    }
  };
  std::vector<CategoryPoint> points;
  pair(Scenario::transfers, 11.1, points);
  EXPECT_THAT(judge_second_engine(points).why, HasSubstr("is right more often"));
  pair(Scenario::kernel, 20, points);
  EXPECT_THAT(judge_second_engine(points).why, HasSubstr("is right no more often"));
}

TEST(SentencesOfWerkhoven2014, bounds_say_which_of_them_a_time_lies_below) {
  using namespace werkhoven;
  OverlapBound b{.kernel = "k", .best = milliseconds(13), .printed = milliseconds(19), .corrected = milliseconds(12)};
  EXPECT_THAT(judge_bounds(std::span(&b, 1)).why, HasSubstr("below the bound as printed"));
  b.best = milliseconds(11);
  EXPECT_THAT(judge_bounds(std::span(&b, 1)).why, HasSubstr("with a bandwidth each way too"));
}

TEST(SentencesOfWerkhoven2014, other_grids_are_named_with_what_they_bring) {
  using namespace werkhoven;
  OceanTimes t{.kernel = buoydiff, .category = van_werkhoven_2014::Category::one_engine};
  const std::array<double, 4> ms{26, 17, 25, 20};
  for (std::size_t i = 0; i < ms.size(); ++i) t.observed[i] = t.equation[i] = milliseconds(ms[i]);
  t.tuned[hybrid] = milliseconds(16);
  t.tuned_as[hybrid] = "21 chunks, 16 blocks";
  EXPECT_EQ(named(judge_fastest(std::span(&t, 1), "planted"), "buoydiff-fig9").why,
            "with 21 chunks, 16 blocks: 16.00 ms instead of 20.00 ms");
  t.tuned[hybrid] = milliseconds(19);
  EXPECT_EQ(named(judge_fastest(std::span(&t, 1), "planted"), "buoydiff-fig9").why, "implicit is the fastest");
}

// ETH 2025.

eth::Sweep sweep_of(std::uint64_t of, std::map<std::uint32_t, double> ms) {
  eth::Sweep s;
  s.of = of;
  s.ms = std::move(ms);
  return s;
}

TEST(SentencesOfEth2025, a_peak_is_set_beside_the_balance_of_kernel_and_copies_only_where_that_is_known) {
  std::vector<eth::Sweep> sweeps;
  for (const auto& [calls, speedup] : {std::pair{1u, 1.2}, {8u, 1.5}, {32u, 1.6}, {50u, 2.0}, {512u, 1.1}})
    sweeps.push_back(sweep_of(calls, {{1, 1.0}, {32, 1 / speedup}}));
  EXPECT_THAT(eth::peak_of_calls(sweeps, "it").why, HasSubstr("the peak is at 50 calls"));
  EXPECT_THAT(eth::peak_of_calls(sweeps, "it").why, Not(HasSubstr("kernel")));
  // The copies take 1 ms, the kernel 0.04 ms a call: as long at 25.
  for (eth::Sweep& s : sweeps) {
    s.kernel_ms = 0.04 * static_cast<double>(s.of);
    s.ideal_overlap_ms = std::max(1.0, *s.kernel_ms);
  }
  EXPECT_THAT(eth::peak_of_calls(sweeps, "it").why, HasSubstr("at 0.5 times as many"));
}

TEST(SentencesOfEth2025, gains_too_small_to_count_are_not_called_losses) {
  const std::vector<eth::Sweep> sweeps{sweep_of(1 << 19, {{1, 1.01}, {256, 1.0}})};
  EXPECT_THAT(eth::many_streams_pay(sweeps).why, HasSubstr("gain less than 2 %"));
  EXPECT_THAT(eth::kernels_side_by_side(sweep_of(8192, {{1, 1.01}, {4, 1.0}}), 1.0).why,
              HasSubstr("gain less than 2 %"));
  EXPECT_THAT(eth::kernels_side_by_side(sweep_of(8192, {{1, 2.0}, {4, 1.0}}), 0.5).why,
              HasSubstr("2 times as fast; one launch for all levels needs none and is 2 times as fast"));
}

TEST(SentencesOfEth2025, what_passes_for_results_is_what_the_checks_took) {
  const auto passed = [](bool there, bool here, bool one_more) {
    return std::vector<eth::Passed>{{.calls = 1},
                                    {.calls = 16, .zeros_there = there, .zeros_here = here, .one_more_here = one_more},
                                    {.calls = 32, .zeros_there = there}};
  };
  const Finding found = eth::tolerance_of_results(passed(true, false, true));
  EXPECT_EQ(found.verdict, Verdict::does_not_hold);
  EXPECT_EQ(found.observed, "zeros pass for the results of 16 calls");
  EXPECT_THAT(found.why, HasSubstr("zeros are refused and one call too many is taken"));
  EXPECT_THAT(eth::tolerance_of_results(passed(true, true, false)).why,
              HasSubstr("zeros are taken and one call too many is refused"));
  const Finding none = eth::tolerance_of_results(passed(false, false, false));
  EXPECT_EQ(none.verdict, Verdict::holds);
  EXPECT_EQ(none.observed, "zeros are refused for up to 32 calls");
}

// Gómez-Luna 2012.

TEST(SentencesOfGomezLuna2012, the_point_that_is_off_most_is_named_by_its_stages) {
  using namespace gomez_luna;
  const auto point = [](double in, double out, double observed) {
    return AsymmetricPoint{.work = {{milliseconds(in), milliseconds(0.5), milliseconds(out)}, Seconds{0}},
                           .observed = milliseconds(observed)};
  };
  const std::vector<AsymmetricPoint> in_off{point(3, 1, 8), point(1, 3, 4.4)};
  EXPECT_THAT(of_dominant("fig3-cc1", in_off, 16).why, HasSubstr("largest difference -50.0 %, with t_Thd 3.000 ms"));
  const std::vector<AsymmetricPoint> out_off{point(3, 1, 4.4), point(1, 3, 8)};
  EXPECT_THAT(of_dominant("fig3-cc1", out_off, 16).why, HasSubstr("with t_Thd 1.000 ms"));
}

TEST(SentencesOfGomezLuna2012, losses_are_counted_and_differences_named) {
  using namespace gomez_luna;
  const std::array<double, 1> ours{1};
  EXPECT_THAT(of_adaptation(std::array{-7.0, 2.0, 3.0}, ours, 1).why, HasSubstr("in 1 of 3 cases"));
  EXPECT_THAT(of_adaptation(std::array{-7.0, -2.0, 3.0}, ours, 1).why, HasSubstr("in 2 of 3 cases"));
  EXPECT_EQ(of_asymmetry(0.2).why, "neither as on the GTX 280 nor as on the GTX 480");
  EXPECT_EQ(of_asymmetry(0.35).why, "as on the GTX 280, not as the −2 % of the GTX 480");
}

}  // namespace
}  // namespace shiplap::experiments
