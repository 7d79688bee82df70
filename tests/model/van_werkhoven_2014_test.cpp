#include "shiplap/model/van_werkhoven_2014.hpp"

#include <gtest/gtest.h>

#include "tests/model/hand_simulation.hpp"
#include "tests/model/van_werkhoven_2014_titan.hpp"

namespace shiplap::van_werkhoven_2014 {
namespace {

// Worked values from the paper's Table I and II, computed with 60-digit decimals, milliseconds.
const UnderLoad explicit_mapped{PerByte{1.193386e-10}, PerByte{1.480396e-10}};
Work state_of_three_outputs(double kernel_ms) { return {h2d, d2h, field * 2, field * 3, milliseconds(kernel_ms)}; }

struct WorkInChunks {
  Work work;
  std::uint32_t chunks;
  by_hand::Chunks by_hand() const {
    const double n = chunks;
    return {.n = chunks,
            .in = static_cast<double>(work.in.count) * work.h2d.per_byte.seconds / n,
            .kernel = work.kernel.count() / n,
            .out = static_cast<double>(work.out.count) * work.d2h.per_byte.seconds / n,
            .latency_in = work.h2d.latency_overhead.count(),
            .latency_out = work.d2h.latency_overhead.count(),
            .gap_in = work.h2d.gap.count(),
            .gap_out = work.d2h.gap.count()};
  }
};

// 1,200 jobs in which each stage can dominate, outputs can be tiny, and gaps can outweigh bytes.
std::vector<WorkInChunks> random_works() {
  by_hand::Random random(2014);
  std::vector<WorkInChunks> cases;
  while (cases.size() < 1200) {
    const std::uint32_t n = random.count(0, 8.5);
    const auto direction = [&] {
      return Direction{microseconds(random.uniform(0, 20)), PerByte{random.uniform(2e-11, 2e-10)},
                       microseconds(random.uniform(0, 6))};
    };
    const auto bytes = [&](double low) { return Bytes{random.count(low, 22)} * n; };
    Work w{.h2d = direction(), .d2h = direction(), .in = bytes(10), .out = bytes(3), .kernel = Seconds{0}};
    w.kernel = transfer(w.h2d, w.in + w.out, n) * random.power_of_two(-5, 3);
    cases.push_back({w, n});
  }
  return cases;
}

void expect_critical_path_of_works(Category category, const by_hand::Device& device) {
  for (const WorkInChunks& c : random_works())
    ASSERT_NEAR(streams_time(c.work, c.chunks, category).count() / by_hand::simulate(c.by_hand(), device), 1, 1e-12)
        << c.chunks << " chunks, in " << c.work.in.count << ", out " << c.work.out.count << ", kernel "
        << c.work.kernel.count();
}

TEST(Equations, give_the_worked_values_at_42_chunks) {
  EXPECT_NEAR(in_milliseconds(eq1(state(200), 42)), 229.44421614628095, 1e-11);
  EXPECT_NEAR(in_milliseconds(eq2(state(5), 42)), 86.8852651015641, 1e-11);
  EXPECT_NEAR(in_milliseconds(eq3(state(200), 42)), 202.07881246386944, 1e-11);
  EXPECT_NEAR(in_milliseconds(eq4(state(5), 42)), 86.76621748251648, 1e-11);
  EXPECT_NEAR(in_milliseconds(eq5(state(5), 42)), 59.519861419152576, 1e-11);
  EXPECT_NEAR(in_milliseconds(eq6(state(5))), 58.63341592980224, 1e-11);
  EXPECT_NEAR(in_milliseconds(explicit_time(state(5))), 91.55396048251647, 1e-11);
}

TEST(Equations, all_become_explicit_at_one_chunk) {
  for (const WorkInChunks& c : random_works())
    for (const Category category : {cat1, cat2, cat3})
      ASSERT_NEAR(streams_time(c.work, 1, category) / explicit_time(c.work), 1.0, 1e-13);
}

TEST(Equation6, charges_both_fixed_costs_whichever_part_is_longest) {
  // Longest in turn: copies in (58.6 ms), kernel, copies out (83.8 ms); 18.443 µs are 9.42 + 9.023.
  for (const auto& [work, longest_ms] :
       {std::pair{state(5), 58.61497292980224}, {state(100), 100.0}, {state_of_three_outputs(5), 83.76163365814272}})
    EXPECT_NEAR(in_milliseconds(eq6(work)) - longest_ms, 0.018443, 1e-11);
}

TEST(StreamsTime, is_the_simulated_critical_path_with_implicit_synchronisation) {
  expect_critical_path_of_works(cat1, {.copy_engines = 1, .implicit_sync = true});
}

TEST(StreamsTime, is_the_simulated_critical_path_of_one_engine) {
  expect_critical_path_of_works(cat2, {.copy_engines = 1});
}

TEST(StreamsTime, is_the_simulated_critical_path_of_two_engines) {
  expect_critical_path_of_works(cat3, {.copy_engines = 2});
}

TEST(StreamsTime, of_category_1_is_nearly_that_of_two_engines_with_implicit_synchronisation) {
  // The category that the paper has not: its only gain is that no engine changes direction, and that costs nothing here
  // as the kernel ends after the last copy in.
  for (const WorkInChunks& c : random_works())
    ASSERT_NEAR(streams_time(c.work, c.chunks, cat1).count() /
                    by_hand::simulate(c.by_hand(), {.copy_engines = 2, .implicit_sync = true}),
                1, 1e-12);
}

TEST(StreamsTime, is_continuous_where_the_dominant_part_changes_while_the_papers_selection_jumps) {
  // The printed test tE > Thd switches from eq 2 to eq 1 at tE = Thd, where they differ by (n - 1) * g_hd.
  const Work base = state(0);
  const Seconds in = base.in * base.h2d.per_byte;
  const auto at = [&](Seconds kernel) {
    Work w = base;
    w.kernel = kernel;
    return w;
  };
  const Seconds tiny = microseconds(0.001);
  for (const auto category : {cat1, cat2}) {
    const Seconds step = streams_time(at(in + tiny), 42, category) - streams_time(at(in), 42, category);
    EXPECT_LE(std::abs(in_microseconds(step)), 0.0011);
  }
  const Seconds jump = as_printed::streams_time(at(in), 42, cat1) - as_printed::streams_time(at(in + tiny), 42, cat1);
  EXPECT_NEAR(in_microseconds(jump), 41 * 2.503, 0.0011);
  // Category 2 falls from eq 4 to eq 3, by 30 %.
  EXPECT_NEAR(in_milliseconds(as_printed::streams_time(at(in), 42, cat2)), 86.76621748251648, 1e-9);
  EXPECT_NEAR(in_milliseconds(as_printed::streams_time(at(in + tiny), 42, cat2)), 60.6937853936717, 1e-5);
}

TEST(StreamsTime, switches_from_eq_2_to_eq_1_a_gap_per_chunk_later_than_printed) {
  const std::uint32_t n = 42;
  const Work base = state(0);
  const Seconds real_switch = base.in * base.h2d.per_byte + n * base.h2d.gap;
  Work w = base;
  for (const double factor : {0.999999, 1.000001}) {
    w.kernel = real_switch * factor;
    EXPECT_EQ(streams_time(w, n, cat1), factor < 1 ? eq2(w, n) : eq1(w, n));
    EXPECT_EQ(as_printed::streams_time(w, n, cat1), eq1(w, n));
  }
}

TEST(PrintedSelection, never_exceeds_the_critical_path_and_misses_it_where_one_engine_is_busy_longest) {
  unsigned misses = 0;
  for (const WorkInChunks& c : random_works()) {
    for (const Category category : {cat1, cat2}) {
      const double share =
          as_printed::streams_time(c.work, c.chunks, category) / streams_time(c.work, c.chunks, category);
      ASSERT_LE(share, 1.0);
      if (share < 0.9) ++misses;
    }
    ASSERT_EQ(as_printed::streams_time(c.work, c.chunks, cat3), eq5(c.work, c.chunks));
  }
  EXPECT_GT(misses, 100u);
}

TEST(Hybrid, as_printed_gives_the_worked_value_of_table_2) {
  const Work loaded = slowed_throughout(state(5), explicit_mapped);
  EXPECT_NEAR(in_milliseconds(as_printed::hybrid_time(loaded, 42)), 85.57307750410362, 1e-11);
}

// A copy engine and a kernel engine; a kernel lasts as long as its work or its writes.
double two_stages_by_hand(const Work& w, std::uint32_t n) {
  const double in = static_cast<double>(w.in.count) * w.h2d.per_byte.seconds / n;
  const double out = static_cast<double>(w.out.count) * w.d2h.per_byte.seconds / n;
  double copied = w.h2d.latency_overhead.count() - w.h2d.gap.count();
  double done = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    copied += w.h2d.gap.count() + in;
    done = std::max(done, copied) + std::max(w.kernel.count() / n, out);
  }
  return done + w.d2h.latency_overhead.count();
}

TEST(Hybrid, is_two_stages_played_through) {
  for (const WorkInChunks& c : random_works())
    ASSERT_NEAR(hybrid_time(c.work, c.chunks).count() / two_stages_by_hand(c.work, c.chunks), 1, 1e-12);
}

TEST(Hybrid, charges_no_gap_to_the_host_while_the_printed_form_does) {
  Work w = slowed_throughout(state_of_three_outputs(8), explicit_mapped);
  const Seconds corrected = hybrid_time(w, 42);
  const Seconds printed = as_printed::hybrid_time(w, 42);
  w.d2h.gap = microseconds(100);
  EXPECT_EQ(hybrid_time(w, 42), corrected);
  EXPECT_NEAR(in_microseconds(as_printed::hybrid_time(w, 42) - printed), 41 * (100 - 2.674), 1e-6);
}

TEST(UnderLoad, slows_both_directions_until_the_shorter_one_has_ended) {
  // Stepping through time: each direction moves at the loaded rate while the other one is still there.
  by_hand::Random random(7);
  for (int i = 0; i < 200; ++i) {
    const Work w{.h2d = {.per_byte = {random.uniform(1e-11, 1e-10)}},
                 .d2h = {.per_byte = {random.uniform(1e-11, 1e-10)}},
                 .in = Bytes{random.count(10, 28)},
                 .out = Bytes{random.count(10, 28)}};
    const UnderLoad load{{w.h2d.per_byte.seconds * random.uniform(1, 3)},
                         {w.d2h.per_byte.seconds * random.uniform(1, 3)}};
    const double in_alone = static_cast<double>(w.in.count);
    const double out_alone = static_cast<double>(w.out.count);
    const double in_ends = in_alone * load.h2d.seconds;
    const double out_ends = out_alone * load.d2h.seconds;
    const Work slowed = slowed_while_both_move(w, load);
    const double in = (slowed.in * slowed.h2d.per_byte).count();
    const double out = (slowed.out * slowed.d2h.per_byte).count();
    if (in_ends < out_ends) {
      const double moved = in_ends / load.d2h.seconds;
      EXPECT_NEAR(in / in_ends, 1, 1e-12);
      EXPECT_NEAR(out / (in_ends + (out_alone - moved) * w.d2h.per_byte.seconds), 1, 1e-12);
    } else {
      const double moved = out_ends / load.h2d.seconds;
      EXPECT_NEAR(out / out_ends, 1, 1e-12);
      EXPECT_NEAR(in / (out_ends + (in_alone - moved) * w.h2d.per_byte.seconds), 1, 1e-12);
    }
  }
}

TEST(UnderLoad, changes_nothing_where_nothing_moves_the_other_way) {
  Work w = state(5);
  w.out = Bytes{0};
  const Work slowed = slowed_while_both_move(w, explicit_mapped);
  EXPECT_DOUBLE_EQ(slowed.h2d.per_byte.seconds, w.h2d.per_byte.seconds);
  EXPECT_EQ(slowed.d2h.per_byte, w.d2h.per_byte);
}

TEST(Figure9, has_the_times_and_the_order_that_follow_from_tables_1_and_2) {
  // The paper gives no kernel times; these are what 230 GB/s of device memory (or 1/24 rate in double precision) makes.
  struct Row {
    Work work;
    double explicit_ms, implicit_ms, streams_ms, hybrid_ms, hybrid_both_ms;
  };
  // buoydiff reads two fields at three levels for each point: 6 times 42 levels of 8 MiB go over the link.
  const auto implicit_buoydiff = [](double kernel_ms) {
    Work w = buoydiff(kernel_ms);
    w.in = Bytes{2113929216};
    return w;
  };
  for (const Row& row :
       {Row{state(5), 91.6, 58.6, 86.8, 85.6, 75.9}, Row{state(10), 96.6, 58.6, 86.8, 85.7, 76.0},
        Row{state_of_three_outputs(8), 150.4, 83.8, 142.6, 158.8, 125.2},
        Row{state_of_three_outputs(21), 163.4, 83.8, 142.6, 159.1, 125.5},
        Row{buoydiff(8), 122.5, 175.9, 114.7, 106.6, 97.2}, Row{buoydiff(30), 144.5, 175.9, 114.7, 107.2, 97.8}}) {
    const double kernel_ms = in_milliseconds(row.work.kernel);
    const Work implicit = row.work.in == row.work.out ? implicit_buoydiff(kernel_ms) : row.work;
    EXPECT_NEAR(in_milliseconds(explicit_time(row.work)), row.explicit_ms, 0.051);
    EXPECT_NEAR(in_milliseconds(eq6(implicit)), row.implicit_ms, 0.051);
    EXPECT_NEAR(in_milliseconds(streams_time(row.work, 42, cat2)), row.streams_ms, 0.051);
    const Work throughout = slowed_throughout(row.work, explicit_mapped);
    EXPECT_NEAR(in_milliseconds(as_printed::hybrid_time(throughout, 42)), row.hybrid_ms, 0.051);
    const Work both = slowed_while_both_move(row.work, explicit_mapped);
    EXPECT_NEAR(in_milliseconds(as_printed::hybrid_time(both, 42)), row.hybrid_both_ms, 0.051);
  }
}

}  // namespace
}  // namespace shiplap::van_werkhoven_2014
