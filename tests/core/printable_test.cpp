#include "shiplap/core/printable.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace shiplap {
namespace {

TEST(Printable, keeps_characters_and_replaces_control_characters_and_what_is_no_utf_8) {
  EXPECT_EQ(printable("naïve saxpy → µs 😀"), "naïve saxpy → µs 😀");
  EXPECT_EQ(printable("a\x1b[31mb\n\x7f"), "a?[31mb ?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "??31m");                                          // a control character of two bytes
  EXPECT_EQ(printable("\xff\xc0\xaf\xed\xa0\x80"), "??????");  // no begin, too long, half of a pair
  EXPECT_EQ(printable("\xe2\x82"), "??");                      // cut off
}

TEST(Printable, cuts_at_a_character) {
  EXPECT_EQ(printable("abcd", 4), "abcd");
  EXPECT_EQ(printable("abcde", 4), "abc…");
  EXPECT_EQ(printable("µµµµµ", 4), "µµµ…");
}

TEST(Printable, has_no_characters_that_turn_the_direction_of_text_or_end_lines) {
  EXPECT_EQ(printable("a\u202eb"), "a???b");  // each byte becomes ?
  EXPECT_EQ(printable("a\u2066b\u200fc"), "a???b???c");
  EXPECT_EQ(printable("a\u061cb\u2028c"), "a??b???c");
  EXPECT_EQ(printable("“‰…”"), "“‰…”") << "neighbours of theirs";
}

TEST(Printable, makes_spaces_of_tabs_and_line_breaks) { EXPECT_EQ(printable("a\tb\r\nc\vd"), "a b  c?d"); }

TEST(PrintableLines, keeps_line_breaks_and_nothing_else_that_a_terminal_obeys) {
  EXPECT_EQ(printable_lines("a\n\tb\r\n\x1b]0;title\x07\n"), "a\n b \n?]0;title?\n");
  EXPECT_EQ(printable_lines("\n\n"), "\n\n");
  EXPECT_EQ(printable_lines(""), "");
  EXPECT_EQ(printable_lines("\x1b[31mred\x1b[0m"), "?[31mred?[0m");
  EXPECT_EQ(printable_lines("\xff\u202e\n"), "????\n");
}

TEST(PrintableLines, with_colours_keep_sequences_of_colours_alone) {
  EXPECT_EQ(printable_lines("\x1b[1mbold\x1b[0m, \x1b[38;5;231;48;5;24m3", true),
            "\x1b[1mbold\x1b[0m, \x1b[38;5;231;48;5;24m3");
  EXPECT_EQ(printable_lines("\x1b[2J\x1b[1;1H\x1b]0;x\x07\x1b[?25l\x1b[", true), "?[2J?[1;1H?]0;x??[?25l?[");
}

TEST(ShellWord, is_one_word_for_a_shell_whatever_the_text_is) {
  EXPECT_EQ(shell_word("virtual:h200"), "virtual:h200");
  EXPECT_EQ(shell_word("/tmp/a-b_c.json"), "/tmp/a-b_c.json");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("copy.*"), "'copy.*'");
  EXPECT_EQ(shell_word("it's $(touch x) `y` \"z\""), "'it'\\''s $(touch x) `y` \"z\"'");
  for (const std::string text : {"a b", "it's", "$(echo no)", "`echo no`", "a\nb", "\\", "*", "~", "-n", "!x", "#"}) {
    FILE* pipe = popen(("printf '%s' " + shell_word(text)).c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string echoed(64, '\0');
    echoed.resize(fread(echoed.data(), 1, echoed.size(), pipe));
    pclose(pipe);
    EXPECT_EQ(echoed, text);
  }
}

}  // namespace
}  // namespace shiplap
