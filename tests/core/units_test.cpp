#include "shiplap/core/units.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

using namespace std::chrono_literals;

// The message of the UsageError that `parse` throws; empty when it throws none.
template <class Parse>
std::string usage_refusal(Parse parse) {
  try {
    parse();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(Units, bytes_over_bandwidth_is_a_time_and_back) {
  EXPECT_DOUBLE_EQ((Bytes{55'500'000'000} / gigabytes_per_second(55.5)).count(), 1.0);
  EXPECT_DOUBLE_EQ(in_gigabytes_per_second(Bytes{2'000'000} / Seconds{1ms}), 2.0);
  EXPECT_DOUBLE_EQ((Bytes{4000} * per_byte(gigabytes_per_second(4))).count(), 1e-6);
  EXPECT_DOUBLE_EQ(bandwidth(PerByte{0.5e-9}).bytes_per_second, 2e9);
}

TEST(Units, literals_are_binary) {
  EXPECT_EQ(3_KiB, Bytes{3072});
  EXPECT_EQ(64_MiB, Bytes{67108864});
  EXPECT_EQ(1_GiB, Bytes{1073741824});
}

TEST(Units, whole_multiples_of_a_unit_print_exactly) {
  EXPECT_EQ(to_string(0_B), "0 B");
  EXPECT_EQ(to_string(17_B), "17 B");
  EXPECT_EQ(to_string(1023_B), "1023 B");
  EXPECT_EQ(to_string(1_KiB), "1 KiB");
  EXPECT_EQ(to_string(64_MiB), "64 MiB");
  EXPECT_EQ(to_string(Bytes{1536ull << 20}), "1.5 GiB");
  EXPECT_EQ(to_string(Bytes{1000ull << 30}), "1000 GiB");
  EXPECT_EQ(to_string(Bytes{1ull << 40}), "1 TiB");
}

TEST(Units, other_sizes_print_four_significant_digits) {
  EXPECT_EQ(to_string(Bytes{1'000'000}), "976.6 KiB");      // 976.5625
  EXPECT_EQ(to_string(Bytes{1'000'000'000}), "953.7 MiB");  // 953.674
  EXPECT_EQ(to_string(Bytes{1'048'575}), "1 MiB");          // 1023.999 KiB rounds to one of the next unit
  EXPECT_EQ(to_string(Bytes{std::numeric_limits<std::uint64_t>::max()}), "16 EiB");
}

TEST(Units, times_print_four_significant_digits_in_the_unit_that_fits) {
  EXPECT_EQ(to_string(Seconds{0.0055734}), "5.573 ms");
  EXPECT_EQ(to_string(microseconds(4.6)), "4.600 µs");
  EXPECT_EQ(to_string(Seconds{1.2042}), "1.204 s");
  EXPECT_EQ(to_string(Seconds{12.345}), "12.35 s");
  EXPECT_EQ(to_string(Seconds{123456.0}), "123456 s");
  EXPECT_EQ(to_string(Seconds{250ns}), "0.2500 µs");
  EXPECT_EQ(to_string(Seconds{0}), "0 µs");
  EXPECT_EQ(to_string(-milliseconds(2)), "-2.000 ms");
}

TEST(Units, rounding_that_adds_a_digit_keeps_four_of_them) {
  EXPECT_EQ(to_string(microseconds(999.96)), "1.000 ms");
  EXPECT_EQ(to_string(microseconds(999.94)), "999.9 µs");
  EXPECT_EQ(to_string(milliseconds(999.96)), "1.000 s");
  EXPECT_EQ(to_string(microseconds(9.9996)), "10.00 µs");
  EXPECT_EQ(to_string(microseconds(99.996)), "100.0 µs");
}

TEST(Units, bandwidth_prints_decimal_gigabytes) {
  EXPECT_EQ(to_string(gigabytes_per_second(55.4)), "55.40 GB/s");
  EXPECT_EQ(to_string(Bandwidth{4.8e12}), "4800 GB/s");
  EXPECT_EQ(to_string(Bandwidth{12.34e6}), "0.01234 GB/s");
}

TEST(Units, sizes_are_read_with_binary_and_decimal_units) {
  EXPECT_EQ(parse_bytes("4096", "--in"), Bytes{4096});
  EXPECT_EQ(parse_bytes("1B", "--in"), Bytes{1});
  EXPECT_EQ(parse_bytes("64Mi", "--in"), 64_MiB);
  EXPECT_EQ(parse_bytes("64MiB", "--in"), 64_MiB);
  EXPECT_EQ(parse_bytes("512 KiB", "--in"), 512_KiB);
  EXPECT_EQ(parse_bytes(" 1.5GiB ", "--in"), Bytes{1536ull << 20});
  EXPECT_EQ(parse_bytes("1GB", "--in"), Bytes{1'000'000'000});
  EXPECT_EQ(parse_bytes("0.001MB", "--in"), Bytes{1000});
  EXPECT_EQ(parse_bytes("18446744073709551615", "--in"), Bytes{std::numeric_limits<std::uint64_t>::max()});
}

TEST(Units, a_fraction_of_a_unit_goes_to_the_nearest_byte) {
  EXPECT_EQ(parse_bytes("0.1GiB", "--in"), Bytes{107374182});  // 107374182.4
  EXPECT_EQ(parse_bytes("1.3KiB", "--in"), Bytes{1331});       // 1331.2
  // 2^50 · 1.000000000000001 = 1125899906842625.1…: more digits than a double of that fraction would keep.
  EXPECT_EQ(parse_bytes("1.000000000000001PiB", "--in"), Bytes{1125899906842625});
}

TEST(Units, a_size_that_is_none_is_refused_by_the_name_of_its_flag) {
  for (const char* text : {"", "abc", "-5", "+5", "64Mo", "1..5", "1.5.2MiB", "0", "0GiB", "0x10", "1e6", ".", "nan",
                           "1.5", "1.5B", "64 Mi B", "99999999999999999999", "16777216TiB", "17179869184GiB"}) {
    const std::string message = usage_refusal([&] { parse_bytes(text, "--in"); });
    EXPECT_EQ(message.find("--in: \"" + std::string(text) + "\""), 0u) << text << " -> " << message;
  }
}

TEST(Units, an_ambiguous_size_unit_is_refused_with_both_spellings) {
  const std::string message = usage_refusal([] { parse_bytes("64M", "--in"); });
  EXPECT_NE(message.find("64MiB (binary) or 64MB (decimal)"), std::string::npos) << message;
}

TEST(Units, counts_take_binary_suffixes) {
  EXPECT_EQ(parse_count("0", "n"), 0u);
  EXPECT_EQ(parse_count("1000", "n"), 1000u);
  EXPECT_EQ(parse_count("64Mi", "n"), 67108864u);
  EXPECT_EQ(parse_count("1.5Ki", "n"), 1536u);
  EXPECT_EQ(parse_count("2Gi", "n"), 2147483648u);
}

TEST(Units, a_count_that_is_none_is_refused) {
  for (const char* text : {"", "-1", "1.5", "64MiB", "64M", "many", "18446744073709551616", "0.1Ki"}) {
    const std::string message = usage_refusal([&] { parse_count(text, "saxpy: n"); });
    EXPECT_EQ(message.find("saxpy: n: "), 0u) << text << " -> " << message;
  }
}

TEST(Units, times_are_read_with_their_unit) {
  EXPECT_DOUBLE_EQ(parse_seconds("12ms", "--kernel").count(), 0.012);
  EXPECT_DOUBLE_EQ(parse_seconds("3.5 us", "--kernel").count(), 3.5e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("3.5 \u00b5s", "--kernel").count(), 3.5e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("3.5\u03bcs", "--kernel").count(), 3.5e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("200ns", "--kernel").count(), 2e-7);
  EXPECT_DOUBLE_EQ(parse_seconds(" 1s ", "--kernel").count(), 1.0);
  EXPECT_DOUBLE_EQ(parse_seconds("0s", "--kernel").count(), 0.0);
}

TEST(Units, a_time_that_is_none_is_refused) {
  for (const char* text : {"", "12", "-1ms", "ms", "12 parsecs", "inf s", "nan", "1e999s", "0x1s", "1 m s"}) {
    const std::string message = usage_refusal([&] { parse_seconds(text, "--kernel"); });
    EXPECT_EQ(message.find("--kernel: "), 0u) << text << " -> " << message;
  }
}

TEST(Units, bandwidths_are_read_with_their_unit) {
  EXPECT_DOUBLE_EQ(parse_bandwidth("25GB/s", "--network-bandwidth").bytes_per_second, 25e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth(" 900 MB/s ", "--network-bandwidth").bytes_per_second, 9e8);
  EXPECT_DOUBLE_EQ(parse_bandwidth("200Gbit/s", "--network-bandwidth").bytes_per_second, 25e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("0.5Mbit/s", "--network-bandwidth").bytes_per_second, 62500);
  for (const char* bad : {"", "25", "0GB/s", "-1GB/s", "25GiB/s", "25 GB", "nan GB/s", "1e999GB/s", "fast"}) {
    const std::string message = usage_refusal([&] { parse_bandwidth(bad, "--network-bandwidth"); });
    EXPECT_EQ(message.find("--network-bandwidth: "), 0u) << bad << " -> " << message;
  }
}

TEST(ParseShare, reads_percent_and_fractions) {
  EXPECT_DOUBLE_EQ(parse_fraction("5%", "--tolerance"), 0.05);
  EXPECT_DOUBLE_EQ(parse_fraction(" 0.5 % ", "--tolerance"), 0.005);
  EXPECT_DOUBLE_EQ(parse_fraction("0.05", "--tolerance"), 0.05);
  EXPECT_DOUBLE_EQ(parse_fraction("0", "--tolerance"), 0);
  for (const char* bad : {"", "%", "-5%", "5 ms", "nan", "inf", "5%%", "1e999", "5"})
    EXPECT_THROW(parse_fraction(bad, "--tolerance"), UsageError) << bad;
}

TEST(Units, a_bandwidth_beyond_the_range_of_a_double_is_refused) {
  EXPECT_THROW(parse_bandwidth("1e300GB/s", "--network-bandwidth"), UsageError);
  EXPECT_NO_THROW(parse_bandwidth("1e299GB/s", "--network-bandwidth"));
}

}  // namespace
}  // namespace shiplap
