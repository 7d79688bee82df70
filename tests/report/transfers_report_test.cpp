#include "shiplap/report/transfers_report.hpp"

#include <gtest/gtest.h>

#include <locale>
#include <string>
#include <vector>

#include "tests/support/lines_of.hpp"
#include "tests/support/measurements.hpp"

namespace shiplap {
namespace {

using testing::events;

constexpr double megabyte = 1e6;  // 976.6 KiB

// The row of a way to move bytes, with runs of spaces as one; empty when there is none.
std::string row(const std::string& report, const std::string& way) {
  for (const std::string& line : lines_of(report)) {
    if (!line.starts_with("  " + way + "  ")) continue;
    std::string text;
    for (const char c : line)
      if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
    return text;
  }
  return "";
}

std::string report_of(const std::vector<Measurement>& measurements) { return transfers_report(figures(measurements)); }

Measurement copy(const char* primitive, double us) { return events(primitive, {{"bytes", megabyte}}, us); }
Measurement staged(double threads, double us) {
  return testing::host("staged.h2d", {{"bytes", megabyte}, {"threads", threads}, {"piece", 4 * 1024 * 1024.0}}, us);
}

TEST(TransfersReport, marks_the_best_and_the_worst_of_each_direction) {
  const std::vector<Measurement> measured{copy("copy.pinned.h2d", 20),           copy("copy.pinned.d2h", 25),
                                          copy("copy.pinned.both", 25),          copy("copy.write_combined.h2d", 40),
                                          copy("copy.write_combined.d2h", 1000), copy("copy.pageable.h2d", 100),
                                          copy("copy.pageable.d2h", 50),         copy("copy.pageable.both", 125)};
  const std::string report = report_of(measured);
  EXPECT_EQ(row(report, "pinned, copy engine"), "pinned, copy engine 50.00 ▲ 40.00 ▲ 80.00 ▲ 976.6 KiB");
  EXPECT_EQ(row(report, "write-combined"), "write-combined 25.00 1.00 ▼ – 976.6 KiB");
  EXPECT_EQ(row(report, "pageable"), "pageable 10.00 ▼ 20.00 16.00 ▼ 976.6 KiB");
  EXPECT_EQ(row(report, "managed, prefetch"), "");  // was not measured
  EXPECT_NE(report.find("GB/s"), std::string::npos);
  EXPECT_NE(report.find("▲ best, ▼ worst of a direction"), std::string::npos);
}

TEST(TransfersReport, marks_nothing_where_there_is_nothing_to_compare_with) {
  const std::vector<Measurement> measured{copy("copy.pinned.h2d", 20), copy("copy.pageable.d2h", 50)};
  const std::string report = report_of(measured);
  EXPECT_EQ(row(report, "pinned, copy engine"), "pinned, copy engine 50.00 – – 976.6 KiB");
  EXPECT_EQ(row(report, "pageable"), "pageable – 20.00 – 976.6 KiB");
}

TEST(TransfersReport, is_empty_where_nothing_moved) {
  EXPECT_EQ(report_of({}), "");
  Measurement wrong = copy("copy.pinned.h2d", 20);
  wrong.verified = false;
  EXPECT_EQ(report_of(std::vector{wrong, testing::host("submit.copy", {{"copies", 10}}, 20)}), "");
}

TEST(TransfersReport, counts_both_directions_of_both) {
  // 1 MB each way in 50 µs.
  const std::vector<Measurement> measured{
      copy("copy.pinned.both", 50), copy("copy.pageable.both", 50), copy("prefetch.both", 50), copy("demand.both", 50),
      events("mapped.both", {{"bytes", megabyte}, {"count", 1}, {"blocks", 132}, {"width", 16}}, 50)};
  const std::string report = report_of(measured);
  for (const char* way :
       {"pinned, copy engine", "pageable", "managed, prefetch", "managed, on demand", "mapped, kernels (zero-copy)"})
    EXPECT_EQ(row(report, way), std::string(way) + " – – 40.00 ▲ 976.6 KiB");
}

TEST(TransfersReport, takes_the_largest_size_though_a_smaller_one_was_faster) {
  const std::vector<Measurement> measured{events("copy.pinned.h2d", {{"bytes", 10 * megabyte}}, 500),
                                          events("copy.pinned.h2d", {{"bytes", megabyte}}, 10)};
  EXPECT_EQ(row(report_of(measured), "pinned, copy engine"), "pinned, copy engine 20.00 – – 9.537 MiB");
}

TEST(TransfersReport, takes_the_number_of_threads_that_is_fastest_and_names_it) {
  const std::string way = "pageable through pinned rings";
  EXPECT_EQ(row(report_of(std::vector{staged(1, 100), staged(4, 25), staged(8, 50)}), way),
            way + " 40.00 – – 976.6 KiB, 4 threads");
  EXPECT_EQ(row(report_of(std::vector{staged(1, 100)}), way), way + " 10.00 – – 976.6 KiB, 1 thread");
}

TEST(TransfersReport, says_what_one_copy_more_takes_where_several_were_measured_in_a_row) {
  const std::vector<Measurement> measured{events("burst.pinned.h2d", {{"bytes", megabyte}, {"copies", 1}}, 20),
                                          events("burst.pinned.h2d", {{"bytes", megabyte}, {"copies", 11}}, 120)};
  EXPECT_EQ(row(report_of(measured), "pinned, copies in a row"), "pinned, copies in a row 100.00 – – 976.6 KiB");
}

TEST(TransfersReport, names_each_size_where_the_directions_have_different_ones) {
  const double mebibyte = 1 << 20;
  const auto at = [&](double h2d, double d2h) {
    const std::string text = row(report_of(std::vector{events("copy.pinned.h2d", {{"bytes", h2d * mebibyte}}, 100),
                                                       events("copy.pinned.d2h", {{"bytes", d2h * mebibyte}}, 100)}),
                                 "pinned, copy engine");
    return text.substr(text.find("– ") + 4);  // the dash has three bytes
  };
  EXPECT_EQ(at(4, 64), "4 MiB; 64 MiB");
  EXPECT_EQ(at(64, 64), "64 MiB");
  EXPECT_EQ(at(64, 4), "64 MiB; 4 MiB");  // though the text of the one ends like that of the other
}

// The fields of each line, by RFC 4180.
std::vector<std::vector<std::string>> parsed(const std::string& csv) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (quoted) {
      if (c != '"')
        rows.back().back() += c;
      else if (i + 1 < csv.size() && csv[i + 1] == '"')
        rows.back().back() += csv[++i];
      else
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(rows.back(), std::vector<std::string>{""}) << "the last line has no end";
  rows.pop_back();
  return rows;
}

constexpr const char* csv_header =
    "primitive,arguments,clock,samples,set_aside,median_us,low_us,high_us,mean_us,standard_deviation_us,"
    "coefficient_of_variation,verified,held_by,effective_gb_s,limit_gb_s\n";

TEST(MeasurementsCsv, has_a_line_of_statistics_for_each_point) {
  // Median and mean 2.5, √(5/3) = 1.29099, a 0.516398th of the mean; four samples bound the median only as a whole.
  const std::vector<Measurement> measured{
      events("copy.pinned.h2d", {{"bytes", 4096}, {"copies", 16}}, std::vector<double>{1, 2, 3, 4}),
      testing::host("submit.copy", {}, 0.25)};
  EXPECT_EQ(measurements_csv(measured),
            std::string(csv_header) +
                "copy.pinned.h2d,bytes=4096 copies=16,events,4,0,2.5,1,4,2.5,1.29099,0.516398,true,,26.2144,\n"
                "submit.copy,,host,5,0,0.25,0.25,0.25,0.25,0,0,true,,,\n");
}

TEST(MeasurementsCsv, has_the_limit_of_a_bandwidth_beside_it) {
  const Conditions conditions{{"gpu.link", "32.0 GT/s PCIe x16"}};
  const auto rows = parsed(measurements_csv(
      std::vector{copy("copy.pinned.both", 20), testing::host("host.copy", {{"bytes", megabyte}}, 20)}, conditions));
  EXPECT_EQ(rows.at(1).at(14), "126.031") << "both directions: 2 x 32 GT/s x 16 lanes x 128/130 / 8";
  EXPECT_EQ(rows.at(2).at(14), "") << "nobody says what the host's memory could do";
}

TEST(MeasurementsCsv, sets_a_disturbed_visit_aside) {
  Measurement m = events("copy.pinned.h2d", {{"bytes", megabyte}}, std::vector<double>{30, 31, 32, 20, 21, 22});
  EXPECT_EQ(parsed(measurements_csv(std::vector{m})).at(1).at(5), "26");
  m.visits = 2;
  const auto row = parsed(measurements_csv(std::vector{m})).at(1);
  EXPECT_EQ(row.at(3), "3");
  EXPECT_EQ(row.at(4), "3");
  EXPECT_EQ(row.at(5), "21");
}

TEST(MeasurementsCsv, has_points_that_were_not_verified_and_none_without_samples) {
  Measurement wrong = copy("copy.pinned.h2d", 20);
  wrong.verified = false;
  Measurement empty = copy("copy.pinned.d2h", 20);
  empty.samples_us.clear();
  const auto rows = parsed(measurements_csv(std::vector{wrong, empty}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1][0], "copy.pinned.h2d");
  EXPECT_EQ(rows[1][11], "false");
  EXPECT_EQ(measurements_csv({}), csv_header);
}

TEST(MeasurementsCsv, of_no_time_at_all_does_not_vary) {
  const auto rows = parsed(measurements_csv(std::vector{copy("copy.pinned.h2d", 0)}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1][10], "0");
}

TEST(MeasurementsCsv, keeps_quotes_and_commas_of_a_reason_and_makes_one_line_of_it) {
  const std::string reasons[] = {"", "power cap", "power cap, \"thermal\" slowdown", "\"", ",", "first\nsecond"};
  std::vector<Measurement> measured;
  for (const std::string& reason : reasons) {
    measured.push_back(copy("copy.pinned.h2d", 20));
    measured.back().held_by = reason;
  }
  const std::string csv = measurements_csv(measured);
  EXPECT_NE(csv.find(",true,\"power cap, \"\"thermal\"\" slowdown\","), std::string::npos) << csv;
  const auto rows = parsed(csv);
  ASSERT_EQ(rows.size(), std::size(reasons) + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), 15u) << "line " << i;
    EXPECT_EQ(rows[i][12], i == 0 ? "held_by" : i == std::size(reasons) ? "first second" : reasons[i - 1]);
  }
}

TEST(MeasurementsCsv, writes_sizes_to_the_last_byte) {
  const auto arguments = [](double bytes) {
    return parsed(measurements_csv(std::vector{events("copy.pinned.h2d", {{"bytes", bytes}}, 1)})).at(1).at(1);
  };
  EXPECT_EQ(arguments(1), "bytes=1");
  EXPECT_EQ(arguments(1073741824), "bytes=1073741824");
  EXPECT_EQ(arguments(17179869184), "bytes=17179869184");  // 16 GiB: eleven digits
}

struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(TransfersReport, has_the_same_numbers_in_every_locale) {
  const std::vector<Measurement> measured{events("copy.pinned.h2d", {{"bytes", 4096000}}, std::vector<double>{1234.5})};
  const std::string csv = measurements_csv(measured);
  const std::string report = report_of(measured);
  EXPECT_NE(csv.find("1234.5"), std::string::npos);
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const std::string csv_there = measurements_csv(measured);
  const std::string report_there = report_of(measured);
  std::locale::global(before);
  EXPECT_EQ(csv_there, csv);
  EXPECT_EQ(report_there, report);
}

}  // namespace
}  // namespace shiplap
