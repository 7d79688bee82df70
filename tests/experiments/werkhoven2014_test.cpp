// The published figures as printed, verdicts on planted numbers, and whole runs on virtual devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/page.hpp"
#include "experiments/papers.hpp"
#include "experiments/reproduction.hpp"
#include "experiments/werkhoven2014/judge.hpp"
#include "experiments/werkhoven2014/ocean.hpp"
#include "experiments/werkhoven2014/steps.hpp"
#include "experiments/werkhoven2014/tables.hpp"
#include "shiplap/device/open.hpp"
#include "tests/support/virtual_bench.hpp"

namespace shiplap::experiments {
namespace {

using namespace werkhoven;
using ::testing::HasSubstr;
using van_werkhoven_2014::Category;

/// All steps, or those named.
Reproduction run_on(const std::string& profile, std::vector<std::string> only = {}) {
  return reproduced(werkhoven2014, VirtualBench(profile).bench, std::move(only));
}
Verdict verdict(const Reproduction& r, std::string_view claim) { return verdict_of(werkhoven2014, r, claim); }
const Finding& about(std::span<const Finding> findings, std::string_view claim) {
  const auto f = std::ranges::find(findings, claim, &Finding::claim);
  return f == findings.end() ? throw Error("no finding about " + std::string(claim)) : *f;
}
double number(const Figure& f, std::size_t row, std::string_view column) {
  for (std::size_t c = 0; c < f.columns.size(); ++c)
    if (f.columns[c].name == column) return std::get<double>(f.rows.at(row).at(c));
  throw Error("no column " + std::string(column));
}

// ---- whole runs

TEST(Werkhoven2014, every_claim_gets_a_finding_on_every_device) {
  for (const char* profile : {"h200", "gtx-titan-2014", "gtx-680-2014"}) {
    const Reproduction r = run_on(profile);
    EXPECT_EQ(r.steps.size(), werkhoven2014.steps.size());
    for (const Claim& claim : werkhoven2014.claims) {
      const Finding* f = finding_of(werkhoven2014, r, claim.id);
      ASSERT_NE(f, nullptr) << claim.id << " on " << profile;
      if (f->verdict == Verdict::cannot_be_checked)
        EXPECT_NE(f->why, "") << claim.id;
      else
        EXPECT_NE(f->observed, "") << claim.id << " on " << profile;
    }
  }
}

TEST(Werkhoven2014, the_papers_own_machine_has_the_papers_table_1_and_figures_5_and_6) {
  const Reproduction r = run_on("gtx-titan-2014", {"transfers"});
  EXPECT_EQ(verdict(r, "table1"), Verdict::holds);
  EXPECT_EQ(verdict(r, "fig5"), Verdict::holds);
  EXPECT_EQ(verdict(r, "fig6"), Verdict::holds);
  const Figure& table = figure_of(r, "table1");
  EXPECT_NEAR(number(table, 0, "L+o here"), 9.42, 1e-6);
  EXPECT_NEAR(number(table, 1, "G here"), 0.07924734, 1e-9);
  EXPECT_NEAR(number(table, 1, "g here"), 2.674, 1e-3);
  // The published columns, as printed.
  EXPECT_DOUBLE_EQ(number(table, 0, "L+o published"), 9.42);
  EXPECT_NEAR(number(table, 0, "G published"), 0.08318392, 1e-12);
  EXPECT_NEAR(number(table, 0, "bandwidth published"), 12.0216, 1e-4);
  EXPECT_NEAR(number(table, 1, "bandwidth published"), 12.6187, 1e-4);
  EXPECT_NEAR(number(table, 1, "g published"), 2.674, 1e-9);
  // 16 MiB in 1 and in 256 streams.
  const Figure& in = figure_of(r, "fig5");
  EXPECT_NEAR(number(in, 0, "published model"), 1.40501459356672, 1e-9);
  EXPECT_NEAR(number(in, in.rows.size() - 1, "published model"), 2.04327959356672, 1e-9);
  const Figure& out = figure_of(r, "fig6");
  EXPECT_NEAR(number(out, 0, "published model"), 1.33857274060544, 1e-9);
  EXPECT_NEAR(number(out, out.rows.size() - 1, "published model"), 2.02044274060544, 1e-9);
}

TEST(Werkhoven2014, table_2_has_the_published_rows_first) {
  const Reproduction r = run_on("h200", {"both-ways"});
  const Figure& both = figure_of(r, "table2");
  const double published[][4] = {{0.1741965, 0.1747120, 5.7406, 5.7237},
                                 {0.2491988, 0.2236644, 4.0129, 4.4710},
                                 {0.1193386, 0.1480396, 8.3795, 6.7549}};
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_NEAR(number(both, row, "G host to device"), published[row][0], 1e-9);
    EXPECT_NEAR(number(both, row, "G device to host"), published[row][1], 1e-9);
    EXPECT_NEAR(number(both, row, "host to device"), published[row][2], 1e-4);
    EXPECT_NEAR(number(both, row, "device to host"), published[row][3], 1e-4);
  }
}

TEST(Werkhoven2014, figure_9_by_the_equations_has_the_times_computed_by_hand) {
  const Reproduction r = run_on("gtx-680-2014");
  const Figure& f = figure_of(r, "fig9-published-parameters");
  ASSERT_EQ(f.rows.size(), 6u);
  // Kernel time assumed, then Explicit, Implicit, Streams, Hybrid, Hybrid slower only while both move.
  const double by_hand[][6] = {{5, 91.6, 58.6, 86.8, 85.6, 75.9},     {10, 96.6, 58.6, 86.8, 85.7, 76.0},
                               {8, 150.4, 83.8, 142.6, 158.8, 125.2}, {21, 163.4, 83.8, 142.6, 159.1, 125.5},
                               {8, 122.5, 175.9, 114.7, 106.6, 97.2}, {30, 144.5, 175.9, 114.7, 107.2, 97.8}};
  for (std::size_t row = 0; row < 6; ++row) {
    EXPECT_DOUBLE_EQ(number(f, row, "kernel time assumed"), by_hand[row][0]);
    EXPECT_NEAR(number(f, row, "Explicit"), by_hand[row][1], 0.06);
    EXPECT_NEAR(number(f, row, "Implicit"), by_hand[row][2], 0.06);
    EXPECT_NEAR(number(f, row, "Streams"), by_hand[row][3], 0.06);
    EXPECT_NEAR(number(f, row, "Hybrid"), by_hand[row][4], 0.06);
    EXPECT_NEAR(number(f, row, "Hybrid, slower only while both move"), by_hand[row][5], 0.06);
    // The simulator counts a gap for each array of a level, which is 0.1 ms for the two that go in.
    EXPECT_NEAR(number(f, row, "Streams, simulated"), by_hand[row][3], 0.7);
  }
}

TEST(Werkhoven2014, figure_10_by_table_2_has_the_times_computed_by_hand) {
  const Reproduction r = run_on("gtx-680-2014");
  const Figure& f = figure_of(r, "fig10-published-parameters");
  ASSERT_EQ(f.rows.size(), 6u);
  const double streams_ms[] = {125, 188, 126};
  const double hybrid_ms[] = {178, 241, 180};
  for (std::size_t kernel = 0; kernel < 3; ++kernel) {
    EXPECT_NEAR(number(f, 2 * kernel, "Streams"), streams_ms[kernel], 1);
    EXPECT_NEAR(number(f, 2 * kernel, "Hybrid"), hybrid_ms[kernel], 1);
  }
  EXPECT_NEAR(number(f, 4, "Implicit"), 338, 1);  // within the axis, which ends at 350
}

TEST(Werkhoven2014, without_a_link_the_papers_machines_are_still_judged_by_the_equations) {
  const Reproduction r = run_on("gtx-680-2014");
  EXPECT_EQ(verdict(r, "state"), Verdict::holds);
  EXPECT_EQ(verdict(r, "buoydiff-fig8"), Verdict::holds);
  EXPECT_EQ(verdict(r, "buoydiff-fig9"), Verdict::holds);
  EXPECT_EQ(verdict(r, "buoydiff-fig10"), Verdict::holds);
  EXPECT_EQ(verdict(r, "table1"), Verdict::cannot_be_checked);
  EXPECT_EQ(verdict(r, "error-streams"), Verdict::cannot_be_checked);
}

TEST(Werkhoven2014, figures_have_the_papers_rows_and_bytes_come_out_right) {
  const Reproduction r = run_on("h200", {"categories", "ocean"});
  EXPECT_EQ(figure_of(r, "fig1-3").rows.size(), 9u);  // three categories, three scenarios
  for (const char* id : {"fig8", "fig9"}) EXPECT_EQ(figure_of(r, id).rows.size(), 12u) << id;
  EXPECT_EQ(figure_of(r, "fig10").rows.size(), 15u) << "with streams in three queues";
  for (const char* id : {"fig7-category1", "fig7-category2", "fig7-category3"})
    EXPECT_EQ(figure_of(r, id).rows.size(), 24u) << id;
  const Figure& reduced = figure_of(r, "reduced");
  EXPECT_EQ(reduced.rows.size(), 18u);
  for (const auto& row : reduced.rows) EXPECT_EQ(std::get<std::string>(row.back()), "right");
}

TEST(Werkhoven2014, one_copy_engine_is_no_device_of_the_k20s_category) {
  const Reproduction r = run_on("gtx-titan-2014", {"categories", "ocean"});
  EXPECT_THROW(figure_of(r, "fig10"), Error);
  EXPECT_EQ(verdict(r, "eq5"), Verdict::cannot_be_checked);
  EXPECT_EQ(verdict(r, "second-engine"), Verdict::cannot_be_checked);
}

TEST(Werkhoven2014, on_one_copy_engine_the_equations_are_the_simulation) {
  const Reproduction r = run_on("gtx-titan-2014", {"categories"});
  EXPECT_EQ(verdict(r, "eqs1-2"), Verdict::holds);
  // A kernel between the copies of one direction and of both: eq 3 as selected by t_E > T_hd is too short.
  EXPECT_EQ(verdict(r, "eqs3-4"), Verdict::holds_with_a_change);
}

TEST(Werkhoven2014, the_page_holds_every_claim_and_fault) {
  const std::string text = page(werkhoven2014, run_on("gtx-680-2014"));
  for (const Claim& claim : werkhoven2014.claims) EXPECT_THAT(text, HasSubstr(std::string(claim.where)));
  for (const std::string_view fault : werkhoven2014.faults) EXPECT_THAT(text, HasSubstr(std::string(fault)));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("not run yet")));
}

// ---- the paper's parameters, from this run

TEST(Werkhoven2014Tables, a_byte_beside_kernels_counts_the_pauses_too) {
  // 8 MB: 200 us of kernel, in which 3 MB are copied; the other 5 MB take 100 us, and the next pair begins 4 us later.
  const MappedBeside row{.launch = Bytes{8'000'000},
                         .in_flight = Bytes{1},
                         .kernel = Interval<Bandwidth>::exact(gigabytes_per_second(40)),
                         .copy = Interval<Bandwidth>::exact(gigabytes_per_second(15))};
  const loggp::Parameters alone{.latency_overhead = microseconds(9), .per_byte = {1 / 50e9}, .gap = microseconds(4)};
  const auto load = over_kernels_and_pauses(row, alone, microseconds(2));
  EXPECT_NEAR(load.h2d.seconds, 304e-6 / 8e6, 1e-17);
  EXPECT_NEAR(load.d2h.seconds, 202e-6 / 8e6, 1e-17);
}

TEST(Werkhoven2014Tables, the_profile_of_an_h200_gives_what_another_h200_measured_for_table_2) {
  // Quick run of 8 MiB launches by 1056 blocks (results/h200/reproductions): ns for a byte to the GPU and to the host.
  const TableTwo found = table2_of(find_profile("h200"));
  ASSERT_FALSE(found.mapped.empty());
  EXPECT_NEAR(found.mapped.back().per_byte.h2d.seconds * 1e9, 0.03314, 0.05 * 0.03314);
  EXPECT_NEAR(found.mapped.back().per_byte.d2h.seconds * 1e9, 0.02026, 0.05 * 0.02026);
}

TEST(Werkhoven2014Tables, estimates_take_the_tables_of_the_run_and_say_where_they_are_from) {
  VirtualBench on("h200");
  EXPECT_THAT(paper_link(on.bench).origin, HasSubstr("Table I was not made"));
  EXPECT_THAT(paper_link(on.bench).origin, HasSubstr("Table II was not made"));
  const Figure one{
      .id = "table1",
      .columns = {{"direction", ""}, {"L+o here", "µs"}, {"G here", "ns/byte"}, {"g here", "µs"}},
      .rows = {{std::string("host to device"), 9.0, 0.25, 2.0}, {std::string("device to host"), 8.0, 0.5, 3.0}}};
  Figure two{.id = "table2",
             .columns = {{"link", ""}, {"mode", ""}, {"G host to device", "ns/byte"}, {"G device to host", "ns/byte"}},
             .rows = {{std::string("PCIe 2.0 (published)"), std::string("explicit-mapped"), 7.0, 7.0},
                      {std::string("here"), std::string("explicit-explicit"), 0.3, 0.6},
                      {std::string("here"), std::string("explicit-mapped, 4 blocks"), 0.35, 0.7},
                      {std::string("here"), std::string("explicit-mapped, 1056 blocks"), 0.4, 0.8}}};
  on.bench.made_before = [&](std::string_view id) { return id == "table1" ? &one : id == "table2" ? &two : nullptr; };
  const PaperLink link = paper_link(on.bench);
  EXPECT_NEAR(link.d2h.latency_overhead.count(), 8e-6, 1e-12);
  EXPECT_NEAR(link.h2d.per_byte.seconds, 0.25e-9, 1e-18);
  EXPECT_NEAR(link.d2h.gap.count(), 3e-6, 1e-12);
  EXPECT_NEAR(link.copies.value().d2h.seconds, 0.6e-9, 1e-18);
  EXPECT_NEAR(link.mapped.value().h2d.seconds, 0.4e-9, 1e-18);
  EXPECT_THAT(link.origin, ::testing::Not(HasSubstr("not made")));
  // A run whose Table II has no row of this device knows nothing of mapped writes; the profile does not step in.
  two.rows.resize(1);
  EXPECT_FALSE(paper_link(on.bench).mapped);
}

TEST(Werkhoven2014Tables, t_e_of_streams_is_the_sum_over_launches_that_do_not_fill_the_gpu) {
  Job job = stated_workload({.in = 1_MiB, .out = 1_MiB, .kernel = microseconds(50)}).job;
  job.items = 1000;
  job.cost = {
      .points = {{100, Interval<Seconds>::exact(microseconds(10))}, {1000, Interval<Seconds>::exact(microseconds(50))}},
      .has_floor = true,
      .limited = std::nullopt,
      .origin = "planted"};
  EXPECT_NEAR(in_microseconds(summed_kernels(job, 1)), 50, 1e-9);
  EXPECT_NEAR(in_microseconds(summed_kernels(job, 20)), 200, 1e-9);  // 20 launches of 50 items, 10 us each
}

TEST(Werkhoven2014, hybrid_is_estimated_by_eq_5_with_table_2_of_the_run) {
  const Reproduction r = run_on("h200");
  const Figure& one = figure_of(r, "table1");
  const Figure& two = figure_of(r, "table2");
  const std::size_t most_blocks = two.rows.size() - 1;
  const double latency_ms = (number(one, 0, "L+o here") + number(one, 1, "L+o here")) * 1e-3;
  const double gap_ms = number(one, 0, "g here") * 1e-3;
  const double field = 1024.0 * 1024 * 42 * 8;
  // buoydiff: two fields each way, the copies in take longest, and the kernel is short.
  const double in_ms = 2 * field * number(two, most_blocks, "G host to device") * 1e-6;
  const double out_ms = 2 * field * number(two, most_blocks, "G device to host") * 1e-6;
  const double estimate = number(figure_of(r, "fig9"), 11, "paper's estimate");
  const double without_kernel = latency_ms + in_ms + 41 * gap_ms + out_ms / 42;
  EXPECT_GT(estimate, without_kernel);
  EXPECT_LT(estimate, without_kernel + 0.1) << "a 42nd of a kernel of less than 2 ms";
  EXPECT_LT(std::abs(number(figure_of(r, "fig9"), 11, "error of the estimate")), 10.75)
      << "the paper's worst; with the rate while a kernel runs for all of the transfer it is above 100 %";
}

TEST(Werkhoven2014, a_full_run_tries_hybrid_in_fewer_streams_with_every_grid_and_in_three_queues) {
  const auto tried = [](bool quick) {
    const VirtualBench on("h200", quick);
    const OceanRun run = ocean_runs(on.bench).back();
    std::vector<Choice> choices;
    for (const OceanPoint& p : run.points)
      if (p.choice.strategy == "hybrid" && std::ranges::find(choices, p.choice) == choices.end())
        choices.push_back(p.choice);
    return choices.size();
  };
  // Two layouts, three grids; beside 42 streams three other numbers.
  EXPECT_EQ(tried(true), 6u);
  EXPECT_EQ(tried(false), 24u);
}

// ---- verdicts on planted numbers

TEST(Werkhoven2014Verdicts, table_1_holds_on_its_own_link_only) {
  EXPECT_EQ(judge_table1(table1(true), table1(false)).verdict, Verdict::holds);
  loggp::Parameters faster = table1(true);
  faster.per_byte.seconds /= 4.6;
  EXPECT_EQ(judge_table1(faster, table1(false)).verdict, Verdict::does_not_hold);
  EXPECT_THAT(judge_table1(faster, table1(false)).why, HasSubstr("4.6"));
}

TEST(Werkhoven2014Verdicts, a_gap_above_the_latency_is_found_in_either_direction) {
  const loggp::Parameters good{.latency_overhead = microseconds(9), .per_byte = {1e-10}, .gap = microseconds(2)};
  const loggp::Parameters bad{.latency_overhead = microseconds(2), .per_byte = {1e-10}, .gap = microseconds(9)};
  EXPECT_EQ(judge_latency(good, good).verdict, Verdict::holds);
  EXPECT_EQ(judge_latency(good, bad).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_latency(bad, bad).verdict, Verdict::does_not_hold);
}

Transfer transfer(bool to_device, Bytes total, std::uint32_t copies, double observed_ms, double error) {
  return {.to_device = to_device,
          .total = total,
          .copies = copies,
          .observed = milliseconds(observed_ms),
          .model = milliseconds(observed_ms * (1 + error))};
}

TEST(Werkhoven2014Verdicts, a_line_is_the_published_one_or_another_or_none) {
  const auto line = [](double scale, double bend) {
    return std::vector{transfer(true, 16_MiB, 1, 1.405 * scale, 0), transfer(true, 16_MiB, 256, 2.0433 * scale, bend)};
  };
  EXPECT_EQ(judge_line("fig5", line(1, 0), true).verdict, Verdict::holds);
  EXPECT_EQ(judge_line("fig5", line(0.25, 0.03), true).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(judge_line("fig5", line(0.25, 0.08), true).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_line("fig6", line(1, 0), false).verdict, Verdict::cannot_be_checked);  // no points that way
}

TEST(Werkhoven2014Verdicts, transfer_errors_are_judged_by_size_and_sign) {
  const auto found = [](double in, double out) {
    const std::vector points{transfer(true, 16_MiB, 1, 1, in), transfer(true, 64_MiB, 1, 4, in / 2),
                             transfer(false, 16_MiB, 1, 1, out), transfer(false, 64_MiB, 1, 4, out / 2)};
    return judge_transfer_errors(points);
  };
  EXPECT_EQ(about(found(0.0117, -0.0246), "error-h2d").verdict, Verdict::holds);
  EXPECT_EQ(about(found(-0.0117, -0.0246), "error-h2d").verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(about(found(0.0119, -0.0246), "error-h2d").verdict, Verdict::does_not_hold);
  EXPECT_EQ(about(found(0.01, -0.0246), "error-d2h").verdict, Verdict::holds);
  EXPECT_EQ(about(found(0.01, 0.0246), "error-d2h").verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(about(found(0.01, -0.0248), "error-d2h").verdict, Verdict::does_not_hold);
  EXPECT_EQ(about(found(0.01, 0.01), "largest-error").verdict, Verdict::holds);
}

TEST(Werkhoven2014Verdicts, contention_needs_slower_copies_and_mapped_writes_to_be_worse) {
  BothWays found{.alone = {{1e-10}, {1e-10}}, .copies = {}, .mapped = {}};
  EXPECT_EQ(about(judge_both_ways(found), "contention").verdict, Verdict::cannot_be_checked);
  found.copies = {{1.1e-10}, {1.1e-10}};
  found.mapped = {{1.4e-10}, {1.2e-10}};
  EXPECT_EQ(about(judge_both_ways(found), "contention").verdict, Verdict::holds);
  EXPECT_EQ(about(judge_both_ways(found), "table2").verdict, Verdict::does_not_hold);
  found.mapped = {{1.05e-10}, {1.2e-10}};
  EXPECT_EQ(about(judge_both_ways(found), "contention").verdict, Verdict::holds_with_a_change);
  found.copies = found.mapped = found.alone;
  EXPECT_EQ(about(judge_both_ways(found), "contention").verdict, Verdict::does_not_hold);
  found.mapped = table2()[pcie3_mapped].per_byte;
  EXPECT_EQ(about(judge_both_ways(found), "table2").verdict, Verdict::holds);
}

CategoryPoint category_point(Category category, std::uint32_t chunks, double ms, double printed, double corrected) {
  return {.category = category,
          .scenario = Scenario::kernel,
          .chunks = chunks,
          .observed = milliseconds(ms),
          .printed = milliseconds(printed),
          .corrected = milliseconds(corrected),
          .one_launch = milliseconds(printed)};
}

TEST(Werkhoven2014Verdicts, an_equation_holds_within_the_papers_worst_error) {
  const auto verdict_of = [](double printed, double corrected, std::uint32_t chunks) {
    const std::vector points{category_point(Category::one_engine, 1, 20, 20, 20),
                             category_point(Category::one_engine, chunks, 10, printed, corrected)};
    return about(judge_equations(points), "eqs3-4").verdict;
  };
  EXPECT_EQ(verdict_of(11.07, 11.07, 32), Verdict::holds);  // 10.7 %
  EXPECT_EQ(verdict_of(8.8, 10.1, 32), Verdict::holds_with_a_change);
  EXPECT_EQ(verdict_of(8.8, 8.8, 32), Verdict::does_not_hold);
  EXPECT_EQ(verdict_of(8.8, 8.8, 64), Verdict::holds_with_a_change);  // more streams than the paper has
}

TEST(Werkhoven2014Verdicts, eq_5_may_hold_where_kernels_do_not_run_side_by_side) {
  // In a queue for each stream kernels of 10 ms in all take 8; in one queue they take the 10.
  std::vector points{category_point(Category::two_engines, 1, 12, 12, 12),
                     category_point(Category::two_engines, 32, 8, 10, 10)};
  EXPECT_EQ(about(judge_equations(points), "eq5").verdict, Verdict::does_not_hold);
  points[0].three_queues = milliseconds(12);
  points[1].three_queues = milliseconds(10);
  const auto findings = judge_equations(points);
  EXPECT_EQ(about(findings, "eq5").verdict, Verdict::holds_with_a_change);
  EXPECT_THAT(about(findings, "eq5").why, HasSubstr("side by side"));
  EXPECT_THAT(about(findings, "eq5").observed, HasSubstr("worst 25.00 %")) << "what was judged first";
}

TEST(Werkhoven2014Verdicts, an_estimate_that_falls_for_ever_shows_no_drawback) {
  std::vector points{category_point(Category::one_engine, 64, 10, 10, 10),
                     category_point(Category::one_engine, 128, 11, 9.9, 11)};
  EXPECT_EQ(about(judge_equations(points), "drawback").verdict, Verdict::does_not_hold);
  // Kernels of small chunks take longer: that rise is not the equation's.
  points[1].printed = milliseconds(11);
  EXPECT_EQ(about(judge_equations(points), "drawback").verdict, Verdict::does_not_hold);
  points[1].one_launch = milliseconds(11);
  EXPECT_EQ(about(judge_equations(points), "drawback").verdict, Verdict::holds);
}

TEST(Werkhoven2014Verdicts, a_second_engine_that_helps_where_it_should_not_refutes_the_printed_condition) {
  // 10/1/10 ms in 10 chunks: 20 ms on one engine, 11.1 on two, though 1.1 > 10 is false.
  const StageTimes stages{.h2d = milliseconds(10), .kernel = milliseconds(1), .d2h = milliseconds(10)};
  std::vector points{category_point(Category::one_engine, 10, 20, 20, 20),
                     category_point(Category::two_engines, 10, 11.1, 11.1, 11.1)};
  for (CategoryPoint& p : points) p.stages = stages;
  EXPECT_EQ(judge_second_engine(points).verdict, Verdict::cannot_be_checked) << "kernels ran side by side or not";
  points[1].three_queues = milliseconds(11.1);
  const Finding f = judge_second_engine(points);
  EXPECT_EQ(f.verdict, Verdict::holds_with_a_change);
  EXPECT_THAT(f.observed, HasSubstr("right in 0 of 1"));
  points.pop_back();
  EXPECT_EQ(judge_second_engine(points).verdict, Verdict::cannot_be_checked);
}

TEST(Werkhoven2014Verdicts, kernels_side_by_side_are_no_merit_of_a_second_engine) {
  // 10/60/10 ms in 10 chunks: 62 ms on either, by both conditions; in a queue for each stream kernels overlap.
  std::vector points{category_point(Category::one_engine, 10, 62, 62, 62),
                     category_point(Category::two_engines, 10, 50, 62, 62)};
  for (CategoryPoint& p : points)
    p.stages = {.h2d = milliseconds(10), .kernel = milliseconds(60), .d2h = milliseconds(10)};
  points[1].three_queues = milliseconds(62);
  const Finding f = judge_second_engine(points);
  EXPECT_THAT(f.observed, HasSubstr("in 1 with the corrected condition"));
  EXPECT_THAT(f.observed, HasSubstr("in 1 of those that the engine does not help"));
  // The form itself expects 2.5 %, which is neither a tie nor clear: 20.0 ms against 19.5.
  for (CategoryPoint& p : points)
    p.stages = {.h2d = milliseconds(10), .kernel = milliseconds(17.5), .d2h = milliseconds(10)};
  points[0].observed = milliseconds(20);
  points[1].three_queues = milliseconds(20);
  EXPECT_EQ(judge_second_engine(points).verdict, Verdict::cannot_be_checked);
}

TEST(Werkhoven2014Verdicts, a_number_of_streams_is_judged_by_what_it_costs) {
  StreamsChoice c{.category = Category::one_engine, .rule = "a rule", .wanted = 10, .nearest = 8, .best = 16};
  c.regret = 0.04;
  EXPECT_EQ(judge_streams_choice(std::span(&c, 1)).verdict, Verdict::holds);
  c.regret = 0.06;
  EXPECT_EQ(judge_streams_choice(std::span(&c, 1)).verdict, Verdict::does_not_hold);
  const StreamsChoice without{.category = Category::one_engine, .rule = "none", .wanted = std::nullopt};
  EXPECT_EQ(judge_streams_choice(std::span(&without, 1)).verdict, Verdict::cannot_be_checked);
}

OceanTimes ocean_times(std::size_t kernel, Category category, std::array<double, 4> ms) {
  OceanTimes t{.kernel = kernel, .category = category};
  for (std::size_t i = 0; i < 4; ++i) t.observed[i] = t.equation[i] = milliseconds(ms[i]);
  return t;
}

TEST(Werkhoven2014Verdicts, the_fastest_implementation_decides_and_ties_count) {
  const auto judged = [](OceanTimes t) { return judge_fastest(std::span(&t, 1), "planted"); };
  const auto hybrid_first = ocean_times(buoydiff, Category::one_engine, {26, 17, 25, 16});
  EXPECT_EQ(about(judged(hybrid_first), "buoydiff-fig9").verdict, Verdict::holds);
  EXPECT_EQ(about(judged(ocean_times(buoydiff, Category::one_engine, {26, 17, 25, 17.3})), "buoydiff-fig9").verdict,
            Verdict::holds);  // a tie
  OceanTimes slow = ocean_times(buoydiff, Category::one_engine, {26, 17, 25, 20});
  EXPECT_EQ(about(judged(slow), "buoydiff-fig9").verdict, Verdict::does_not_hold);
  slow.tuned[hybrid] = milliseconds(16);
  slow.tuned_as[hybrid] = "21 chunks, 16 blocks";
  EXPECT_EQ(about(judged(slow), "buoydiff-fig9").verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(about(judged(ocean_times(state_one, Category::two_engines, {19, 14, 13, 15})), "state").verdict,
            Verdict::does_not_hold);
  EXPECT_EQ(about(judged(ocean_times(state_one, Category::two_engines, {19, 13, 14, 15})), "state").verdict,
            Verdict::holds);
}

TEST(Werkhoven2014Verdicts, a_change_is_named_and_three_queues_are_shown_and_not_judged) {
  OceanTimes t = ocean_times(buoydiff, Category::one_engine, {26, 17, 25, 20});
  t.tuned[hybrid] = milliseconds(16);
  t.tuned_as[hybrid] = "21 chunks, 16 blocks";
  t.tuned[implicit] = milliseconds(18);
  t.tuned_as[implicit] = "33 blocks";
  const auto tuned = judge_fastest(std::span(&t, 1), "planted");
  EXPECT_THAT(about(tuned, "buoydiff-fig9").why, HasSubstr("21 chunks, 16 blocks"));
  EXPECT_THAT(about(tuned, "buoydiff-fig9").observed, ::testing::Not(HasSubstr("33 blocks"))) << "it is no better";

  OceanTimes k20 = ocean_times(buoydiff, Category::two_engines, {26, 17, 18, 22});
  EXPECT_THAT(about(judge_fastest(std::span(&k20, 1), "planted"), "buoydiff-fig10").why,
              ::testing::Not(HasSubstr("three queues")));
  k20.three_queues = milliseconds(15);
  const Finding f = about(judge_fastest(std::span(&k20, 1), "planted"), "buoydiff-fig10");
  EXPECT_EQ(f.verdict, Verdict::does_not_hold) << "the paper has a queue for each stream";
  EXPECT_THAT(f.observed, HasSubstr("in three queues streams 15.00 ms"));
  EXPECT_THAT(f.why, HasSubstr("three queues"));
  OceanTimes state = ocean_times(state_one, Category::two_engines, {19, 14, 14.1, 18});
  state.three_queues = milliseconds(13.4);
  const Finding first = about(judge_fastest(std::span(&state, 1), "planted"), "state");
  EXPECT_EQ(first.verdict, Verdict::holds);
  EXPECT_THAT(first.observed, HasSubstr("in three queues: streams 13.40 ms, implicit 14.00 ms"));
  k20.equation[streams] = milliseconds(14.7);
  const Finding error = about(judge_ocean_errors(std::span(&k20, 1)), "error-streams");
  EXPECT_THAT(error.observed, HasSubstr("-18.33 %"));
  EXPECT_THAT(error.why, HasSubstr("-2.00 %")) << "14.7 over 15";
}

TEST(Werkhoven2014Verdicts, what_is_not_complete_is_not_judged) {
  OceanTimes t = ocean_times(buoydiff, Category::one_engine, {26, 17, 25, 16});
  t.observed[implicit] = std::nullopt;
  EXPECT_TRUE(judge_fastest(std::span(&t, 1), "planted").empty());
}

TEST(Werkhoven2014Verdicts, classification_compares_the_estimates_first_with_the_fastest) {
  OceanTimes t = ocean_times(state_one, Category::two_engines, {19, 14, 13, 15});
  EXPECT_EQ(about(judge_fastest(std::span(&t, 1), "planted"), "classification").verdict, Verdict::holds);
  t.equation[implicit] = milliseconds(12);
  EXPECT_EQ(about(judge_fastest(std::span(&t, 1), "planted"), "classification").verdict, Verdict::does_not_hold);
  t.while_both_move[implicit] = milliseconds(14);
  EXPECT_EQ(about(judge_fastest(std::span(&t, 1), "planted"), "classification").verdict, Verdict::holds_with_a_change);
}

TEST(Werkhoven2014Verdicts, estimates_are_judged_by_the_published_worst_error) {
  OceanTimes t = ocean_times(state_one, Category::one_engine, {20, 14, 19, 16});
  t.equation[hybrid] = milliseconds(16 * 1.107);
  EXPECT_EQ(about(judge_ocean_errors(std::span(&t, 1)), "error-hybrid").verdict, Verdict::holds);
  EXPECT_EQ(about(judge_ocean_errors(std::span(&t, 1)), "hardest").verdict, Verdict::holds);
  t.equation[implicit] = milliseconds(14 * 0.8);
  EXPECT_EQ(about(judge_ocean_errors(std::span(&t, 1)), "error-implicit").verdict, Verdict::does_not_hold);
  EXPECT_EQ(about(judge_ocean_errors(std::span(&t, 1)), "hardest").verdict, Verdict::does_not_hold);
  t.while_both_move[implicit] = milliseconds(14 * 1.03);
  EXPECT_EQ(about(judge_ocean_errors(std::span(&t, 1)), "error-implicit").verdict, Verdict::holds_with_a_change);
  t.observed[streams] = std::nullopt;
  EXPECT_EQ(about(judge_ocean_errors(std::span(&t, 1)), "error-streams").verdict, Verdict::cannot_be_checked);
}

TEST(Werkhoven2014Verdicts, half_of_a_time_is_as_far_off_as_twice) {
  OceanTimes k = ocean_times(state_one, Category::one_engine, {20, 14, 19, 16});
  k.equation[implicit] = milliseconds(14 * 0.5);
  OceanTimes other = k;
  other.equation[implicit] = milliseconds(14 * 1.6);
  const std::vector<OceanTimes> all{other, k};
  EXPECT_THAT(about(judge_ocean_errors(all), "error-implicit").observed, HasSubstr("-50.00 %")) << "not +60 %";
  // The published 10.75 % of Hybrid allow 1/1.1075.
  OceanTimes low = ocean_times(state_one, Category::one_engine, {20, 14, 19, 16});
  low.equation[hybrid] = milliseconds(16 / 1.107);
  EXPECT_EQ(about(judge_ocean_errors(std::span(&low, 1)), "error-hybrid").verdict, Verdict::holds);
  low.equation[hybrid] = milliseconds(16 * 0.895);
  EXPECT_EQ(about(judge_ocean_errors(std::span(&low, 1)), "error-hybrid").verdict, Verdict::does_not_hold);
}

TEST(Werkhoven2014Verdicts, a_number_of_streams_between_two_is_the_faster_of_them) {
  std::vector<CategoryPoint> points;
  for (const auto& [chunks, ms] : {std::pair{2u, 8.0}, {4u, 5.0}, {8u, 6.0}, {16u, 9.0}})
    points.push_back({.chunks = chunks, .observed = milliseconds(ms)});
  EXPECT_EQ(standing_for(points, 7, false).chunks, 4u) << "8 is nearer and slower";
  EXPECT_EQ(standing_for(points, 3, false).chunks, 4u);
  EXPECT_EQ(standing_for(points, 8, false).chunks, 8u);
  EXPECT_EQ(standing_for(points, 7, true).chunks, 8u);
  EXPECT_EQ(standing_for(points, 0.4, false).chunks, 2u);
  EXPECT_EQ(standing_for(points, 99, false).chunks, 16u);
}

TEST(Werkhoven2014Verdicts, a_time_below_the_half_duplex_bound_refutes_it) {
  OverlapBound b{.kernel = "k", .best = milliseconds(20), .printed = milliseconds(19), .corrected = milliseconds(12)};
  EXPECT_EQ(judge_bounds(std::span(&b, 1)).verdict, Verdict::holds);
  b.best = milliseconds(13);
  EXPECT_EQ(judge_bounds(std::span(&b, 1)).verdict, Verdict::holds_with_a_change);
  b.best = milliseconds(11);
  EXPECT_EQ(judge_bounds(std::span(&b, 1)).verdict, Verdict::does_not_hold);
  EXPECT_EQ(judge_bounds({}).verdict, Verdict::cannot_be_checked);
}

}  // namespace
}  // namespace shiplap::experiments
