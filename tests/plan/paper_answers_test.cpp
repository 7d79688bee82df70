#include "shiplap/plan/paper_answers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "shiplap/plan/prediction_view.hpp"
#include "tests/support/jobs.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// The equation of state with one output on van Werkhoven 2014's GTX Titan: 42 levels.
Job titan_state(double kernel_ms) {
  return in_out_job(Bytes{704643072}, Bytes{352321536}, milliseconds(kernel_ms), 42);
}

const PaperAnswer& answer(const std::vector<PaperAnswer>& answers, std::string_view paper, std::string_view question) {
  for (const PaperAnswer& a : answers)
    if (a.paper == paper && a.question.starts_with(question)) return a;
  throw std::out_of_range(std::string(question));
}

// √((T_dh + tE)/g_hd) and eq 5 at 42 chunks, from Table I with 60-digit decimals.
TEST(PaperAnswers, give_the_optimum_of_two_engines_by_table_1) {
  const auto answers = paper_answers(titan_state(5), paper_profile({.copy_engines = 2}));
  EXPECT_NEAR(*answer(answers, "van-werkhoven-2014", "optimal number").value, 114.68406558544498, 1e-9);
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "optimal number").words, "more than the 42 items");
  const PaperAnswer& divisor = answer(answers, "van-werkhoven-2014", "best divisor");
  EXPECT_EQ(divisor.value, 42.0);
  EXPECT_EQ(divisor.words, "59.52 ms");
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "dominant stage").words, "copies to the GPU");
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "classification").words, "category 3, dominant transfers");
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "implicit beats").value, 0.0);
  EXPECT_TRUE(
      answer(answers, "gomez-luna-2012", "optimal").words.starts_with("the paper has GPUs with one copy engine"));
}

// By hand from Table I, in ms, for a kernel of 8: explicit 0.018443 + 58.6150 + 8 + 27.9206, streams by eq 4 with two
// chunks and by eq 5 with 42, implicit by eq 6 (58.6334).
TEST(PaperAnswers, name_the_fastest_of_the_four_and_what_a_second_engine_would_give) {
  const auto answers = paper_answers(titan_state(8), paper_profile({.copy_engines = 1}));
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "fastest").words, "implicit");
  EXPECT_NEAR(*answer(answers, "van-werkhoven-2014", "time of explicit").value, 94.5540, 1e-3);
  EXPECT_NEAR(*answer(answers, "van-werkhoven-2014", "time of streams").value, 86.5591, 1e-3);
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "time of streams").words, "2 chunks");
  EXPECT_NEAR(*answer(answers, "van-werkhoven-2014", "time of implicit").value, 58.6334, 1e-3);
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "a second").words, "yes, 59.59 ms with two (printed: no)");
  // Two chunks save half of a short kernel and cost a gap in each direction.
  EXPECT_NEAR(*answer(answers, "van-werkhoven-2014", "streams beats").value, 5.177e-3, 1e-6);
}

// Kernels that access bytes repeatedly have no zero-copy in a plan either.
TEST(PaperAnswers, leave_out_what_the_job_does_not_offer_and_say_what_they_assume) {
  Job job = titan_state(8);
  job.each_byte_once = false;
  for (Array& array : job.arrays) array.memory = MemoryKind::pageable;
  const auto answers = paper_answers(job, paper_profile({.copy_engines = 1}));
  EXPECT_NE(answer(answers, "van-werkhoven-2014", "time of implicit").words.find("repeatedly"), std::string::npos);
  EXPECT_THROW(answer(answers, "van-werkhoven-2014", "implicit beats"), std::out_of_range);
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "assumed").words,
            "pinned arrays, though those of the job are pageable");
}

// With duplex copies at half the rate two chunks would take longer than one, which overlaps with nothing.
TEST(PaperAnswers, count_the_lower_rates_of_duplex_copies_only_where_chunks_overlap) {
  Profile profile = paper_profile({.copy_engines = 2});
  LinkModel& link = profile.links.front();
  for (DirectionModel* d : {&link.h2d, &link.d2h})
    d->duplex = DuplexModel{.per_byte = Interval<PerByte>::exact({2 * d->per_byte.value.seconds}), .gaps = {}};
  const auto answers = paper_answers(titan_state(0.1), profile);
  EXPECT_NEAR(*answer(answers, "van-werkhoven-2014", "time of explicit").value, 86.6540, 1e-3);
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "time of streams").words, "1 chunk");
  // 58.6150 + 0.1 + 27.9206 over 58.6150 + 27.9206: the longer direction alone for its second half.
  EXPECT_NEAR(*answer(answers, "eth-2025", "largest").value, 86.6356 / 86.5356, 1e-3);
}

// √(Thd/g_dh), and as printed with one g, here the mean of 2.503 and 2.674 µs.
TEST(PaperAnswers, give_the_optimum_with_implicit_synchronisation_as_printed_and_corrected) {
  const auto answers =
      paper_answers(titan_state(200), paper_profile({.copy_engines = 1, .implicit_sync = ImplicitSync::until_ended}));
  const double copies_us = 704643072 * 8.318392e-5;
  const PaperAnswer& optimum = answer(answers, "van-werkhoven-2014", "optimal number");
  EXPECT_NEAR(*optimum.value, std::sqrt(copies_us / 2.674), 1e-6);
  EXPECT_NEAR(*optimum.printed, std::sqrt(copies_us / 2.5885), 1e-6);
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "dominant stage").words, "the kernel");
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "classification").words, "category 1, dominant kernel");
}

// Two chunks save half of the kernel by eq 2 and cost a gap in each direction: from tE = 2·(2.503 + 2.674) µs on.
TEST(PaperAnswers, give_the_kernel_time_from_which_streams_pay) {
  const auto answers =
      paper_answers(titan_state(5), paper_profile({.copy_engines = 1, .implicit_sync = ImplicitSync::until_ended}));
  EXPECT_NEAR(*answer(answers, "van-werkhoven-2014", "streams beats").value, 10.354e-3, 1e-6);
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "streams beats").unit, "ms");
}

// t_T = 12 ms, t_E = 11.9 ms, t_sc = 0.1 ms: eq 2 has 120 streams, and the least time is at √(12/0.1) = 10.95.
TEST(PaperAnswers, give_the_streams_of_2012_as_printed_and_corrected) {
  const PaperDirection slow{.latency_overhead = Seconds{0}, .per_byte = {1e-9}, .gap = Seconds{0}};
  Profile profile = paper_profile({.copy_engines = 1, .h2d = slow, .d2h = slow});
  const Job job = in_out_job(Bytes{6'000'000}, Bytes{6'000'000}, milliseconds(11.9), 1000);
  EXPECT_NE(answer(paper_answers(job, profile), "gomez-luna-2012", "optimal").words.find("needs t_sc"),
            std::string::npos);
  profile.host.emplace();
  profile.host->calls["create stream"] = {{1_B, Interval<Seconds>::exact(milliseconds(0.1))}};
  const auto answers = paper_answers(job, profile);
  EXPECT_NEAR(*answer(answers, "gomez-luna-2012", "t_sc").value, 0.1, 1e-12);
  EXPECT_NEAR(*answer(answers, "gomez-luna-2012", "optimal").printed, 120, 1e-6);
  EXPECT_NEAR(*answer(answers, "gomez-luna-2012", "optimal").value, std::sqrt(120), 1e-9);
  EXPECT_EQ(answer(answers, "gomez-luna-2012", "best whole").value, 11.0);
}

// The layout stands for one copy engine: t_T = 12, t_E = 3, t_sc = 0.1 ms, so that eqs 1 and 2 meet at 12 / 9 streams,
// and two take 12 + 0.2 ms where one takes 15.
TEST(PaperAnswers, are_those_of_the_older_gpu_that_a_layout_emulates) {
  const PaperDirection slow{.latency_overhead = Seconds{0}, .per_byte = {1e-9}, .gap = Seconds{0}};
  Profile profile = paper_profile({.copy_engines = 2, .h2d = slow, .d2h = slow});
  profile.host.emplace();
  profile.host->calls["create stream"] = {{1_B, Interval<Seconds>::exact(milliseconds(0.1))}};
  const Job job = in_out_job(Bytes{6'000'000}, Bytes{6'000'000}, milliseconds(3), 1000);
  const auto answers = paper_answers(job, profile, Layout::one_engine);
  EXPECT_EQ(answer(answers, "van-werkhoven-2014", "classification").words, "category 2, dominant transfers");
  EXPECT_NEAR(*answer(answers, "gomez-luna-2012", "optimal").value, 12.0 / 9, 1e-9);
  EXPECT_EQ(answer(answers, "gomez-luna-2012", "best whole").value, 2.0);
  EXPECT_EQ(answer(answers, "gomez-luna-2012", "best whole").words, "1.23 times as fast as without");
}

// saxpy over 20·2^20 floats in 1.5 ms: 3·4·N bytes and 2·N operations.
TEST(PaperAnswers, give_the_metrics_of_harris) {
  Job job = in_out_job(160_MiB, 80_MiB, milliseconds(1.5), 20 << 20);
  EXPECT_NE(answer(paper_answers(job, paper_profile()), "harris-2012", "effective").words.find("needs the bytes"),
            std::string::npos);
  job.device_traffic = 240_MiB;
  job.flops = 2.0 * (20 << 20);
  const auto answers = paper_answers(job, paper_profile());
  EXPECT_NEAR(*answer(answers, "harris-2012", "effective").value, 167.77216, 1e-5);
  EXPECT_NEAR(*answer(answers, "harris-2012", "rate").value, 27.962, 1e-3);
}

TEST(PaperAnswers, say_what_is_missing_and_are_numbers_in_json) {
  Profile profile = paper_profile();
  profile.links.clear();
  EXPECT_EQ(answer(paper_answers(titan_state(5), profile), "van-werkhoven-2014", "all").words,
            "the profile has no link, or the kernel no cost");
  const PaperDirection no_gap{.latency_overhead = Seconds{0}, .per_byte = {1e-9}, .gap = Seconds{0}};
  for (const unsigned engines : {1u, 2u}) {
    const Json written = to_json(
        PredictionView{.papers = paper_answers(
                           titan_state(5), paper_profile({.copy_engines = engines, .h2d = no_gap, .d2h = no_gap}))});
    for (const Json& a : written.at("papers"))
      for (const char* key : {"printed", "answer"}) EXPECT_TRUE(!a.contains(key) || a[key]["value"].is_number()) << a;
  }
}

}  // namespace
}  // namespace shiplap
