#include "shiplap/model/harris_2012.hpp"

#include <gtest/gtest.h>

namespace shiplap::harris_2012 {
namespace {

// The article's SAXPY: y = a·x + y, single precision, 20·2^20 elements, on a Tesla M2050.
constexpr std::uint64_t elements = 20u << 20;
constexpr Bytes array{4 * elements};
const Seconds run = milliseconds(2.280032);  // from its printed 110.374872 GB/s

TEST(TheoreticalBandwidth, of_the_articles_card_is_148_416) {
  EXPECT_DOUBLE_EQ(in_gigabytes_per_second(theoretical_bandwidth(1546e6, 384, 2)), 148.416);
}

TEST(TheoreticalBandwidth, needs_the_factor_of_the_clock_that_is_quoted) {
  // One card, three clocks: data rate of a pin, driver's clock, command clock. Data sheets: 616, 320, 936, 900 GB/s.
  const auto gb = [](double mhz, std::uint32_t bits, double factor) {
    return in_gigabytes_per_second(theoretical_bandwidth(mhz * 1e6, bits, factor));
  };
  EXPECT_DOUBLE_EQ(gb(14000, 352, 1), 616);  // GDDR6
  EXPECT_DOUBLE_EQ(gb(7000, 352, 2), 616);
  EXPECT_DOUBLE_EQ(gb(1750, 352, 8), 616);
  EXPECT_DOUBLE_EQ(gb(1250, 256, 8), 320);     // GDDR5X
  EXPECT_NEAR(gb(1219, 384, 16), 936, 1);      // GDDR6X
  EXPECT_NEAR(gb(877, 4096, 2), 900, 2);       // HBM2
  EXPECT_DOUBLE_EQ(gb(773, 384, 4), 148.416);  // GDDR5, the article's card by its command clock
  // The article's factor with the command clock of a GDDR6 card is off by four.
  EXPECT_DOUBLE_EQ(gb(1750, 352, 2), 154);
}

TEST(EffectiveBandwidth, is_that_of_the_articles_run) {
  const Bandwidth effective = effective_bandwidth(array * 2, array, run);
  EXPECT_NEAR(in_gigabytes_per_second(effective), 110.374872, 5e-5);
  EXPECT_NEAR(effective.bytes_per_second / theoretical_bandwidth(1546e6, 384, 2).bytes_per_second, 0.7437, 5e-5);
}

TEST(Gigaflops, are_a_sixth_of_the_bandwidth_for_saxpy) {
  // Two operations for twelve bytes.
  EXPECT_NEAR(gigaflops(2 * elements, run), 18.395812, 1e-5);
}

TEST(EffectiveBandwidth, holds_where_the_articles_32_bit_count_overflows) {
  constexpr std::uint64_t n = 178956971;  // the first for which 12·n does not fit into an int
  static_assert(n * 12 > 2147483647u && (n - 1) * 12 <= 2147483647u);
  EXPECT_DOUBLE_EQ(in_gigabytes_per_second(effective_bandwidth(Bytes{n * 8}, Bytes{n * 4}, Seconds{1})), 2.147483652);
  EXPECT_DOUBLE_EQ(gigaflops(std::uint64_t{1} << 40, Seconds{1024}), 1.073741824);
}

}  // namespace
}  // namespace shiplap::harris_2012
