#include "shiplap/document/table.hpp"

#include <gtest/gtest.h>

#include "shiplap/core/error.hpp"
#include "tests/support/lines_of.hpp"

namespace shiplap {
namespace {

TEST(DisplayWidth, counts_what_a_terminal_shows) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("4.600 µs"), 8u);
  EXPECT_EQ(display_width("± 5 ─·█"), 7u);
  EXPECT_EQ(display_width("\x1b[1mbold\x1b[0m"), 4u);
  EXPECT_EQ(display_width("\x1b[38;5;231;48;5;24m7"), 1u);
  EXPECT_EQ(display_width("船"), 2u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
}

TEST(DisplayWidth, survives_text_that_is_not_utf8) {
  EXPECT_EQ(display_width("\xff\xfe"), 2u);
  EXPECT_EQ(display_width("a\xe2"), 2u);
}

TEST(Table, aligns_numbers_right_and_words_left_under_a_rule) {
  Table table{.columns = {{"name"}, {"time"}}};
  table.add({"h2d", "4.600 µs"}).add({"long name", "12.00 µs"});
  EXPECT_EQ(table.text(),
            "name           time\n"
            "─────────  ────────\n"
            "h2d        4.600 µs\n"
            "long name  12.00 µs\n");
}

TEST(Table, that_is_too_wide_breaks_titles_and_texts_and_never_numbers) {
  Table table{.columns = {{"what was done", Align::left}, {"time of it", Align::right}}};
  table.add({"copies in three streams", "1234567 us"}).add({"one", "2 us"});
  EXPECT_EQ(table.text({.width = 24}),
            "what was      time of it\n"
            "…done\n"
            "────────────  ──────────\n"
            "copies in     1234567 us\n"
            "…three\n"
            "…streams\n"
            "one                 2 us\n");
  for (const std::size_t width : {1u, 10u, 30u})
    EXPECT_NE(table.text({.width = width}, "  ").find("1234567 us"), std::string::npos) << width;
}

TEST(Table, whose_numbers_are_wider_than_the_terminal_becomes_several_with_the_first_column) {
  Table table{.columns = {{"size"}, {"H2D"}, {"D2H"}, {"duplex"}, {"idle"}}};
  table.add({"4 KiB", "1.000 us", "2.000 us", "3.000 us", "4.000 us"});
  EXPECT_EQ(table.text({.width = 26}),
            " size       H2D       D2H\n"
            "─────  ────────  ────────\n"
            "4 KiB  1.000 us  2.000 us\n"
            "\n"
            " size    duplex      idle\n"
            "─────  ────────  ────────\n"
            "4 KiB  3.000 us  4.000 us\n");
  EXPECT_EQ(lines_of(table.text({.width = 80})).size(), 3u) << "one table where it fits";
  EXPECT_EQ(lines_of(table.text({.width = 10})).size(), 3u) << "one table where no part would fit";
}

TEST(Table, whose_rows_programs_look_for_keeps_them_in_one_line) {
  Table table{.columns = {{"what", Align::left}}, .may_break_rows = false};
  table.add({"a long text of several words"});
  EXPECT_NE(table.text({.width = 10}).find("a long text of several words\n"), std::string::npos);
}

TEST(Table, a_blank_cell_does_not_decide_the_alignment) {
  Table table{.columns = {{"x"}, {"value"}}};
  table.add({"a", "–"}).add({"b", "7"});
  EXPECT_EQ(lines_of(table.text())[2], "a      –");
  EXPECT_EQ(lines_of(table.text())[3], "b      7");
}

TEST(Table, columns_start_at_the_same_place_whatever_bytes_stand_before_them) {
  Table table{.columns = {{"a", Align::left}, {"b", Align::left}}};
  table.add({"µµµ", "x"}).add({"mmm", "x"}).add({"\x1b[1mmmm\x1b[0m", "x"});
  for (const std::string& line : lines_of(table.text())) {
    const auto x = line.find('x');
    if (x != std::string::npos) {
      EXPECT_EQ(display_width(line.substr(0, x)), 5u) << line;
    }
  }
}

TEST(Table, leaves_no_space_at_the_end_of_a_line) {
  Table table{.columns = {{"a"}, {"note", Align::left}}};
  table.add({"1", ""}).add({"2", "long note"}).add({"3"});
  for (const std::string& line : lines_of(table.text())) EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
}

TEST(Table, colour_changes_no_width) {
  Table table{.columns = {{"a"}, {"b"}}};
  table.add({"1", "2"});
  const auto plain = lines_of(table.text());
  const auto coloured = lines_of(table.text({.colour = true}));
  EXPECT_NE(plain[0], coloured[0]);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(display_width(plain[i]), display_width(coloured[i]));
}

TEST(Table, refuses_more_cells_than_columns) { EXPECT_THROW(Table{.columns = {{"a"}}}.add({"1", "2"}), Error); }

TEST(Wrap, breaks_at_spaces_and_indents_what_follows) {
  EXPECT_EQ(wrap("one two three four", 9, "  "), "one two\n  three\n  four");
  EXPECT_EQ(wrap("unbreakable a", 5), "unbreakable\na");
  EXPECT_EQ(wrap("", 10), "");
}

TEST(Wrap, keeps_a_number_with_its_unit_where_both_fit) {
  EXPECT_EQ(wrap("takes 2.0 % of it", 9), "takes\n2.0 % of\nit");
  EXPECT_EQ(wrap("some −1,024 blocks", 14), "some\n−1,024 blocks");
  EXPECT_EQ(wrap("an h100 is fast", 10), "an h100 is\nfast") << "a name";
  EXPECT_EQ(wrap("a 1 abcdefg", 6), "a 1\nabcdefg") << "too long together";
}

TEST(WithRange, gives_value_and_range_one_unit_and_four_digits) {
  EXPECT_EQ(with_interval(Interval<Seconds>{milliseconds(5.5731), milliseconds(5.511), milliseconds(5.635)}),
            "5.573 ± 0.062 ms");
  EXPECT_EQ(with_interval(Interval<Seconds>::exact(microseconds(12))), "12.00 µs");
  EXPECT_EQ(with_interval(Interval<Seconds>{milliseconds(155.5), milliseconds(-40), milliseconds(774)}),
            "155.5 (0.0 to 774.0) ms");
  EXPECT_EQ(with_interval(Interval<Bandwidth>{{55.4e9}, {55.2e9}, {55.6e9}}), "55.40 ± 0.20 GB/s");
}

TEST(Percent, shows_as_many_digits_as_mean_something) {
  EXPECT_EQ(percent(0.026), "2.6 %");
  EXPECT_EQ(percent(0.97), "97.0 %");
  EXPECT_EQ(percent(1), "100 %");
  EXPECT_EQ(percent(0.0004), "0.04 %");
  EXPECT_EQ(percent(0), "0 %");
  EXPECT_EQ(signed_percent(-0.005), "−0.5 %");
  EXPECT_EQ(signed_percent(0.005), "+0.5 %");
}

TEST(Table, is_a_markdown_table_with_numbers_at_the_right_and_bars_escaped) {
  Table table{.columns = {{"model"}, {"error"}}};
  table.add({"a|b", "1.0 %"}).add({"c", "–"});
  EXPECT_EQ(table.markdown(), "| model | error |\n|---|---:|\n| a\\|b | 1.0 % |\n| c | – |\n");
}

}  // namespace
}  // namespace shiplap
