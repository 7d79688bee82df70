#include "shiplap/core/json.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

const Json& document() {
  static const Json value = parse_json(R"({
    "schema": "shiplap/profile", "version": 1, "name": "h200", "duplex": null, "on": true,
    "links": [{"h2d": {"per_byte": -1, "zero": 0, "text": "7", "whole": 12, "half": 0.5}}]
  })",
                                       "h200.json");
  return value;
}
JsonReader h2d() { return JsonReader(document(), "h200.json").at("links").at(std::size_t{0}).at("h2d"); }

TEST(Json, a_complaint_names_source_path_expectation_and_value) {
  EXPECT_EQ(message_of([] { h2d().at("per_byte").positive(); }),
            "h200.json: links[0].h2d.per_byte: expected a finite number > 0, got -1");
  EXPECT_EQ(message_of([] { h2d().at("zero").positive(); }),
            "h200.json: links[0].h2d.zero: expected a finite number > 0, got 0");
  EXPECT_EQ(message_of([] { h2d().at("per_byte").non_negative(); }),
            "h200.json: links[0].h2d.per_byte: expected a finite number >= 0, got -1");
  EXPECT_EQ(message_of([] { h2d().at("text").number(); }),
            "h200.json: links[0].h2d.text: expected a finite number, got \"7\"");
  EXPECT_EQ(message_of([] { h2d().at("half").unsigned_integer(); }),
            "h200.json: links[0].h2d.half: expected a whole number >= 0, got 0.5");
  EXPECT_EQ(message_of([] { h2d().at("per_byte").unsigned_integer(); }),
            "h200.json: links[0].h2d.per_byte: expected a whole number >= 0, got -1");
  EXPECT_EQ(message_of([] { h2d().string(); }), "h200.json: links[0].h2d: expected a text, got an object");
  EXPECT_EQ(message_of([] { h2d().at("text").boolean(); }),
            "h200.json: links[0].h2d.text: expected true or false, got \"7\"");
  EXPECT_EQ(message_of([] { JsonReader(document(), "h200.json").size(); }),
            "h200.json: expected an array, got an object");
  EXPECT_EQ(message_of([] { JsonReader(document(), "h200.json").at("links").at(1); }),
            "h200.json: links: expected an array of at least 2, got an array of 1");
}

TEST(Json, a_missing_key_is_named_with_its_path) {
  EXPECT_EQ(message_of([] { h2d().at("gap"); }),
            "h200.json: links[0].h2d.gap: expected a value, but the key is missing");
  EXPECT_EQ(message_of([] { JsonReader(document(), "h200.json").at("speed"); }),
            "h200.json: speed: expected a value, but the key is missing");
}

TEST(Json, an_unknown_key_is_refused_with_the_known_ones) {
  EXPECT_EQ(message_of([] {
              h2d().only_keys({"per_byte", "zero", "text", "whole"});
            }),
            "h200.json: links[0].h2d.half: unknown key; expected one of per_byte, zero, text, whole");
  EXPECT_NO_THROW(h2d().only_keys({"half", "per_byte", "zero", "text", "whole", "not_there"}));
}

TEST(Json, values_are_read_as_written) {
  EXPECT_EQ(h2d().at("whole").unsigned_integer(), 12u);
  EXPECT_EQ(h2d().at("half").positive(), 0.5);
  EXPECT_EQ(h2d().at("zero").non_negative(), 0);
  EXPECT_EQ(h2d().at("per_byte").number(), -1);
  EXPECT_EQ(h2d().at("text").string(), "7");
  EXPECT_TRUE(JsonReader(document(), "h200.json").at("on").boolean());
}

TEST(Json, find_takes_absent_and_null_for_nothing) {
  const JsonReader root(document(), "h200.json");
  EXPECT_FALSE(root.find("absent"));
  EXPECT_FALSE(root.find("duplex"));
  ASSERT_TRUE(root.find("name"));
  EXPECT_EQ(root.find("name")->string(), "h200");
}

TEST(Json, values_made_in_memory_are_checked_like_those_from_a_file) {
  const Json made{{"signed", 5}, {"nan", std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_EQ(JsonReader(made, "made").at("signed").unsigned_integer(), 5u);
  EXPECT_EQ(message_of([&] { JsonReader(made, "made").at("nan").number(); }),
            "made: nan: expected a finite number, got nan");
}

TEST(Json, keys_keep_their_order_and_numbers_their_value) {
  const std::string text = R"({"z":1,"a":[true,null,"\u00b5"],"m":{"x":0.1}})";
  EXPECT_EQ(parse_json(text, "t").dump(), R"({"z":1,"a":[true,null,"µ"],"m":{"x":0.1}})");
}

TEST(Json, a_file_is_read_by_its_path_which_an_error_names) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "file.json";
  std::ofstream(path) << R"({"x": 1})";
  EXPECT_EQ(read_json_file(path), Json({{"x", 1}}));
  std::ofstream(path) << "{";
  EXPECT_EQ(message_of([&] { read_json_file(path); }).find(path + ": line 1, column 2: "), 0u);
  std::filesystem::remove(path);
  EXPECT_EQ(message_of([&] { read_json_file(path); }), "cannot read " + path + ": No such file or directory");
}

TEST(Json, a_syntax_error_names_source_line_and_column) {
  const std::string message = message_of([] { parse_json("{\n  \"a\": 1,\n  \"b\": ?\n}", "bad.json"); });
  EXPECT_EQ(message.find("bad.json: line 3, column 8: not valid JSON: "), 0u) << message;
}

TEST(Json, truncated_text_is_refused_at_its_end) {
  const std::string message = message_of([] { parse_json("{\n  \"a\": [1, 2", "cut.json"); });
  EXPECT_EQ(message.find("cut.json: line 2, column 13: not valid JSON: "), 0u) << message;
  EXPECT_NE(message.find("unexpected end of input"), std::string::npos) << message;
  // Every proper prefix of a document is refused, and never with anything but an Error.
  const std::string whole = document().dump();
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_THROW(parse_json(whole.substr(0, n), "cut"), Error) << n;
}

TEST(Json, numbers_and_keys_that_json_cannot_mean_are_refused) {
  EXPECT_EQ(message_of([] { parse_json("{\"a\":\n 1e999}", "big.json"); }).find("big.json: line 2, column "), 0u);
  EXPECT_THROW(parse_json("{\"a\": NaN}", "nan.json"), Error);
  EXPECT_THROW(parse_json("{} trailing", "more.json"), Error);
  EXPECT_THROW(parse_json("\"\xff\"", "latin.json"), Error);
  EXPECT_EQ(message_of([] { parse_json(R"({"a": {"g": 1, "g": 2}})", "twice.json"); }),
            "twice.json: key \"g\" occurs twice in one object; remove one of the two");
}

TEST(Json, another_schema_or_version_is_refused) {
  EXPECT_NO_THROW(require_schema(JsonReader(document(), "h200.json"), {"shiplap/profile", 1}));
  EXPECT_EQ(
      message_of([] {
        require_schema(JsonReader(document(), "h200.json"), {"shiplap/result", 1});
      }),
      "h200.json: it is a profile of a node (shiplap/profile), and of the schema \"shiplap/result\" is wanted here; "
      "--profile h200.json takes it");
  EXPECT_EQ(message_of([] {
              require_schema(JsonReader(document(), "h200.json"), {"shiplap/profile", 2});
            }).find("h200.json: version: expected 2 "),
            0u);
  const Json none = Json::object();
  EXPECT_EQ(message_of([&] {
              require_schema(JsonReader(none, "x"), {"shiplap/profile", 1});
            }),
            "x: schema: expected a value, but the key is missing");
}

TEST(Json, content_hash_has_the_published_test_vectors_of_fnv_1a) {
  EXPECT_EQ(content_hash(""), "cbf29ce484222325");
  EXPECT_EQ(content_hash("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(content_hash("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace shiplap
