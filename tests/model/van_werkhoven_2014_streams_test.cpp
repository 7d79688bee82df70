#include "shiplap/model/van_werkhoven_2014_streams.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "shiplap/model/chunk_choice.hpp"
#include "tests/model/hand_simulation.hpp"
#include "tests/model/van_werkhoven_2014_titan.hpp"

namespace shiplap::van_werkhoven_2014 {
namespace {

const Seconds one_gap = microseconds(2.5);

// The forms of Fig. 7 once more, for any real number of chunks.
struct Real {
  double latency, in, kernel, out, gap_in, gap_out;
  explicit Real(const Work& w)
      : latency(w.h2d.latency_overhead.count() + w.d2h.latency_overhead.count()),
        in(static_cast<double>(w.in.count) * w.h2d.per_byte.seconds),
        kernel(w.kernel.count()),
        out(static_cast<double>(w.out.count) * w.d2h.per_byte.seconds),
        gap_in(w.h2d.gap.count()),
        gap_out(w.d2h.gap.count()) {}
  double eq1(double n) const { return latency + in / n + kernel + out + gap_out * (n - 1); }
  double eq2(double n) const { return latency + in + gap_in * (n - 1) + kernel / n + out + gap_out * (n - 1); }
  double eq3(double n) const { return latency + in / n + kernel + out / n; }
  double in_longest(double n) const { return latency + in + gap_in * (n - 1) + kernel / n + out / n; }
  double out_longest(double n) const { return latency + in / n + kernel / n + out + gap_out * (n - 1); }
  double eq4(double n) const {
    const double transfers = latency + in + gap_in * (n - 1) + out + gap_out * (n - 1);
    return std::max({transfers, in_longest(n), out_longest(n)});
  }
  double eq5(double n) const { return std::max({in_longest(n), eq3(n), out_longest(n)}); }
};

using Form = std::function<double(double)>;

// The least value of a convex form over n ≥ 1, by narrowing an interval; knows no derivative.
double least(const Form& f) {
  double low = 0;
  double high = 40;  // powers of two
  for (int i = 0; i < 400; ++i) {
    const double a = low + (high - low) / 3;
    const double b = high - (high - low) / 3;
    (f(std::exp2(a)) <= f(std::exp2(b)) ? high : low) = f(std::exp2(a)) <= f(std::exp2(b)) ? b : a;
  }
  return std::min(f(1), f(std::exp2(low)));
}

std::vector<Work> random_jobs() {
  by_hand::Random random(42);
  std::vector<Work> jobs;
  while (jobs.size() < 1200) {
    const auto direction = [&] {
      return Direction{microseconds(random.uniform(0, 20)), PerByte{random.uniform(2e-11, 2e-10)},
                       microseconds(random.power_of_two(-4, 4))};
    };
    Work w{.h2d = direction(),
           .d2h = direction(),
           .in = Bytes{random.count(8, 28)},
           .out = Bytes{random.count(2, 28)},
           .kernel = Seconds{0}};
    w.kernel = (w.in * w.h2d.per_byte + w.out * w.d2h.per_byte) * random.power_of_two(-6, 3);
    jobs.push_back(w);
  }
  return jobs;
}

void expect_least_at(const Form& form, double optimum) {
  ASSERT_GE(optimum, 1);
  ASSERT_LE(form(optimum) / least(form), 1 + 1e-12) << "at " << optimum;
  // Finite differences: it rises to both sides.
  ASSERT_GE(form(optimum * 1.001), form(optimum) * (1 - 1e-15));
  if (optimum > 1.002) {
    ASSERT_GE(form(optimum / 1.001), form(optimum) * (1 - 1e-15));
  }
}

TEST(Optimum, is_where_each_form_is_least_over_the_real_numbers) {
  for (const Work& w : random_jobs()) {
    const Real r(w);
    ASSERT_NEAR(r.eq5(7) / eq5(w, 7).count(), 1, 1e-13);
    ASSERT_NO_FATAL_FAILURE(expect_least_at([&](double n) { return r.eq1(n); }, eq1_optimum(w)));
    ASSERT_NO_FATAL_FAILURE(expect_least_at([&](double n) { return r.eq2(n); }, eq2_optimum(w)));
    ASSERT_NO_FATAL_FAILURE(expect_least_at([&](double n) { return r.eq4(n); }, eq4_optimum(w)));
    ASSERT_NO_FATAL_FAILURE(expect_least_at([&](double n) { return r.eq5(n); }, eq5_optimum(w)));
    ASSERT_NO_FATAL_FAILURE(
        expect_least_at([&](double n) { return std::max(r.eq1(n), r.eq2(n)); }, optimal_streams(w, cat1)));
    ASSERT_NO_FATAL_FAILURE(
        expect_least_at([&](double n) { return std::max(r.eq3(n), r.eq4(n)); }, optimal_streams(w, cat2)));
  }
}

TEST(Optimum, leads_to_the_best_integer_that_trying_all_finds) {
  constexpr std::uint32_t limit = 400;
  for (const Work& w : random_jobs())
    for (const Category category : {cat1, cat2, cat3}) {
      const auto time = [&](std::uint32_t n) { return streams_time(w, n, category); };
      Seconds best = time(1);
      for (std::uint32_t n = 2; n <= limit; ++n) best = std::min(best, time(n));
      ASSERT_LE(time(best_integer_near(optimal_streams(w, category), time, limit)) / best, 1 + 1e-14);
    }
}

TEST(Optimum, of_eqs_1_and_2_is_a_root_with_the_gaps_of_their_directions) {
  EXPECT_NEAR(eq1_optimum(state(200)), std::sqrt(58.61497292980224 / 0.002674), 1e-9);
  EXPECT_NEAR(eq2_optimum(buoydiff(7)), std::sqrt(7 / (0.002503 + 0.002674)), 1e-9);
  EXPECT_NEAR(eq2_optimum(buoydiff(7)), 36.77, 0.005);
}

TEST(Optimum, of_eq_5_with_dominant_transfers_takes_the_gap_of_the_longer_direction) {
  EXPECT_NEAR(eq5_optimum(state(5)), 114.68406558544498, 1e-9);
  Work mirrored = state(5);
  std::swap(mirrored.h2d, mirrored.d2h);
  std::swap(mirrored.in, mirrored.out);
  EXPECT_NEAR(eq5_optimum(mirrored), 114.68406558544498, 1e-9);
}

TEST(Optimum, of_eq_5_with_a_dominant_kernel_is_where_copies_in_catch_up_with_it) {
  // Not "depends on how tE grows" once tE is constant: n = (tE - Thd)/g_hd, in the ten thousands.
  EXPECT_NEAR(eq5_optimum(state(200)), (200 - 58.61497292980224) / 0.002503, 1e-3);
  const auto time = [](std::uint32_t n) { return eq5(state(200), n); };
  EXPECT_LT(time(56486), time(50000));
  EXPECT_LT(time(56486), time(60000));
}

TEST(Optimum, of_eq_3_does_not_exist_although_all_forms_are_said_to_show_a_drawback) {
  Seconds previous = eq3(state(200), 1);
  for (std::uint32_t n = 2; n < 5000; ++n) {
    const Seconds now = eq3(state(200), n);
    ASSERT_LT(now, previous);
    previous = now;
  }
  // With both scenarios in one form category 2 has one: eq 4 takes over.
  EXPECT_GT(optimal_streams(state(200), cat2), 5000);
  EXPECT_LT(optimal_streams(state(200), cat2), 1e6);
}

TEST(Optimum, without_gaps_is_infinite_or_the_first_of_a_plateau) {
  Work w = buoydiff(7);
  w.h2d.gap = w.d2h.gap = Seconds{0};
  EXPECT_EQ(eq1_optimum(w), std::numeric_limits<double>::infinity());
  EXPECT_EQ(eq5_optimum(w), std::numeric_limits<double>::infinity());
  // On one engine nothing is gained once the copies fill it: D = (tE + D)/n.
  const double out_ms = 55.84108910542;  // 704643072 bytes
  EXPECT_NEAR(eq4_optimum(w), 1 + 7 / out_ms, 1e-6);
  EXPECT_NEAR(eq4_smallest_useful(w), 1 + 7 / out_ms, 1e-9);
}

TEST(Optimum, on_a_plateau_is_its_first_number_of_chunks) {
  unsigned plateaus = 0;
  for (Work w : random_jobs()) {
    w.h2d.gap = w.d2h.gap = Seconds{0};
    const Real r(w);
    const double n = optimal_streams(w, cat2);
    if (n == std::numeric_limits<double>::infinity()) continue;
    ++plateaus;
    const auto time = [&](double chunks) { return std::max(r.eq3(chunks), r.eq4(chunks)); };
    ASSERT_NEAR(time(n) / time(1e9), 1, 1e-12);
    if (n > 1.002) {
      ASSERT_GT(time(n / 1.001) / time(n), 1 + 1e-13) << n;
    }
  }
  EXPECT_GT(plateaus, 300u);
}

TEST(SmallestUseful, is_where_the_transfers_begin_to_be_the_longest_term) {
  for (const Work& w : random_jobs()) {
    const Real r(w);
    const double n = eq4_smallest_useful(w);
    ASSERT_GE(n, 1 - 1e-12);
    const bool in_is_longer = r.in >= r.out;
    const double d = in_is_longer ? r.out : r.in;
    const double gap = in_is_longer ? r.gap_out : r.gap_in;
    const double left = d + gap * (n - 1);
    ASSERT_NEAR(left * n / (r.kernel + d), 1, 1e-9);
  }
}

TEST(SmallestUseful, is_the_optimum_of_eq_4_unless_the_smaller_transfer_is_shorter_than_a_gap) {
  const Work usual = buoydiff(7);
  EXPECT_NEAR(eq4_optimum(usual), eq4_smallest_useful(usual), 1e-9);
  Work tiny = usual;
  tiny.out = Bytes{1024};  // 81 ns; a gap is 2500
  tiny.h2d.gap = tiny.d2h.gap = one_gap;
  EXPECT_LT(eq4_optimum(tiny), eq4_smallest_useful(tiny) * 0.999);
  EXPECT_NEAR(eq4_optimum(tiny), std::sqrt((7 + 1024 * 7.924734e-8) / 0.0025), 1e-6);
}

TEST(PrintedOptimum, gives_the_worked_values) {
  EXPECT_NEAR(as_printed::eq1_optimum(state(200), one_gap), 153.12083193321834, 1e-9);
  EXPECT_NEAR(as_printed::eq2_optimum(state(5), one_gap), 31.622776601683793, 1e-11);
  EXPECT_NEAR(*as_printed::eq5_optimum(state(5), h2d.gap), 114.68406558544498, 1e-9);
  EXPECT_NEAR(eq4_smallest_useful(buoydiff(7)), 1.1253489663997924, 1e-12);
}

TEST(PrintedOptimum, takes_the_direction_with_fewer_bytes) {
  // 20 ms in, 40 ms out, or the other way round: 20 ms is the smaller transfer of either.
  Work w{.h2d = {.per_byte = {1e-9}}, .d2h = {.per_byte = {1e-9}}, .in = Bytes{20000000}, .out = Bytes{40000000}};
  w.kernel = milliseconds(10);
  const double root = (0.0025 - 20 + std::sqrt((20 - 0.0025) * (20 - 0.0025) + 4 * 0.0025 * 30)) / (2 * 0.0025);
  for (int way = 0; way < 2; ++way, std::swap(w.in, w.out)) {
    EXPECT_NEAR(*as_printed::eq5_optimum(w, one_gap), std::sqrt(30 / 0.0025), 1e-9);
    EXPECT_NEAR(*as_printed::eq4_smallest_useful(w, one_gap), root, 1e-9);
  }
}

TEST(PrintedOptimum, is_wrong_where_the_direction_with_fewer_bytes_takes_longer) {
  // research/models.md: 101 MiB in at 20 GB/s, 100 MiB out at 10 GB/s, a kernel of 1 ms, g of 2.5 µs.
  Work w{.h2d = {.per_byte = {1 / 20e9}, .gap = one_gap},
         .d2h = {.per_byte = {1 / 10e9}, .gap = one_gap},
         .in = 101_MiB,
         .out = 100_MiB,
         .kernel = milliseconds(1)};
  EXPECT_NEAR(*as_printed::eq5_optimum(w, one_gap), std::sqrt((10.48576 + 1) / 0.0025), 1e-9);
  EXPECT_NEAR(*as_printed::eq5_optimum(w, one_gap), 67.8, 0.05);
  EXPECT_NEAR(eq5_optimum(w), std::sqrt((5.2953088 + 1) / 0.0025), 1e-9);
  EXPECT_NEAR(eq5_optimum(w), 50.2, 0.05);
}

TEST(PrintedOptimum, of_the_text_on_eq_4_is_far_from_the_equation) {
  // The text: reduce n until tE/n + Tdh/n exceeds L+o + Tdh/n + g (n - 1), so tE/n = L+o + g (n - 1).
  const Work w = buoydiff(7);
  const double fixed = in_milliseconds(w.d2h.latency_overhead);
  const double gap = in_milliseconds(w.d2h.gap);
  const double n = (gap - fixed + std::sqrt((fixed - gap) * (fixed - gap) + 4 * gap * 7)) / (2 * gap);
  EXPECT_NEAR(n, 49.99, 0.005);
  EXPECT_NEAR(in_milliseconds(eq4(w, 50)), 114.73, 0.005);
  EXPECT_NEAR(in_milliseconds(eq4(w, 2)), 114.48, 0.005);
}

TEST(PrintedOptimum, has_no_case_for_equal_numbers_of_bytes) {
  EXPECT_FALSE(as_printed::eq4_smallest_useful(buoydiff(7), one_gap));
  EXPECT_FALSE(as_printed::eq5_optimum(buoydiff(7), one_gap));
  EXPECT_NEAR(*as_printed::eq4_smallest_useful(state(5), one_gap), 1 + 5 / 27.920544552714238, 1e-4);
}

TEST(PrintedOptimum, chosen_by_bytes_takes_the_wrong_direction_where_the_larger_one_is_faster) {
  // 1 MiB more in than out over a link that is twice as fast inwards: Thd = 5.25, Tdh = 10.24 ms.
  const Work w{.h2d = {Seconds{0}, PerByte{5e-11}, microseconds(2.5)},
               .d2h = {Seconds{0}, PerByte{1e-10}, microseconds(2.5)},
               .in = 101_MiB,
               .out = 100_MiB,
               .kernel = milliseconds(1)};
  const double by_bytes = *as_printed::eq5_optimum(w, microseconds(2.5));
  EXPECT_NEAR(by_bytes, std::sqrt((10.48576 + 1) / 0.0025), 1e-9);
  EXPECT_NEAR(eq5_optimum(w), std::sqrt((5.2953088 + 1) / 0.0025), 1e-9);
  EXPECT_GT(eq5(w, static_cast<std::uint32_t>(by_bytes)), eq5(w, static_cast<std::uint32_t>(eq5_optimum(w))));
}

// The best integer by trying all up to 1000.
std::uint32_t tried(const TimeOfChunks& time) {
  std::uint32_t best = 1;
  for (std::uint32_t n = 2; n <= 1000; ++n)
    if (time(n) < time(best)) best = n;
  return best;
}

TEST(BestInteger, is_found_beside_each_worked_optimum_and_is_not_always_the_rounded_one) {
  const auto gaps = [](Work w) {
    w.h2d.gap = w.d2h.gap = one_gap;
    return w;
  };
  struct Row {
    double optimum;
    TimeOfChunks time;
    std::uint32_t best;
  };
  for (const Row& row : {Row{eq1_optimum(gaps(state(200))), [&](auto n) { return eq1(gaps(state(200)), n); }, 153},
                         Row{eq2_optimum(gaps(state(5))), [&](auto n) { return eq2(gaps(state(5)), n); }, 32},
                         Row{eq2_optimum(buoydiff(7)), [](auto n) { return eq2(buoydiff(7), n); }, 37},
                         Row{eq5_optimum(state(5)), [](auto n) { return eq5(state(5), n); }, 115},
                         Row{eq4_optimum(buoydiff(7)), [](auto n) { return eq4(buoydiff(7), n); }, 2}}) {
    EXPECT_EQ(best_integer_near(row.optimum, row.time, 1000), row.best) << row.optimum;
    EXPECT_EQ(tried(row.time), row.best);
  }
  EXPECT_EQ(std::lround(eq4_optimum(buoydiff(7))), 1) << "rounding would not overlap at all";
}

TEST(BestDivisor, of_the_42_levels_is_2_for_one_engine_and_all_42_for_two) {
  const auto best = [](const Work& w, Category c) {
    return best_divisor(42, [&](std::uint32_t n) { return streams_time(w, n, c); });
  };
  EXPECT_EQ(best(buoydiff(7), cat2), 2u);
  EXPECT_NEAR(eq5_optimum(buoydiff(7)), 158, 0.5);
  EXPECT_EQ(best(buoydiff(7), cat3), 42u);
  EXPECT_EQ(best(buoydiff(7), cat1), 42u);  // the real optimum is 36.8; 21 is worse
}

}  // namespace
}  // namespace shiplap::van_werkhoven_2014
