#include "shiplap/report/gantt.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/report/timelines.hpp"
#include "tests/support/lines_of.hpp"

namespace shiplap {
namespace {

using test::diagonal;
using test::Drawn;

/// The picture part of a row: behind the label, before the percentage.
std::string cells(const std::string& line) {
  const std::string rest = line.substr(11);
  return rest.substr(0, rest.find(' '));
}

long count(const std::string& text, char c) { return std::count(text.begin(), text.end(), c); }

TEST(Gantt, equal_times_get_equal_numbers_of_columns) {
  // 27 chunks over 29 steps in 58 columns: two columns a step, and digits 0 to 6 come up three times, 7 to 9 twice.
  const Drawn d = diagonal(27, milliseconds(1));
  const auto lines = lines_of(gantt(d.schedule, d.timeline));
  ASSERT_EQ(lines.size(), 5u);
  for (std::size_t row = 0; row < 3; ++row) {
    const std::string picture = cells(lines[row]);
    EXPECT_EQ(display_width(picture), 58u);
    for (char digit = '0'; digit <= '9'; ++digit) EXPECT_EQ(count(picture, digit), digit <= '6' ? 6 : 4) << picture;
  }
  EXPECT_TRUE(cells(lines[0]).starts_with("0011223344"));
  EXPECT_TRUE(cells(lines[1]).starts_with("··001122"));
  EXPECT_TRUE(cells(lines[2]).starts_with("····0011"));
}

TEST(Gantt, says_how_busy_each_engine_is_and_names_the_unit) {
  const Drawn d = diagonal(8, milliseconds(1));
  const auto lines = lines_of(gantt(d.schedule, d.timeline));
  for (std::size_t row = 0; row < 3; ++row) EXPECT_TRUE(lines[row].ends_with(" 80 % busy")) << lines[row];
  EXPECT_TRUE(lines.back().ends_with("ms")) << lines.back();
}

TEST(Gantt, gives_every_mark_of_the_axis_its_number) {
  // Lengths that bring a mark to every place up to the end of the axis.
  const std::regex number(R"([0-9]+(\.[0-9]+)?)");
  for (double each = 0.9; each < 1.2; each += 0.003) {
    const Drawn d = diagonal(8, milliseconds(each));
    const auto lines = lines_of(gantt(d.schedule, d.timeline));
    const std::string& ruler = lines[lines.size() - 2];
    long marks = 0;
    for (const char* mark : {"├", "┼"})
      for (auto at = ruler.find(mark); at != ruler.npos; at = ruler.find(mark, at + 1)) ++marks;
    const std::string& numbers = lines.back();
    EXPECT_EQ(std::distance(std::sregex_iterator(numbers.begin(), numbers.end(), number), std::sregex_iterator()),
              marks)
        << ruler << "\n"
        << numbers;
  }
}

TEST(Gantt, fits_into_80_columns_with_and_without_colour) {
  for (const std::uint32_t chunks : {1u, 3u, 32u, 256u}) {
    const Drawn d = diagonal(chunks, microseconds(173));
    for (const bool colour : {false, true})
      for (const std::string& line :
           lines_of(gantt(d.schedule, d.timeline, {.style = {.colour = colour, .width = 80}})))
        EXPECT_LE(display_width(line), 80u) << line;
  }
}

TEST(Gantt, colour_adds_nothing_but_colour) {
  const Drawn d = diagonal(7, milliseconds(1));
  const std::string plain = gantt(d.schedule, d.timeline);
  const std::string coloured = gantt(d.schedule, d.timeline, {.style = {.colour = true, .width = 80}});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(coloured.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::regex_replace(coloured, std::regex("\x1b\\[[0-9;]*m"), ""), plain);
}

TEST(Gantt, an_op_too_short_for_a_column_is_still_seen_where_the_engine_is_idle) {
  Drawn d = diagonal(3, milliseconds(10));
  for (std::size_t op = 1; op < d.timeline.spans.size(); op += 3)
    d.timeline.spans[op].end = d.timeline.spans[op].start + microseconds(1);
  const std::string kernels = cells(lines_of(gantt(d.schedule, d.timeline))[1]);
  for (const char digit : {'0', '1', '2'}) EXPECT_EQ(count(kernels, digit), 1) << kernels;
}

TEST(Gantt, two_pictures_with_one_axis_can_be_compared) {
  const Drawn d = diagonal(4, milliseconds(1));
  const auto lines = lines_of(gantt(d.schedule, d.timeline, {.axis_end = milliseconds(12)}));
  // The whole takes 6 of 12 ms: the last copy ends in the middle.
  const std::string out = cells(lines[2]);
  const auto last = out.find_last_of("0123456789");
  EXPECT_EQ(display_width(out.substr(0, last + 1)), 29u);
}

}  // namespace
}  // namespace shiplap
