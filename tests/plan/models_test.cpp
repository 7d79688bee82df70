#include "shiplap/plan/models.hpp"

#include <gtest/gtest.h>

#include "shiplap/plan/variation.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

const Choice breadth_42{.strategy = "streams", .chunks = 42, .layout = Layout::per_chunk, .order = IssueOrder::breadth};

/// The equation of state with one output on van Werkhoven 2014's GTX Titan: 42 levels.
Job state(double kernel_ms) { return in_out_job(Bytes{704643072}, Bytes{352321536}, milliseconds(kernel_ms), 42); }

ModelComparison on_paper(const PaperOptions& options, const Choice& choice, double kernel_ms) {
  const Profile profile = paper_profile(options);
  return compare_models(state(kernel_ms), profile, choice, limits_of(profile));
}

const ModelPrediction& model(const ModelComparison& comparison, std::string_view name) {
  for (const ModelPrediction& m : comparison.models)
    if (m.model == name) return m;
  throw std::out_of_range(std::string(name));
}

double ms(const ModelPrediction& m) { return in_milliseconds(m.time.value()); }

// Worked values from the paper's Table I, computed with 60-digit decimals.
TEST(CompareModels, give_the_worked_values_of_the_paper_for_each_category) {
  const auto two = on_paper({.copy_engines = 2}, breadth_42, 5);
  EXPECT_NEAR(ms(model(two, "van-werkhoven-2014")), 59.519861419152576, 1e-9);
  EXPECT_EQ(model(two, "van-werkhoven-2014").form, "eq 5");
  const auto one = on_paper({.copy_engines = 1}, breadth_42, 5);
  EXPECT_NEAR(ms(model(one, "van-werkhoven-2014")), 86.76621748251648, 1e-9);
  EXPECT_EQ(model(one, "van-werkhoven-2014").form, "max(eq 3, eq 4)");
  const auto sync = on_paper({.copy_engines = 1, .implicit_sync = ImplicitSync::until_ended}, breadth_42, 200);
  EXPECT_NEAR(ms(model(sync, "van-werkhoven-2014")), 229.44421614628095, 1e-9);
  Choice whole{.strategy = "explicit"};
  EXPECT_NEAR(ms(model(on_paper({}, whole, 5), "van-werkhoven-2014")), 91.55396048251647, 1e-9);
}

TEST(CompareModels, agree_where_the_papers_idea_of_a_gpu_holds) {
  for (const double kernel_ms : {5.0, 60.0, 200.0}) {
    const auto comparison = on_paper({.copy_engines = 2}, breadth_42, kernel_ms);
    EXPECT_NEAR(*model(comparison, "van-werkhoven-2014").time / *model(comparison, "simulation").time, 1, 1e-6)
        << kernel_ms;
  }
}

TEST(CompareModels, show_the_jump_of_the_printed_selection) {
  // At tE just above Thd the printed test takes eq 1, which is (n - 1) g_hd = 41 x 2.503 us below the exact path.
  const double just_above = 58.6150 + 0.001;
  const auto comparison =
      on_paper({.copy_engines = 1, .implicit_sync = ImplicitSync::until_ended}, breadth_42, just_above);
  EXPECT_NEAR(
      1000 * (ms(model(comparison, "van-werkhoven-2014")) - ms(model(comparison, "van-werkhoven-2014 as printed"))),
      41 * 2.503, 2.0);
}

TEST(CompareModels, have_the_forms_of_the_device_that_a_layout_emulates) {
  // On a GPU with two copy engines, what the ones with a single engine take.
  Choice emulated = breadth_42;
  emulated.layout = Layout::one_engine;
  const auto one = on_paper({.copy_engines = 2}, emulated, 5);
  EXPECT_NEAR(ms(model(one, "van-werkhoven-2014")), 86.76621748251648, 1e-9);
  EXPECT_NEAR(in_milliseconds(one.simulation.value), 86.76621748251648, 0.002 * 86.77)
      << "and the GPU itself is as slow";
  emulated.layout = Layout::implicit_sync;
  const auto sync = on_paper({.copy_engines = 2}, emulated, 200);
  EXPECT_NEAR(ms(model(sync, "van-werkhoven-2014")), 229.44421614628095, 1e-9);
  EXPECT_NEAR(in_milliseconds(sync.simulation.value), 229.44421614628095, 0.002 * 229.44);
  emulated.order = IssueOrder::depth;
  EXPECT_FALSE(model(on_paper({.copy_engines = 2}, emulated, 5), "van-werkhoven-2014").time);
}

TEST(CompareModels, say_why_where_there_is_no_form) {
  const auto comparison = on_paper({.copy_engines = 2}, breadth_42, 5);
  EXPECT_FALSE(model(comparison, "gomez-luna-2012").time);
  EXPECT_NE(model(comparison, "gomez-luna-2012").why_not.find("one copy engine"), std::string::npos);
  EXPECT_NE(model(comparison, "roofline").why_not.find("flops"), std::string::npos);
}

TEST(CompareModels, have_hybrid_move_both_ways_at_once_also_on_one_copy_engine) {
  // Both directions slower under load, by hand: eq 5 with G2 = 2 G of Table I at 42 chunks and 5 ms,
  // L + 2 Thd + 41 g_hd + (tE + 2 Tdh) / 42, all in ms.
  Profile profile = paper_profile({.copy_engines = 1});
  for (DirectionModel* d : {&profile.links[0].h2d, &profile.links[0].d2h})
    d->duplex = DuplexModel{.per_byte = Interval<PerByte>::exact(PerByte{2 * d->per_byte.value.seconds}),
                            .gaps = {{1_B, d->costs[0].gap}}};
  const Choice hybrid{.strategy = "hybrid", .chunks = 42};
  // Zero-copy rates, which the simulation wants; the paper's equation has none.
  profile.links[0].zero_copy = planted_profile().links[0].zero_copy;
  const auto comparison = compare_models(state(5), profile, hybrid, limits_of(profile));
  const double in = 2 * 704643072 * 8.318392e-11 * 1e3;
  const double out = 2 * 352321536 * 7.924734e-11 * 1e3;
  EXPECT_NEAR(ms(model(comparison, "van-werkhoven-2014 as printed")), 0.018443 + in + 41 * 0.002503 + (5 + out) / 42,
              1e-6);
}

TEST(CompareModels, take_the_cost_of_a_stream_from_the_host) {
  Profile profile = paper_profile({.copy_engines = 1});
  profile.host =
      HostModel{.copy = {}, .calls = {{"create stream", {{1_B, Interval<Seconds>::exact(milliseconds(0.1))}}}}};
  const auto comparison = compare_models(state(5), profile, breadth_42, limits_of(profile));
  // Eq 1: the copies of both ways, 58.614967 + 27.920548 ms by Table I, and 42 streams of 0.1 ms.
  EXPECT_NEAR(ms(model(comparison, "gomez-luna-2012")), 58.614972924 + 27.920545 + 4.2, 1e-4);
}

double sum(const ModelComparison& comparison) {
  double total = 0;
  for (const Elasticity& e : comparison.elasticities) total += e.value;
  return total;
}

// A time that is made of the profile's times alone grows by a hundredth when all of them do (Euler).
TEST(Elasticities, add_up_to_one) {
  const Profile planted = planted_profile();
  Job job = in_out_job(64_MiB, 32_MiB, milliseconds(1.0), 16 << 20);
  job.items_per_block = 1024;
  for (const Choice& choice :
       {Choice{.strategy = "explicit"}, Choice{.strategy = "streams", .chunks = 7},
        Choice{.strategy = "streams", .chunks = 16, .layout = Layout::few}, Choice{.strategy = "implicit"}})
    EXPECT_NEAR(sum(compare_models(job, planted, choice, limits_of(planted))), 1, 0.01) << to_string(choice);
  EXPECT_NEAR(sum(on_paper({}, breadth_42, 60)), 1, 1e-6);
}

TEST(Elasticities, put_what_sets_the_time_first) {
  const auto first = [](double kernel_ms) { return on_paper({}, breadth_42, kernel_ms).elasticities.front(); };
  EXPECT_EQ(first(200).quantity, "the kernel itself");
  // Eq 3: 202.079 ms, of which the kernel is 200.
  EXPECT_NEAR(first(200).value, 200 / 202.07881246386944, 1e-6);
  EXPECT_EQ(first(5).quantity, to_string(CostTerm::h2d_rate));
  // Eq 5: 59.5199 ms, of which copies to the GPU are 58.6150.
  EXPECT_NEAR(first(5).value, 58.61497 / 59.519861419152576, 1e-5);
}

TEST(Slowed, leaves_what_is_not_asked_for) {
  const Profile truth = planted_profile();
  const Profile slower = slowed(truth, CostTerm::h2d_rate, 2);
  EXPECT_DOUBLE_EQ(slower.links[0].h2d.per_byte.value.seconds, 2 * truth.links[0].h2d.per_byte.value.seconds);
  EXPECT_EQ(slower.links[0].d2h.per_byte, truth.links[0].d2h.per_byte);
  EXPECT_EQ(slower.links[0].h2d.costs[0].gap, truth.links[0].h2d.costs[0].gap);
  EXPECT_EQ(slowed(truth, CostTerm::submission, 3).submission.launch->value, 3 * truth.submission.launch->value);
}

}  // namespace
}  // namespace shiplap
