#include "shiplap/core/printable.hpp"

#include <gtest/gtest.h>

namespace shiplap {
namespace {

TEST(Printable, keeps_characters_and_replaces_control_characters_and_what_is_no_utf_8) {
  EXPECT_EQ(printable("naïve saxpy → µs 😀"), "naïve saxpy → µs 😀");
  EXPECT_EQ(printable("a\x1b[31mb\n\x7f"), "a?[31mb??");
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

}  // namespace
}  // namespace shiplap
