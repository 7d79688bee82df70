#include "shiplap/model/van_werkhoven_2014.hpp"

#include <gtest/gtest.h>

namespace shiplap::van_werkhoven_2014 {
namespace {

// Worked values from the paper's Table I, computed with 60-digit decimals: Table I, state with one output,
// milliseconds.
const Direction h2d{microseconds(9.42), PerByte{8.318392e-11}, microseconds(2.503)};
const Direction d2h{microseconds(9.023), PerByte{7.924734e-11}, microseconds(2.674)};
Work state(double kernel_ms) { return {h2d, d2h, Bytes{704643072}, Bytes{352321536}, milliseconds(kernel_ms)}; }

TEST(Transfer, gives_the_values_of_figures_5_and_6) {
  EXPECT_NEAR(in_milliseconds(transfer(h2d, 16_MiB, 1)), 1.40501459356672, 1e-12);
  EXPECT_NEAR(in_milliseconds(transfer(h2d, 16_MiB, 256)), 2.04327959356672, 1e-12);
  EXPECT_NEAR(in_milliseconds(transfer(d2h, 16_MiB, 1)), 1.33857274060544, 1e-12);
  EXPECT_NEAR(in_milliseconds(transfer(d2h, 16_MiB, 256)), 2.02044274060544, 1e-12);
}

TEST(Equations, give_the_worked_values_at_42_chunks) {
  EXPECT_NEAR(in_milliseconds(eq1(state(200), 42)), 229.44421614628095, 1e-11);
  EXPECT_NEAR(in_milliseconds(eq2(state(5), 42)), 86.8852651015641, 1e-11);
  EXPECT_NEAR(in_milliseconds(eq3(state(200), 42)), 202.07881246386944, 1e-11);
  EXPECT_NEAR(in_milliseconds(eq4(state(5), 42)), 86.76621748251648, 1e-11);
  EXPECT_NEAR(in_milliseconds(eq5(state(5), 42)), 59.519861419152576, 1e-11);
  EXPECT_NEAR(in_milliseconds(explicit_time(state(5))), 91.55396048251647, 1e-11);
}

TEST(Equations, all_become_explicit_at_one_chunk) {
  for (const double kernel : {0.5, 5.0, 200.0}) {
    const Work w = state(kernel);
    for (const Category category : {Category::implicit_sync_one_engine, Category::one_engine, Category::two_engines})
      EXPECT_NEAR(streams_time(w, 1, category) / explicit_time(w), 1.0, 1e-12);
  }
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
  const Seconds jump = eq2(at(in), 42) - eq1(at(in + tiny), 42);
  EXPECT_NEAR(in_microseconds(jump), 41 * 2.503, 0.01);
  const Seconds step = streams_time(at(in + tiny), 42, Category::implicit_sync_one_engine) -
                       streams_time(at(in), 42, Category::implicit_sync_one_engine);
  EXPECT_LE(std::abs(in_microseconds(step)), 0.01);
}

}  // namespace
}  // namespace shiplap::van_werkhoven_2014
