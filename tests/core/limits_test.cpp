// Documents that are made to harm: deep, long, endless, with many keys.
#include <gmock/gmock.h>
#include <malloc.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonLimits, refuse_objects_and_arrays_within_each_other_beyond_the_limit) {
  EXPECT_NO_THROW(parse_json(nested(limits::nesting), "deep.json"));
  for (const std::size_t depth : {limits::nesting + 1, std::size_t{3'000'000}})
    EXPECT_THAT(message_of([&] { parse_json(nested(depth), "deep.json"); }),
                AllOf(HasSubstr("deep.json: more than 64 objects and arrays are within each other"),
                      HasSubstr("give a file that shiplap has written")));
}

TEST(JsonLimits, refuse_an_endless_file_after_a_limited_part_of_it) {
  EXPECT_THAT(
      message_of([] { read_json_file("/dev/zero"); }),
      AllOf(HasSubstr("/dev/zero: it has more than 64 MiB"), HasSubstr("give a file that shiplap has written")));
  EXPECT_THAT(message_of([] { read_text_file("/dev/zero", 1000); }), HasSubstr("/dev/zero: it has more than 1000 B"));
}

TEST(JsonLimits, refuse_a_text_that_no_file_is_read_of) {
  EXPECT_THAT(message_of([] { parse_json(std::string(limits::document_bytes + 1, ' '), "long.json"); }),
              HasSubstr("long.json: it has more than 64 MiB"));
}

// A search for each key in those before it would take minutes.
TEST(JsonLimits, read_objects_with_very_many_keys_in_time_proportional_to_their_number) {
  std::string text = "{";
  constexpr int keys = 400'000;
  for (int i = 0; i < keys; ++i) text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":0";
  const auto start = std::chrono::steady_clock::now();
  const Json json = parse_json(text + "}", "wide.json");
  int seen = 0;
  JsonReader(json, "wide.json").for_each_member([&](const std::string&, const JsonReader& value) {
    seen += value.unsigned_integer() == 0 ? 1 : 0;
  });
  EXPECT_EQ(seen, keys);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(JsonLimits, refuse_a_key_that_occurs_twice_among_very_many_and_show_the_begin_of_a_long_one) {
  const std::string key(100'000, 'k');
  const std::string message = message_of([&] { parse_json("{\"" + key + "\": 1, \"" + key + "\": 2}", "twice.json"); });
  EXPECT_THAT(message, HasSubstr("occurs twice"));
  EXPECT_LT(message.size(), 300u);
}

TEST(JsonLimits, refuse_texts_and_keys_with_a_null_character_at_which_messages_would_end) {
  for (const char* text : {R"({"a": "b\u0000c"})", R"({"a\u0000b": 1})"})
    EXPECT_THAT(message_of([&] { parse_json(text, "null.json"); }),
                HasSubstr("null.json: a text has the null character (\\u0000)"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
std::size_t allocated() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

TEST(JsonLimits, take_no_more_memory_than_the_stated_multiple_of_the_text) {
  for (const std::string element : {"0", "[]", "{}", "\"\"", "[0]", "{\"\":0}", "[[]]", "\"sixteen letters!\""}) {
    std::string text = "[" + element;
    while (text.size() < 4u << 20) text += "," + element;
    const std::size_t before = allocated();
    const Json json = parse_json(text + "]", "wide.json");
    EXPECT_LE(allocated() - before, limits::memory_of_text * text.size()) << element;
  }
}
#endif

TEST(JsonReader, gives_every_member_of_an_object_with_its_path) {
  const Json json = parse_json(R"({"a": {"x": 1, "y": -2}})", "f.json");
  std::string keys;
  const JsonReader a = JsonReader(json, "f.json").at("a");
  EXPECT_EQ(message_of([&] {
              a.for_each_member([&](const std::string& key, const JsonReader& value) {
                keys += key;
                value.positive();
              });
            }),
            "f.json: a.y: expected a finite number > 0, got -2");
  EXPECT_EQ(keys, "xy");
  EXPECT_THAT(message_of([&] { a.at("x").for_each_member([](const std::string&, const JsonReader&) {}); }),
              HasSubstr("f.json: a.x: expected an object"));
}

}  // namespace
}  // namespace shiplap
