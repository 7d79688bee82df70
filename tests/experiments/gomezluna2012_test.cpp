#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "experiments/gomezluna2012/judge.hpp"
#include "experiments/gomezluna2012/runner.hpp"
#include "experiments/gomezluna2012/steps.hpp"
#include "experiments/page.hpp"
#include "experiments/papers.hpp"
#include "experiments/reproduction.hpp"
#include "shiplap/device/open.hpp"
#include "tests/experiments/virtual_bench.hpp"

namespace shiplap::experiments {
namespace {

using namespace gomez_luna;

const Reproduction& on(const std::string& profile) {
  static std::map<std::string, Reproduction> done;
  if (!done.contains(profile)) done.emplace(profile, reproduced(gomezluna2012, VirtualBench(profile).bench));
  return done.at(profile);
}

double number(const Cell& cell) { return std::get<double>(cell); }
std::string text(const Cell& cell) { return std::get<std::string>(cell); }

TEST(GomezLuna2012, every_claim_is_found_about_on_every_kind_of_machine) {
  // Measured; published link without kernels; nothing of the link published; two engines of today.
  for (const std::string profile : {"h200", "gtx-titan-2014", "gtx-280-2012", "gtx-480-2012"})
    for (const Claim& claim : gomezluna2012.claims) {
      const Finding* finding = finding_of(gomezluna2012, on(profile), claim.id);
      ASSERT_NE(finding, nullptr) << profile << ": " << claim.id;
      if (finding->verdict == Verdict::consistent_with_model) continue;
      EXPECT_FALSE(finding->why.empty()) << profile << ": " << claim.id;
    }
}

TEST(GomezLuna2012, a_machine_without_a_published_link_has_published_figures_and_no_figures_of_ours) {
  const Reproduction& r = on("gtx-280-2012");
  for (const Claim& claim : gomezluna2012.claims) {
    if (claim.id == "table2-tsc") continue;  // arithmetic
    EXPECT_EQ(finding_of(gomezluna2012, r, claim.id)->verdict, Verdict::cannot_be_checked) << claim.id;
  }
  const Figure& table = figure_of(r, "table2_matmul");
  ASSERT_EQ(table.rows.size(), 5u);
  for (const auto& row : table.rows)
    for (std::size_t c = 5; c < row.size(); ++c) EXPECT_TRUE(std::holds_alternative<std::monostate>(row[c]));
}

TEST(GomezLuna2012, table_2_has_the_published_rows) {
  // p or frame, then estimated and experimental of the GTX 280 and the GTX 480.
  struct Row {
    const char* table;
    const char* size;
    double e280;
    const char* x280;
    double e480;
    const char* x480;
  };
  const std::array<Row, 11> rows{{{"matmul", "256", 5.4, "2", 3.1, "2–4"},
                                  {"matmul", "512", 4.3, "4", 6.4, "4–8"},
                                  {"matmul", "1024", 6.1, "4–8", 12.8, "8–16"},
                                  {"matmul", "2048", 12.2, "8–16", 25.8, "16–32"},
                                  {"matmul", "4096", 24.5, "16–32", 51.7, "32–64"},
                                  {"histogram", "176x144", 2.6, "2", 2.3, "2"},
                                  {"histogram", "352x288", 5.1, "4–8", 4.5, "4"},
                                  {"histogram", "704x576", 9.9, "8–16", 9.1, "8–16"},
                                  {"grayscale", "176x144", 3.5, "4", 2.8, "2–4"},
                                  {"grayscale", "352x288", 7.0, "8", 5.6, "4–8"},
                                  {"grayscale", "704x576", 13.9, "16", 11.3, "8–16"}}};
  for (const std::string profile : {"h200", "gtx-480-2012"})
    for (const Row& row : rows) {
      const Figure& table = figure_of(on(profile), std::string("table2_") + row.table);
      const auto found =
          std::ranges::find_if(table.rows, [&](const auto& cells) { return text(cells[0]) == row.size; });
      ASSERT_NE(found, table.rows.end()) << row.table << row.size;
      EXPECT_DOUBLE_EQ(number((*found)[1]), row.e280);
      EXPECT_EQ(text((*found)[2]), row.x280);
      EXPECT_DOUBLE_EQ(number((*found)[3]), row.e480);
      EXPECT_EQ(text((*found)[4]), row.x480);
    }
}

TEST(GomezLuna2012, table_3_has_the_published_frames_per_second_and_their_gains) {
  const Figure& table = figure_of(on("h200"), "table3");
  const std::array<std::array<double, 3>, 4> published{
      {{5770, 6502, 12.69}, {1401, 1656, 18.20}, {8469, 9149, 8.03}, {2153, 2429, 12.82}}};
  for (std::size_t i = 0; i < published.size(); ++i) {
    EXPECT_EQ(text(table.rows[i][1]), "published");
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(number(table.rows[i][3 + c]), published[i][c], 0.005);
  }
  // Ours come for two sizes and three kinds of engines, and as jobs whose chunks overlap.
  EXPECT_EQ(table.rows.size(), 4u + 2 * 4);
  for (std::size_t i = 4; i < table.rows.size(); ++i) EXPECT_EQ(text(table.rows[i][1]), "simulated");
}

TEST(GomezLuna2012, full_figures_have_the_published_axes) {
  VirtualBench machine("h200", false);
  const StepResult scalar = scalar_tests(machine.bench);
  const auto named = [](const StepResult& result, const std::string& id) {
    return *std::ranges::find(result.figures, id, &Figure::id);
  };
  const Figure fig1 = named(scalar, "fig1");
  const Figure fig2 = named(scalar, "fig2");
  ASSERT_EQ(fig1.rows.size(), 20u);
  EXPECT_EQ(number(fig1.rows.front()[0]), 8);
  EXPECT_EQ(number(fig1.rows.back()[0]), 27);
  EXPECT_EQ(number(fig2.rows.front()[0]), 20);
  EXPECT_EQ(number(fig2.rows.back()[0]), 115);
  // Every divisor of 15 x 2^20 from 2 to 64, and no other number.
  std::set<std::string> divisors;
  for (unsigned n = 2; n <= 64; ++n)
    if ((15u << 20) % n == 0) divisors.insert(std::to_string(n) + " streams");
  std::set<std::string> columns;
  for (const auto& column : fig1.columns)
    if (column.name.ends_with(" streams")) columns.insert(column.name);
  EXPECT_EQ(columns, divisors);
  const StepResult asymmetric = asymmetric_tests(machine.bench);
  for (const Figure& figure3 : asymmetric.figures) {
    ASSERT_EQ(figure3.rows.size(), 13u);
    for (const auto& row : figure3.rows) EXPECT_EQ(number(row[0]) + number(row[1]), 24);
    EXPECT_EQ(number(figure3.rows.front()[0]), 1);
    EXPECT_EQ(number(figure3.rows.back()[0]), 23);
  }
}

TEST(GomezLuna2012, times_on_the_titan_are_those_of_table_i_of_van_werkhoven) {
  // 15 MiB: L+o + B G, each way, by hand from the published parameters.
  const Figure& fig1 = figure_of(on("gtx-titan-2014"), "fig1");
  EXPECT_NEAR(number(fig1.rows.front()[3]), 9.42e-3 + 15728640 * 8.318392e-8, 1e-6);
  EXPECT_NEAR(number(fig1.rows.front()[5]), 9.023e-3 + 15728640 * 7.924734e-8, 1e-6);
  for (const auto& row : fig1.rows) {
    const double copies = number(row[3]) + number(row[5]);
    // Without streams nothing overlaps, and with them no run is shorter than its longest part.
    EXPECT_NEAR(number(row[6]), copies + number(row[4]), 0.01 * copies);
    for (std::size_t c = 7; c < row.size(); ++c) EXPECT_GE(number(row[c]), 0.98 * std::max(copies, number(row[4])));
  }
}

TEST(GomezLuna2012, one_copy_engine_keeps_copies_apart_and_two_do_not) {
  EXPECT_EQ(finding_of(gomezluna2012, on("gtx-titan-2014"), "one-engine")->verdict, Verdict::consistent_with_model);
  EXPECT_EQ(finding_of(gomezluna2012, on("h200"), "one-engine")->verdict, Verdict::contradicts_model);
}

TEST(GomezLuna2012, equation_2_asks_for_too_many_streams_and_the_cap_does_not) {
  for (const std::string profile : {"h200", "gtx-titan-2014"}) {
    const Finding* limit = finding_of(gomezluna2012, on(profile), "eq2-limit");
    EXPECT_EQ(limit->verdict, Verdict::consistent_with_model) << profile;
    EXPECT_NE(limit->why, "") << "with a change, " << profile;
    const Figure& edges = figure_of(on(profile), "edges");
    EXPECT_EQ(number(edges.rows[0][4]), 50);                               // 1 / (1 - 0.98)
    EXPECT_LT(number(edges.rows[1][7]), 0.97 * number(edges.rows[0][7]));  // the capped one is faster
  }
}

TEST(GomezLuna2012, the_published_estimates_of_both_gpus_imply_rates_that_do_not_fit_together) {
  const Figure& audit = figure_of(on("h200"), "table2_audit");
  // By hand: 24.5² x 0.10 = 60.0 ms for 2 x 128 MiB, 51.7² x 0.03 = 80.2 ms for 128 MiB.
  EXPECT_NEAR(number(audit.rows.back()[2]), 60.025, 1e-9);
  EXPECT_NEAR(number(audit.rows.back()[3]), 4.472, 1e-3);
  EXPECT_NEAR(number(audit.rows.back()[5]), 80.187, 1e-3);
  EXPECT_NEAR(number(audit.rows.back()[6]), 1.674, 1e-3);
  EXPECT_EQ(finding_of(gomezluna2012, on("h200"), "table2-tsc")->verdict, Verdict::contradicts_model);
}

TEST(GomezLuna2012, columns_of_a_figure_have_names_of_their_own) {
  for (const auto& [step, done] : on("h200").steps)
    for (const Figure& f : done.result.figures) {
      std::set<std::pair<std::string, std::string>> names;
      for (const auto& column : f.columns)
        EXPECT_TRUE(names.emplace(column.name, column.unit).second) << f.id << ": " << column.name;
    }
}

TEST(GomezLuna2012, the_page_has_every_figure_with_units) {
  const std::string text_of_page = page(gomezluna2012, reproduction_view(gomezluna2012, on("h200")));
  for (const char* where : {"### Fig. 1", "### Fig. 2", "### Fig. 3 (top)", "### Fig. 4 (bottom)", "### Fig. 5",
                            "### Fig. 6", "### Fig. 7", "### Table 2", "### Table 3"})
    EXPECT_NE(text_of_page.find(where), std::string::npos) << where;
  EXPECT_NE(text_of_page.find("unstreamed (ms)"), std::string::npos);
  EXPECT_NE(text_of_page.find("unstreamed (frames/s)"), std::string::npos);
}

TEST(GomezLunaJudge, a_fit_holds_until_its_median_error_is_above_the_tolerance) {
  const std::array<double, 3> good{0.01, -0.04, 0.30};
  const std::array<double, 3> bad{0.10, -0.20, 0.30};
  EXPECT_DOUBLE_EQ(fit_of(good).median, 0.04);
  EXPECT_DOUBLE_EQ(fit_of(good).worst, 0.30);
  EXPECT_EQ(verdict_of_fit(fit_of(good)), Verdict::holds);
  EXPECT_EQ(verdict_of_fit(fit_of(bad), fit_of(good)), Verdict::holds_with_a_change);
  EXPECT_EQ(verdict_of_fit(fit_of(bad), fit_of(bad)), Verdict::does_not_hold);
  EXPECT_EQ(verdict_of_fit(Fit{}), Verdict::cannot_be_checked);
  EXPECT_EQ(verdict_between(fit_of(good), fit_of(bad)), Verdict::holds);
  EXPECT_EQ(verdict_between(fit_of(bad), fit_of(good)), Verdict::does_not_hold);
}

TEST(GomezLunaJudge, optima_are_what_lies_within_one_per_cent_and_regrets_take_the_better_neighbour) {
  const std::vector<Timed> times{{2, 12.0}, {4, 10.05}, {8, 10.0}, {16, 11.0}};
  EXPECT_EQ(best_streams(times), (std::vector<std::uint32_t>{4, 8}));
  EXPECT_EQ(to_string(best_streams(times)), "4–8");
  EXPECT_EQ(nearest(times, 5.4).streams, 4u);  // 5.4 / 4 < 8 / 5.4
  EXPECT_EQ(nearest(times, 5.8).streams, 8u);
  EXPECT_NEAR(regret(times, 3), 0.005, 1e-12);
  EXPECT_NEAR(regret(times, 8), 0, 1e-12);
  EXPECT_NEAR(regret(times, 100), 0.1, 1e-12);
  EXPECT_NEAR(regret(times, 0.5), 0.2, 1e-12);
}

TEST(GomezLunaJudge, verdicts_turn_when_the_figures_do) {
  const std::array<double, 3> small{0.0, 0.01, 0.02};
  const std::array<double, 3> mixed{0.0, 0.01, 0.30};
  const std::array<double, 3> large{0.1, 0.2, 0.3};
  EXPECT_EQ(verdict_of_regrets(small, small), Verdict::holds);
  EXPECT_EQ(verdict_of_regrets(mixed, mixed), Verdict::does_not_hold) << "nothing mends the one that is off";
  EXPECT_EQ(verdict_of_regrets(large, small), Verdict::holds_with_a_change);
  EXPECT_EQ(verdict_of_regrets(large, large), Verdict::does_not_hold);
  const std::array<double, 2> within{9, 18};
  const std::array<double, 2> partly{9, 70};
  const std::array<double, 2> beyond{40, 70};
  EXPECT_EQ(verdict_of_gains(gtx280.matmul, within), Verdict::holds);
  EXPECT_EQ(verdict_of_gains(gtx280.matmul, partly), Verdict::holds_with_a_change);
  EXPECT_EQ(verdict_of_gains(gtx280.matmul, beyond), Verdict::does_not_hold);
  EXPECT_EQ(worse_of(Verdict::holds, Verdict::does_not_hold), Verdict::does_not_hold);
  EXPECT_EQ(worse_of(Verdict::cannot_be_checked, Verdict::holds), Verdict::holds);
}

TEST(GomezLunaJudge, points_belong_to_the_equation_that_their_own_stages_ask_for) {
  const auto point = [](bool short_there, double kernel, double observed, bool steady = true) {
    return AsymmetricPoint{.short_there = short_there,
                           .work = {{milliseconds(1), milliseconds(kernel), milliseconds(1)}, Seconds{0}},
                           .observed = milliseconds(observed),
                           .steady = steady};
  };
  // 2 ms of copies in 16 streams: a kernel of 1.8 ms is shorter than them (2 > 1.925), one of 1.9 ms is not.
  EXPECT_TRUE(copies_dominate(point(true, 1.8, 2).work.times, 16));
  EXPECT_FALSE(copies_dominate(point(true, 1.9, 2).work.times, 16));
  const auto of = [](std::vector<AsymmetricPoint> points) { return of_dominant("fig3-cc1", points, 16); };
  EXPECT_EQ(of({point(true, 0.5, 2.0), point(false, 4, 4.125)}).verdict, Verdict::holds);
  // Short on the GTX 280, twice the copies here: t_E + t_T/n, not t_T.
  const Finding moved = of({point(true, 0.5, 2.0), point(true, 4, 4.125), point(false, 8, 8.125)});
  EXPECT_EQ(moved.verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(moved.why, "1 of the 2 points with 1 to 4 iterations have a dominant kernel here and count for eq 3");
  EXPECT_EQ(of({point(true, 0.5, 2.5), point(false, 4, 4.125)}).verdict, Verdict::does_not_hold);
  EXPECT_EQ(of({point(true, 0.5, 2.5, false), point(true, 0.5, 2.0), point(false, 4, 4.125)}).verdict, Verdict::holds);
  EXPECT_EQ(of({point(true, 0.5, 2.5, false)}).verdict, Verdict::cannot_be_checked);
}

TEST(GomezLuna2012, fig_3_names_what_dominates_by_the_stages_of_the_same_row) {
  for (const std::string id : {"fig3_gtx280", "fig3_gtx480"}) {
    const Figure& figure = figure_of(on("h200"), id);
    std::set<std::string> seen;
    for (std::size_t c = 4; c < figure.columns.size(); ++c) {
      if (!figure.columns[c].name.starts_with("dominant")) continue;
      for (const auto& row : figure.rows) {
        const double in = number(row[2]);
        const double both = in + number(row[3]);
        const double kernel = number(row[c - 1]);
        const bool copies = id == "fig3_gtx280" ? both > kernel + both / 16 : in > kernel;
        EXPECT_EQ(text(row[c]), copies ? "copies" : "kernel");
        seen.insert(text(row[c]));
      }
    }
    EXPECT_EQ(seen.size(), 2u) << id;
  }
}

TEST(GomezLunaJudge, a_gain_above_what_there_is_to_gain_is_disturbed_and_no_finding) {
  // 352 x 288 grayscale on one engine: 0.179, 0.007 and 0.004 ms; without streams 0.285 ms, 17 % of which 4 streams
  // seemed to save.
  const StageTimes stages{.h2d = milliseconds(0.179), .kernel = milliseconds(0.007), .d2h = milliseconds(0.004)};
  const double most = most_gain(stages, milliseconds(0.010), true);
  EXPECT_NEAR(most, 100 * (0.200 / 0.183 - 1), 1e-9);
  EXPECT_NEAR(most_gain(stages, Seconds{0}, false), 100 * (0.190 / 0.179 - 1), 1e-9);
  const Gain gain{.percent = 17, .most = most, .noise = 1, .steady = true};
  EXPECT_TRUE(disturbed(gain));
  EXPECT_EQ(to_string(gain), "17.0, disturbed");
  EXPECT_FALSE(disturbed({.percent = most + 2.5, .most = most, .noise = 1, .steady = true})) << "within noise";
  EXPECT_TRUE(disturbed({.percent = 1, .most = most, .noise = 1, .steady = false}));
}

TEST(GomezLunaJudge, what_is_not_steady_makes_a_gain_not_steady) {
  Found found;
  found.stages = {.h2d = milliseconds(1), .kernel = milliseconds(1), .d2h = milliseconds(1)};
  found.alone = ChoiceTime{.choice = unstreamed(), .time = milliseconds(3), .noise = 0.01, .steady = true};
  found.runs = {{.choice = streams(as_280, 2), .time = milliseconds(2.4), .noise = 0, .steady = false},
                {.choice = streams(as_280, 4), .time = milliseconds(2), .noise = 0.02, .steady = true}};
  const Gain gain = *found.gain(as_280);
  EXPECT_NEAR(gain.percent, 50, 1e-9);
  EXPECT_NEAR(gain.most, 50, 1e-9);
  EXPECT_NEAR(gain.noise, 4.5, 1e-9);  // 3 % of 1.5
  EXPECT_TRUE(gain.steady) << "2 streams are not the best number";
  EXPECT_FALSE(found.gain(as_480).has_value());
  found.stages_steady = false;
  EXPECT_FALSE(found.gain(as_280)->steady);
  found.stages_steady = true;
  found.alone->time = milliseconds(3.4);
  EXPECT_FALSE(found.gain(as_280)->steady) << "13 % above its stages of 3 ms";
  found.handing_over = milliseconds(0.1);
  EXPECT_TRUE(found.gain(as_280)->steady) << "3.41 ms are allowed";
}

TEST(GomezLunaJudge, an_estimate_becomes_the_whole_number_beside_it_that_the_equations_put_first) {
  using gomez_luna_2012::Architecture;
  // √(t_T/t_sc) of 3, 100 and 3 ms: n + 6/(0.1 n) is the same for 7 and 60/7, by hand least at 8 of 7.7.
  const gomez_luna_2012::Work w{{milliseconds(3), milliseconds(100), milliseconds(3)}, milliseconds(0.1)};
  EXPECT_EQ(whole_streams(7.746, w, Architecture::cc1, 64), 8u);
  EXPECT_EQ(whole_streams(7.746, w, Architecture::cc1, 6), 6u);
  // t_E = 0.01: a stream costs more than it hides.
  const gomez_luna_2012::Work small{{milliseconds(3), milliseconds(0.01), milliseconds(3)}, milliseconds(0.1)};
  EXPECT_EQ(whole_streams(1.4, small, Architecture::cc1, 64), 1u);
  EXPECT_EQ(whole_streams(0.3, small, Architecture::cc1, 64), 1u);
}

TEST(GomezLunaJudge, estimates_are_judged_by_what_they_cost_when_timed_again) {
  const auto duel = [](double printed_ms, double capped_ms, bool steady = true, double noise = 0.005) {
    return Duel{.size = "1",
                .layout = as_280,
                .printed = 50,
                .capped = 12,
                .best = 6,
                .times = {{1, 9.0}, {6, 1.0}, {12, capped_ms}, {50, printed_ms}},
                .noise = noise,
                .steady = steady};
  };
  const auto verdict = [](std::vector<Duel> all) { return of_estimates("matmul-optimum", all).verdict; };
  EXPECT_EQ(verdict({duel(1.015, 1.5)}), Verdict::holds);
  EXPECT_EQ(verdict({duel(1.05, 1.015)}), Verdict::holds_with_a_change);
  EXPECT_EQ(verdict({duel(1.05, 1.05), duel(1.0, 1.0)}), Verdict::does_not_hold);
  const std::vector<Duel> one_off{duel(1.05, 1.05), duel(1.0, 1.0)};
  EXPECT_EQ(of_estimates("matmul-optimum", one_off, 1).verdict, Verdict::holds) << "at all sizes but one";
  EXPECT_EQ(verdict({duel(1.05, 1.05, true, 0.03), duel(1.0, 1.0)}), Verdict::holds) << "6 % cannot be told";
  EXPECT_EQ(verdict({duel(0.97, 0.97)}), Verdict::holds) << "the best of the sweep was so by luck";
  EXPECT_EQ(verdict({duel(1.5, 1.5, false), duel(1.0, 1.0)}), Verdict::holds) << "disturbed";
  EXPECT_EQ(verdict({duel(1.5, 1.5, false)}), Verdict::cannot_be_checked);
  EXPECT_NEAR(*duel(1.05, 1.2).longer(12), 0.2, 1e-12);
}

TEST(GomezLunaJudge, a_duel_in_which_no_streams_take_another_time_than_in_the_sweep_is_disturbed) {
  Duel duel{.size = "1", .layout = as_280, .printed = 4, .capped = 4, .best = 6, .times = {{1, 9.0}, {4, 2}, {6, 1.0}}};
  EXPECT_FALSE(duel.disturbed());
  duel.alone_in_sweep = 9.4;  // 4.4 %
  EXPECT_FALSE(duel.disturbed());
  EXPECT_EQ(of_estimates("matmul-optimum", std::array{duel}).verdict, Verdict::does_not_hold);
  for (const double other : {9.5, 8.5}) {
    duel.alone_in_sweep = other;
    EXPECT_TRUE(duel.disturbed()) << other;
  }
  EXPECT_EQ(of_estimates("matmul-optimum", std::array{duel}).verdict, Verdict::cannot_be_checked);
}

TEST(GomezLunaJudge, cases_without_streams_make_no_estimate_hold) {
  const Duel none{.size = "1", .layout = as_280, .times = {{1, 9.0}}};
  const Duel right{.size = "2", .layout = as_280, .printed = 4, .capped = 4, .best = 4, .times = {{1, 9.0}, {4, 1.0}}};
  const Finding alone = of_estimates("grayscale-optimum", std::array{none, none});
  EXPECT_EQ(alone.verdict, Verdict::cannot_be_checked);
  EXPECT_NE(alone.why.find("in 2 more case(s) both the estimate and the best are no streams"), std::string::npos)
      << alone.why;
  const Finding both = of_estimates("grayscale-optimum", std::array{none, right});
  EXPECT_EQ(both.verdict, Verdict::holds);
  EXPECT_NE(both.observed.find("in 1 of 1 cases"), std::string::npos) << both.observed;
  EXPECT_NE(both.observed.find("in 1 more case(s) both"), std::string::npos) << both.observed;
}

TEST(GomezLunaJudge, directions_differ_as_published_only_by_more_than_noise_and_the_same_way) {
  EXPECT_EQ(of_asymmetry(0.36).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(of_asymmetry(-0.02).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(of_asymmetry(-0.003).verdict, Verdict::does_not_hold) << "within two points of −2 %, and noise";
  EXPECT_EQ(of_asymmetry(0.0).verdict, Verdict::does_not_hold);
  EXPECT_EQ(of_asymmetry(0.2).verdict, Verdict::does_not_hold);
}

TEST(GomezLunaJudge, few_blocks_are_judged_by_whole_numbers_and_steady_times) {
  EXPECT_EQ(of_blocks(5, {2}, true, "").verdict, Verdict::holds);
  EXPECT_EQ(of_blocks(1, {1}, true, "").verdict, Verdict::does_not_hold) << "an estimate of 1.3 is no streams";
  EXPECT_EQ(of_blocks(4, {2, 4}, true, "").verdict, Verdict::does_not_hold);
  EXPECT_EQ(of_blocks(5, {2}, false, "").verdict, Verdict::cannot_be_checked);
}

TEST(GomezLunaJudge, adapting_is_judged_only_where_there_is_something_to_adapt_to) {
  const std::array<double, 2> gains{1, 8};
  const std::array<double, 2> losses{-7, 2};
  const std::array<double, 1> ours{1};
  EXPECT_EQ(of_adaptation(gains, ours, 1).verdict, Verdict::holds);
  EXPECT_EQ(of_adaptation(gains, {}, 1).verdict, Verdict::holds_with_a_change);
  EXPECT_EQ(of_adaptation(losses, ours, 1).verdict, Verdict::does_not_hold);
  EXPECT_EQ(of_adaptation(losses, ours, 0).verdict, Verdict::cannot_be_checked);
  EXPECT_EQ(of_adaptation(gains, ours, 0).verdict, Verdict::cannot_be_checked);
}

// The way of a GPU: observed, verified, with kernels that are timed. What a virtual device takes for them is no matter.
TEST(GomezLunaRunner, what_is_observed_is_what_is_simulated_where_the_device_is_a_simulation) {
  VirtualBench machine("h200");
  Workload workload = find_workload("scalar-add:in=1MiB,out=1MiB,iterations=3");
  workload.job.cost = {.points = {{workload.job.items, Interval<Seconds>::exact(milliseconds(0.1))}},
                       .origin = "stated"};
  const std::array<Layout, 3> layouts{as_280, as_480, today};
  const std::array<std::uint32_t, 2> counts{2, 8};
  Runner simulated(machine.bench);
  const Found expected = simulated.run(workload, sweep(layouts, counts));
  machine.bench.info.is_virtual = false;
  Runner observed(machine.bench);
  const Found found = observed.run(workload, sweep(layouts, counts));
  EXPECT_TRUE(found.skipped.empty());
  ASSERT_EQ(found.runs.size(), 6u);
  for (std::size_t i = 0; i < found.runs.size(); ++i)
    EXPECT_NEAR(found.runs[i].time / expected.runs[i].time, 1, 1e-9) << i;
  EXPECT_NEAR(*found.unstreamed() / *expected.unstreamed(), 1, 1e-9);
  EXPECT_NEAR(found.stages.h2d / expected.stages.h2d, 1, 1e-9);
  EXPECT_NEAR(found.stages.d2h / expected.stages.d2h, 1, 1e-9);
  EXPECT_NEAR(found.handing_over / expected.handing_over, 1, 1e-9);
  EXPECT_TRUE(found.steady() && found.stages_steady) << "a simulation disturbs nothing";
}

TEST(GomezLunaRunner, several_workloads_are_observed_as_one_at_a_time) {
  VirtualBench machine("h200");
  machine.bench.info.is_virtual = false;
  std::vector<Asked> asked;
  for (const char* name : {"scalar-add:in=64KiB,out=64KiB,iterations=3", "matmul:p=64"})
    asked.push_back({find_workload(name), {streams(as_280, 2), streams(as_280, 4)}});
  for (Asked& one : asked)
    one.workload.job.cost = {.points = {{one.workload.job.items, Interval<Seconds>::exact(milliseconds(0.1))}},
                             .origin = "stated"};
  Runner runner(machine.bench);
  const std::vector<Found> all = runner.run(asked);
  ASSERT_EQ(all.size(), 2u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Found alone = runner.run(asked[i].workload, asked[i].choices);
    ASSERT_EQ(all[i].runs.size(), 2u);
    for (std::size_t r = 0; r < 2; ++r) EXPECT_NEAR(all[i].runs[r].time / alone.runs[r].time, 1, 1e-9);
    EXPECT_GT(all[i].stages.h2d, Seconds{0});
  }
  EXPECT_GT(all[1].before, Seconds{0}) << "the matrix B";
  EXPECT_EQ(all[0].before, Seconds{0});
}

TEST(GomezLunaRunner, the_copy_of_what_stays_is_taken_off) {
  VirtualBench machine("h200");
  Workload workload = find_workload("matmul:p=256");
  Runner runner(machine.bench);
  const Found found = runner.run(workload, {streams(as_280, 2)});
  EXPECT_NEAR(found.before / runner.transfer(true, 256_KiB), 1, 1e-12);  // B: 4 x 256²
  EXPECT_NEAR(*found.unstreamed() / found.stages.total(), 1, 0.2);
}

}  // namespace
}  // namespace shiplap::experiments
