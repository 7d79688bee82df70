#include "shiplap/plan/models.hpp"

#include <gtest/gtest.h>

#include "shiplap/profile/variation.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/workload/workload.hpp"
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

// van Werkhoven et al. 2014, Table II, explicit-mapped on PCIe 3.0: G of copies to the GPU and of a kernel's writes.
constexpr double table2_h2d = 1.193386e-7;  // ms per byte
constexpr double table2_d2h = 1.480396e-7;  // ms per byte

/// The paper's GPU with one copy engine, with Table I and Table II. Kernels alone write as fast as copies.
Profile titan_with_table2() {
  Profile profile = paper_profile({.copy_engines = 1});
  profile.links[0].zero_copy = planted_profile().links[0].zero_copy;
  ZeroCopyModel& rates = *profile.links[0].zero_copy;
  rates.write = {{1_B, Interval<Bandwidth>::exact({1e3 / 7.924734e-8})}};
  rates.write_beside_h2d = {
      {1_B, Interval<Bandwidth>::exact({1e3 / table2_d2h}), Interval<Bandwidth>::exact({1e3 / table2_h2d})}};
  return profile;
}

TEST(CompareModels, have_the_printed_hybrid_move_at_the_rates_of_table_2_explicit_mapped) {
  Profile profile = titan_with_table2();
  // Duplex copies have other rates, which are not those of Hybrid.
  for (DirectionModel* d : {&profile.links[0].h2d, &profile.links[0].d2h})
    d->duplex = DuplexModel{.per_byte = Interval<PerByte>::exact(PerByte{3 * d->per_byte.value.seconds}),
                            .gaps = {{1_B, d->costs[0].gap}}};
  const auto comparison = compare_models(state(5), profile, {.strategy = "hybrid", .chunks = 42}, limits_of(profile));
  // The worked value of eq 5 with Tables I and II, computed with 60-digit decimals.
  EXPECT_NEAR(ms(model(comparison, "van-werkhoven-2014 as printed")), 85.57307750410362, 1e-9);
  // By hand: copies and writes of 352,321,536 bytes out move together, the rest of the copies alone; then the writes of
  // the last chunk.
  const double both = 352321536 * table2_d2h;
  const double copies = both + (704643072 - both / table2_h2d) * 8.318392e-8;
  const auto& stages = model(comparison, "van-werkhoven-2014");
  EXPECT_NEAR(ms(stages), 0.018443 + copies + 41 * 0.002503 + both / 42, 1e-6);
  EXPECT_EQ(stages.assumption, "");
}

TEST(CompareModels, have_the_printed_hybrid_of_an_h200_near_its_measured_table_2) {
  // Measured on an H200 by launches of 8 MiB by 1056 blocks (results/h200/reproductions/werkhoven2014/table2.csv):
  // 0.033233737 and 0.020310021 ns per byte. Eq 5 with them, L of 5.887 us, g of 2.367 us, and t_E of 0.365 ms:
  // 0.0059 + 23.4179 + 41 x 0.002367 + (0.365 + 7.1557) / 42 = 23.70 ms. The built-in profile is of another H200.
  const Profile h200 = find_profile("h200");
  const auto comparison = compare_models(state(0.3651), h200, {.strategy = "hybrid", .chunks = 42}, limits_of(h200));
  EXPECT_NEAR(ms(model(comparison, "van-werkhoven-2014 as printed")), 23.70, 0.01 * 23.70);
}

TEST(CompareModels, have_no_printed_hybrid_without_rates_of_mapped_writes) {
  const Profile profile = paper_profile();
  Candidate hybrid;
  hybrid.choice = {.strategy = "hybrid", .chunks = 42};
  const auto models = model_predictions(state(5), profile, hybrid);
  EXPECT_FALSE(model({.choice = {}, .simulation = {}, .models = models}, "van-werkhoven-2014 as printed").time);
  EXPECT_NE(
      model({.choice = {}, .simulation = {}, .models = models}, "van-werkhoven-2014").assumption.find("do not slow"),
      std::string::npos);
}

// Two copy engines with implicit synchronisation, by hand from Table I for 16 chunks and 40 ms: no copy out overlaps a
// copy in, L + Thd + 15 g_hd + tE / 16 + Tdh + 15 g_dh = 89.13 ms. Eq 5 would give 62.92 ms.
TEST(CompareModels, have_category_1_for_two_copy_engines_with_implicit_synchronisation) {
  Choice breadth_16 = breadth_42;
  breadth_16.chunks = 16;
  const auto held = on_paper({.copy_engines = 2, .implicit_sync = ImplicitSync::until_ended}, breadth_16, 40);
  EXPECT_EQ(model(held, "van-werkhoven-2014").form, "max(eq 1, eq 2)");
  const double in = 704643072 * 8.318392e-8;
  const double out = 352321536 * 7.924734e-8;
  EXPECT_NEAR(ms(model(held, "van-werkhoven-2014")), 0.018443 + in + 15 * 0.002503 + 40.0 / 16 + out + 15 * 0.002674,
              1e-6);
  EXPECT_NEAR(ms(model(held, "van-werkhoven-2014")), 89.13, 0.005);
  EXPECT_NEAR(in_milliseconds(held.simulation.value), 89.13, 0.01 * 89.13) << "its chunks have 2 or 3 levels";
  EXPECT_NEAR(ms(model(on_paper({.copy_engines = 2}, breadth_16, 40), "van-werkhoven-2014")), 62.92, 0.005);
}

TEST(CompareModels, have_no_breadth_first_form_for_depth_first_submission_to_one_copy_engine) {
  Choice depth = breadth_42;
  depth.order = IssueOrder::depth;
  const auto comparison = on_paper({.copy_engines = 1}, depth, 5);
  for (const char* paper : {"van-werkhoven-2014", "gomez-luna-2012"}) {
    EXPECT_FALSE(model(comparison, paper).time) << paper;
    EXPECT_NE(model(comparison, paper).why_not.find("breadth-first"), std::string::npos)
        << model(comparison, paper).why_not;
  }
  EXPECT_TRUE(model(on_paper({.copy_engines = 2}, depth, 5), "van-werkhoven-2014").time)
      << "two engines serve each direction in order";
  depth.chunks = 1;
  EXPECT_TRUE(model(on_paper({.copy_engines = 1}, depth, 5), "van-werkhoven-2014").time)
      << "a single chunk has one order only";
}

// By hand from Table I for 42 chunks and 5 ms: eq 4 for a GPU without implicit synchronisation.
TEST(CompareModels, have_no_implicit_synchronisation_on_a_gtx_280) {
  Profile profile = paper_profile();
  profile.gpus[0].copy_engines = find_profile("gtx-280-2012").gpus[0].copy_engines;
  profile.gpus[0].implicit_sync = find_profile("gtx-280-2012").gpus[0].implicit_sync;
  const auto comparison = compare_models(state(5), profile, breadth_42, limits_of(profile));
  EXPECT_NEAR(ms(model(comparison, "van-werkhoven-2014")), 86.76621748251648, 1e-9);
}

TEST(CompareModels, have_a_roofline_whose_reads_and_writes_cross_the_link_in_their_own_direction) {
  // The bytes of the longer direction, by hand, over 1 / 0.018006767 ns (H2D of the profile h200).
  struct Case {
    const char* workload;
    double bytes_in;
    double printed_ms;
  };
  const Profile h200 = find_profile("h200");
  for (const auto& [workload, bytes_in, printed_ms] :
       {Case{"spmv", 8.0 * 131073 + 8.0 * 17179869, 2.497}, Case{"histogram", 64.0 * 704 * 576, 0.4679},
        Case{"pop-state", 2 * 8.0 * 1024 * 1024 * 42, 12.705}, Case{"saxpy:n=20Mi", 8.0 * 20 * 1048576, 3.025}}) {
    Job job = find_workload(workload).job;
    job.cost = {.points = {{job.items, Interval<Seconds>::exact(milliseconds(0.1))}}, .origin = "stated"};
    Candidate implicit;
    implicit.choice = {.strategy = "implicit"};
    const ModelComparison comparison{
        .choice = implicit.choice, .simulation = {}, .models = model_predictions(job, h200, implicit)};
    EXPECT_EQ(model(comparison, "roofline").form, "mapped");
    EXPECT_NEAR(ms(model(comparison, "roofline")) / (bytes_in * 0.0180309438e-6), 1, 1e-6) << workload;
    EXPECT_NEAR(ms(model(comparison, "roofline")) / printed_ms, 1, 3e-4) << workload;
    EXPECT_FALSE(model(comparison, "roofline").assumption.empty());
  }
}

TEST(CompareModels, say_what_a_form_assumes_that_the_job_does_not_meet) {
  const Profile profile = planted_profile();
  Job job = in_out_job(64_MiB, 32_MiB, milliseconds(1.0), 1 << 20);
  const Choice streams{.strategy = "streams", .chunks = 8};
  EXPECT_TRUE(predict(job, profile, streams).closed_form);
  EXPECT_EQ(model(compare_models(job, profile, streams, limits_of(profile)), "van-werkhoven-2014").assumption, "");
  Choice ramp = streams;
  ramp.ramp = {.first = 0.5, .last = 1, .growth = 1.5};
  EXPECT_EQ(model(compare_models(job, profile, ramp, limits_of(profile)), "van-werkhoven-2014").assumption,
            "all chunks are equal");
  EXPECT_FALSE(predict(job, profile, ramp).closed_form) << "so it is not ranked";
  job.arrays.push_back({.name = "front", .role = Role::broadcast, .size = 8_MiB, .prefix_of = 0u});
  EXPECT_EQ(model(compare_models(job, profile, streams, limits_of(profile)), "van-werkhoven-2014").assumption,
            "no part of an array must be on the GPU before the first launch");
  EXPECT_FALSE(predict(job, profile, streams).closed_form);
}

TEST(CompareModels, take_the_cost_of_a_stream_from_the_host) {
  Profile profile = paper_profile({.copy_engines = 1});
  profile.host =
      HostModel{.copy = {}, .calls = {{"create stream", {{1_B, Interval<Seconds>::exact(milliseconds(0.1))}}}}};
  const auto comparison = compare_models(state(5), profile, breadth_42, limits_of(profile));
  // Eq 1: a copy in each direction, L+o and 58.614967 or 27.920548 ms by Table I, and 42 streams of 0.1 ms.
  EXPECT_NEAR(ms(model(comparison, "gomez-luna-2012")), 0.018443 + 58.614972924 + 27.920545 + 4.2, 1e-4);
}

TEST(CompareModels, copy_arrays_that_stay_before_the_first_launch_and_carried_ones_back) {
  // By hand from Table I: 84 and 21 MB in two copies to the GPU, and the 21 MB back.
  const Profile profile = paper_profile({.copy_engines = 1});
  Job job = state(5);
  job.arrays.push_back({.name = "table", .role = Role::broadcast, .size = Bytes{84'000'000}});
  job.arrays.push_back({.name = "state", .role = Role::carried, .size = Bytes{21'000'000}});
  const double once = 0.00942 + 105e6 * 8.318392e-8 + 0.002503 + 0.009023 + 21e6 * 7.924734e-8;
  const auto comparison = compare_models(job, profile, breadth_42, limits_of(profile));
  const auto& right = model(comparison, "van-werkhoven-2014");
  EXPECT_NEAR(ms(right), 86.76621748251648 + once, 1e-6);
  EXPECT_EQ(right.assumption, "");
  const auto& printed = model(comparison, "van-werkhoven-2014 as printed");
  EXPECT_NEAR(ms(printed), 86.76621748251648, 1e-9);
  EXPECT_EQ(printed.assumption, "no array is copied once (this job copies 100.1 MiB once)");
}

TEST(CompareModels, have_eq_6_for_the_papers_state_on_the_papers_titan_without_assumption) {
  // The worked value of eq 6, and a copy of the 6 x 42 doubles that stay on the GPU.
  Job job = find_workload("pop-state").job;
  job.cost = {.points = {{job.items, Interval<Seconds>::exact(milliseconds(5))}}, .origin = "stated"};
  const auto form =
      find_strategy("implicit").closed_form(job, {.strategy = "implicit"}, find_profile("gtx-titan-2014")).value();
  EXPECT_NEAR(in_milliseconds(form.time), 58.63341592980224 + 0.00942 + 2016 * 8.318392e-8, 1e-9);
  EXPECT_EQ(form.assumption, "");
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
