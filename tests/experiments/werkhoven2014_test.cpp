// The published figures as printed, and whole runs on virtual devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/page.hpp"
#include "experiments/papers.hpp"
#include "experiments/reproduction.hpp"
#include "experiments/werkhoven2014/ocean.hpp"
#include "experiments/werkhoven2014/steps.hpp"
#include "experiments/werkhoven2014/tables.hpp"
#include "shiplap/device/open.hpp"
#include "tests/experiments/virtual_bench.hpp"

namespace shiplap::experiments {
namespace {

using namespace werkhoven;
using ::testing::HasSubstr;

/// All steps, or those named.
Reproduction run_on(const std::string& profile, std::vector<std::string> only = {}) {
  return reproduced(werkhoven2014, VirtualBench(profile).bench, std::move(only));
}
Verdict verdict(const Reproduction& r, std::string_view claim) { return verdict_of(werkhoven2014, r, claim); }
double number(const Figure& f, std::size_t row, std::string_view column) {
  for (std::size_t c = 0; c < f.columns.size(); ++c)
    if (f.columns[c].name == column) return std::get<double>(f.rows.at(row).at(c));
  throw Error("no column " + std::string(column));
}

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
  EXPECT_EQ(verdict(r, "table1"), Verdict::consistent_with_model);
  EXPECT_EQ(verdict(r, "fig5"), Verdict::consistent_with_model);
  EXPECT_EQ(verdict(r, "fig6"), Verdict::consistent_with_model);
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

TEST(Werkhoven2014, the_creation_of_a_stream_is_shared_by_its_uses) {
  const Reproduction r = run_on("h200", {"stream-creation"});
  EXPECT_EQ(verdict(r, "stream-creation"), Verdict::consistent_with_model);
  const Figure& table = figure_of(r, "stream-creation");
  const double once = number(table, 0, "creation and destruction for each use");
  EXPECT_GT(once, 1.5) << "the profile has 1.897 us for the creation alone";
  EXPECT_NEAR(number(table, 3, "creation and destruction for each use"), once / 1000, 1e-9);
  EXPECT_NEAR(number(table, 3, "published estimate for each use"), 0.03, 1e-12);
  // No paper has published these calls of a GTX Titan.
  EXPECT_EQ(verdict(run_on("gtx-titan-2014", {"stream-creation"}), "stream-creation"), Verdict::cannot_be_checked);
}

TEST(Werkhoven2014, without_a_link_the_papers_machines_are_still_judged_by_the_equations) {
  const Reproduction r = run_on("gtx-680-2014");
  EXPECT_EQ(verdict(r, "state"), Verdict::consistent_with_model);
  EXPECT_EQ(verdict(r, "buoydiff-fig8"), Verdict::consistent_with_model);
  EXPECT_EQ(verdict(r, "buoydiff-fig9"), Verdict::consistent_with_model);
  EXPECT_EQ(verdict(r, "buoydiff-fig10"), Verdict::consistent_with_model);
  EXPECT_EQ(verdict(r, "table1"), Verdict::cannot_be_checked);
  EXPECT_EQ(verdict(r, "error-streams"), Verdict::cannot_be_checked);
}

TEST(Werkhoven2014, figures_have_the_papers_rows_and_bytes_come_out_right) {
  const Reproduction r = run_on("h200", {"categories", "ocean"});
  EXPECT_EQ(figure_of(r, "fig1-3").rows.size(), 9u);  // three categories, three scenarios
  for (const char* id : {"fig8", "fig9"}) EXPECT_EQ(figure_of(r, id).rows.size(), 12u) << id;
  EXPECT_EQ(figure_of(r, "fig10").rows.size(), 15u) << "with streams in three streams";
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
  EXPECT_EQ(verdict(r, "eqs1-2"), Verdict::consistent_with_model);
  EXPECT_EQ(finding_of(werkhoven2014, r, "eqs1-2")->why, "");
  // A kernel between the copies of one direction and of both: eq 3 as selected by t_E > T_hd is too short.
  EXPECT_EQ(verdict(r, "eqs3-4"), Verdict::consistent_with_model);
  EXPECT_NE(finding_of(werkhoven2014, r, "eqs3-4")->why, "") << "with a change";
}

TEST(Werkhoven2014, the_page_holds_every_claim_and_fault) {
  const std::string text = page(werkhoven2014, reproduction_view(werkhoven2014, run_on("gtx-680-2014")));
  for (const Claim& claim : werkhoven2014.claims) EXPECT_THAT(text, HasSubstr(std::string(claim.where)));
  for (const std::string_view fault : werkhoven2014.faults) EXPECT_THAT(text, HasSubstr(std::string(fault)));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("not run yet")));
}

// ---- the paper's parameters, from this run

TEST(Werkhoven2014Tables, a_byte_beside_kernels_counts_the_pauses_too) {
  // 8 MiB: 200 us of kernel, in which 3 MiB are copied; the other 5 MiB take 100 us, and the next pair begins 4 us
  // later.
  constexpr double mib = 1 << 20;
  const ZeroCopyBeside row{.in_flight = Bytes{1},
                           .kernel = Interval<Bandwidth>::exact({8 * mib / 200e-6}),
                           .copy = Interval<Bandwidth>::exact({3 * mib / 200e-6})};
  const loggp::Parameters alone{
      .latency_overhead = microseconds(9), .per_byte = {100e-6 / (5 * mib)}, .gap = microseconds(4)};
  const auto load = over_kernels_and_pauses(row, alone, microseconds(2));
  EXPECT_NEAR(load.h2d.seconds, 304e-6 / (8 * mib), 1e-17);
  EXPECT_NEAR(load.d2h.seconds, 202e-6 / (8 * mib), 1e-17);
}

TEST(Werkhoven2014Tables, a_copy_that_ends_before_the_kernel_has_its_own_time) {
  // 8 MiB: 200 us of kernel, 100 us of copy and 4 us until the next one. 1 block of an H200 shows it: 12.6 GB/s of
  // writes leave copies 53.3 GB/s (results/h200/reproductions/werkhoven2014/table2.csv).
  constexpr double mib = 1 << 20;
  const ZeroCopyBeside row{.in_flight = Bytes{1},
                           .kernel = Interval<Bandwidth>::exact({8 * mib / 200e-6}),
                           .copy = Interval<Bandwidth>::exact({8 * mib / 100e-6})};
  const loggp::Parameters alone{
      .latency_overhead = microseconds(9), .per_byte = {100e-6 / (8 * mib)}, .gap = microseconds(4)};
  const auto load = over_kernels_and_pauses(row, alone, microseconds(2));
  EXPECT_NEAR(load.h2d.seconds, 104e-6 / (8 * mib), 1e-17);
  EXPECT_NEAR(load.d2h.seconds, 202e-6 / (8 * mib), 1e-17);
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
      .limited = {},
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

TEST(Werkhoven2014, a_full_run_tries_hybrid_in_fewer_streams_with_every_grid_and_in_three_streams) {
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

}  // namespace
}  // namespace shiplap::experiments
