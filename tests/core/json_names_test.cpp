// What terminals, other readers and other files see of the texts in JSON files of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(JsonNames, are_printable_when_they_are_read) {
  const Json json = parse_json(R"({"a\u001b[2J": ["x\ny\u202e", "\u009b31m"]})", "file");
  EXPECT_EQ(json, Json({{"a?[2J", {"x y???", "??31m"}}}));
}

TEST(JsonNames, that_are_equal_when_printable_are_refused_as_one_key) {
  EXPECT_THAT(message_of([] { parse_json(R"({"a\u0001": 1, "a\u0002": 2})", "file"); }),
              HasSubstr("key \"a?\" occurs twice"));
}

TEST(JsonNames, cannot_begin_a_line_of_a_message_or_colour_it) {
  const std::string source = "a\nshiplap: done\x1b[2J.json";
  const Json json = parse_json(R"({"k\nforged": "v\u001b[2J"})", source);
  const JsonReader reader(json, source);
  for (const std::string& message :
       {message_of([&] { reader.at("x"); }), message_of([&] { reader.only_keys({"a"}); }),
        message_of([&] { static_cast<void>(reader.at("k forged").number()); }),
        message_of([&] { parse_json("{", source); }), message_of([&] { parse_json("[\"\x1b\"]", source); }),
        message_of([&] { static_cast<void>(read_text_file("/nowhere/" + source)); }),
        message_of([&] { write_file_atomically("/nowhere/" + source, ""); })}) {
    EXPECT_THAT(message, Not(HasSubstr("\n")));
    EXPECT_THAT(message, Not(HasSubstr("\x1b")));
  }
}

TEST(JsonText, escapes_what_a_terminal_would_obey_and_is_the_same_value) {
  const Json json{{"a\x7f", "\x1b\u009b\u202e\u061c\u2028 µs 😀 →"}};
  const std::string text = json_text(json, 2);
  EXPECT_EQ(text, "{\n  \"a\\u007f\": \"\\u001b\\u009b\\u202e\\u061c\\u2028 µs 😀 →\"\n}");
  EXPECT_EQ(Json::parse(text), json);
  EXPECT_EQ(json_text({1, "x"}), "[1,\"x\"]");
}

TEST(JsonText, of_what_is_no_utf_8_has_a_replacement_character) { EXPECT_EQ(json_text("a\xff"), "\"a\uFFFD\""); }

}  // namespace
}  // namespace shiplap
