#include "shiplap/document/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shiplap::document {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Section planted_section() {
  Table few{.title = "few", .notes = {"what it means"}, .columns = {{"name"}, {"time"}}};
  few.add({"a|b", Cell("1 ms", Judgement::bad)});
  Table many{.title = "many", .columns = {{"name"}}};
  many.add({"further"});
  return {.title = "title",
          .headlines = {{.sentence = "the answer"}},
          .sentences = {"the reason"},
          .figures = {few, Plot{.title = "a plot"}, Table{.title = "nothing", .columns = {{"a"}}}},
          .details = {many}};
}

TEST(SectionText, begins_with_the_answer_then_has_reasons_and_tables_with_their_notes) {
  EXPECT_EQ(text(planted_section()),
            "the answer\nthe reason\n\nfew\n  name  time\n  ────  ────\n  a|b   1 ms\n  what it means\n");
}

TEST(SectionText, has_details_on_request) {
  EXPECT_THAT(text(planted_section()), Not(HasSubstr("further")));
  EXPECT_THAT(text(planted_section(), {}, Detail::all), HasSubstr("many\n  name"));
}

TEST(SectionText, begins_with_the_title_where_there_is_no_answer_and_shows_bad_cells_in_bold) {
  Section section = planted_section();
  section.headlines.clear();
  EXPECT_EQ(text(section).substr(0, 6), "title\n");
  EXPECT_THAT(text(section, {.colour = true}), HasSubstr("\x1b[1m1 ms\x1b[0m"));
}

TEST(SectionText, keeps_sentences_and_notes_within_the_width) {
  Section section{.sentences = {"one two three four"}};
  EXPECT_EQ(text(section, {.width = 9}), "\none two\nthree\nfour\n");
}

TEST(SectionMarkdown, has_a_heading_for_the_section_and_for_each_table) {
  EXPECT_EQ(markdown(planted_section()),
            "# title\n\nthe answer\n\nthe reason\n\n## few\n\n| name | time |\n|---|---:|\n| a\\|b | 1 ms |\n\nwhat it "
            "means\n");
}

}  // namespace
}  // namespace shiplap::document
