#include "shiplap/advise/json_objects.hpp"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string source = "text";

/// The objects of a text, with "!" before those that are broken and "~" before those that are cut.
std::vector<std::string> objects_of(const std::string& text) {
  std::istringstream in(text);
  JsonObjects objects(in, source);
  std::vector<std::string> found;
  while (const auto object = objects.next()) {
    constexpr std::string_view marks = " !~";
    const char mark = marks[static_cast<std::size_t>(object->end)];
    found.push_back((mark == ' ' ? "" : std::string(1, mark)) + std::string(object->text));
  }
  return found;
}

bool is_closed(const std::string& text) {
  std::istringstream in(text);
  JsonObjects objects(in, source);
  while (objects.next()) {
  }
  return objects.is_closed();
}

TEST(JsonObjects, are_those_within_the_outermost_object_or_array) {
  EXPECT_THAT(objects_of(R"({"a": [{"b": {}}, {"c": [1, {}]}], "d": {"e": 1}})"),
              ElementsAre(R"({"b": {}})", R"({"c": [1, {}]})", R"({"e": 1})"));
  EXPECT_THAT(objects_of(R"( [{}, {"a": 1}])"), ElementsAre("{}", R"({"a": 1})"));
  EXPECT_THAT(objects_of(""), IsEmpty());
}

TEST(JsonObjects, do_not_end_at_braces_in_strings) {
  EXPECT_THAT(objects_of(R"([{"a": "}\"}\\"}, {"b": "{"}])"), ElementsAre(R"({"a": "}\"}\\"})", R"({"b": "{"})"));
}

TEST(JsonObjects, are_broken_where_a_string_has_a_line_break_and_found_again_behind_it) {
  EXPECT_THAT(objects_of("[{\"a\": \"b\n{\"c\": 1}, {}]"), ElementsAre("!{\"a\": \"b\n", "{\"c\": 1}", "{}"));
}

TEST(JsonObjects, are_cut_where_the_text_ends) {
  EXPECT_THAT(objects_of(R"([{"a": 1}, {"b": {"c": 2}, "d)"),
              ElementsAre(R"({"a": 1})", R"(~{"b": {"c": 2}, "d)", R"({"c": 2})"));
}

TEST(JsonObjects, are_searched_within_one_that_was_rejected) {
  std::istringstream in(R"([{"a": {"b": 1}}])");
  JsonObjects objects(in, source);
  EXPECT_TRUE(objects.next().has_value());
  objects.reject();
  const auto inner = objects.next();
  ASSERT_TRUE(inner.has_value());
  EXPECT_EQ(inner->text, R"({"b": 1})");
}

TEST(JsonObjects, tell_whether_the_text_is_closed) {
  EXPECT_TRUE(is_closed("[{}]"));
  EXPECT_TRUE(is_closed("{\"a\": [{}]}\n"));
  EXPECT_FALSE(is_closed("[{}"));
  EXPECT_FALSE(is_closed("[{},"));
  EXPECT_FALSE(is_closed("[{\"a\": [1]"));
  EXPECT_FALSE(is_closed(""));
}

TEST(JsonObjects, of_more_bytes_or_depth_than_is_read_are_broken) {
  const std::string large = "{\"a\": \"" + std::string(JsonObjects::most_object_bytes, 'x') + "\"}";
  EXPECT_THAT(objects_of("[" + large + ", {}]"),
              ElementsAre("!" + large.substr(0, JsonObjects::most_object_bytes), "{}"));
  std::string deep;
  for (int level = 0; level < 100; ++level) deep += "{\"a\":";
  EXPECT_EQ(objects_of("[" + deep + std::string(100, '}') + "]").front().front(), '!');
}

TEST(JsonObjects, are_found_across_the_blocks_in_which_a_text_is_read) {
  const std::string one = "{\"a\": \"" + std::string(1000, 'x') + "\"}";
  std::string text = "[";
  for (int i = 0; i < 2000; ++i) text += one + ",\n";
  const std::vector<std::string> found = objects_of(text + "{}]");
  ASSERT_EQ(found.size(), 2001u);
  EXPECT_EQ(found[1000], one);
  EXPECT_EQ(found.back(), "{}");
}

TEST(JsonObjects, of_a_text_that_would_be_read_again_and_again_end_in_a_refusal) {
  // Each brace begins an object that ends at the largest size.
  const std::string begin_of_object = "{\"" + std::string(10'000, ' ');
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += begin_of_object;
  EXPECT_THAT(message_of([&] { objects_of(text); }), HasSubstr("is no JSON"));
}

}  // namespace
}  // namespace shiplap
