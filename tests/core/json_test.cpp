#include "shiplap/core/json.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

// A folder that goes away with the test.
class JsonFile : public ::testing::Test {
 protected:
  JsonFile() {
    std::string name = (fs::temp_directory_path() / "shiplap-json-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw Error("no temporary folder");
    folder_ = name;
  }
  ~JsonFile() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

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
  EXPECT_EQ(message_of([] {
              require_schema(JsonReader(document(), "h200.json"), {"shiplap/result", 1});
            }),
            "h200.json: schema: expected \"shiplap/result\", got \"shiplap/profile\"");
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

TEST_F(JsonFile, what_is_written_is_read_back) {
  const fs::path path = folder_ / "a.json";
  write_file_atomically(path, R"({"x": 1})");
  EXPECT_EQ(read_text_file(path), R"({"x": 1})");
  EXPECT_EQ(JsonReader(read_json_file(path), path.string()).value()["x"], 1);
  const std::string large(3 << 20, 'y');
  write_file_atomically(path, large);
  EXPECT_EQ(read_text_file(path), large);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(JsonFile, a_name_without_a_folder_is_written_where_the_program_runs) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  write_file_atomically("bare.json", "1");
  fs::current_path(before);
  EXPECT_EQ(read_text_file(folder_ / "bare.json"), "1");
}

TEST_F(JsonFile, replacing_keeps_permissions_and_links) {
  const fs::path path = folder_ / "a.json";
  write_file_atomically(path, "old");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a.json", folder_ / "link.json");
  write_file_atomically(folder_ / "link.json", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(read_text_file(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(JsonFile, failures_name_the_path_and_the_reason) {
  const std::string missing = (folder_ / "no" / "a.json").string();
  EXPECT_EQ(message_of([&] { write_file_atomically(missing, "x"); }),
            "cannot write " + missing + ": No such file or directory; create the folder first");
  EXPECT_EQ(message_of([&] { write_file_atomically(folder_, "x"); }),
            "cannot write " + folder_.string() + ": Is a directory");
  EXPECT_EQ(message_of([&] { read_json_file(missing); }), "cannot read " + missing + ": No such file or directory");
  EXPECT_EQ(message_of([&] { read_text_file(folder_); }), "cannot read " + folder_.string() + ": Is a directory");
  EXPECT_EQ(entries(), 0u);
}

TEST_F(JsonFile, a_pipe_is_not_replaced_by_a_file) {
  const fs::path path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(message_of([&] { write_file_atomically(path, "x"); }).find("not a regular file"), std::string::npos);
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(JsonFile, a_write_that_fails_half_way_leaves_the_old_content_and_no_other_file) {
  const fs::path path = folder_ / "a.json";
  write_file_atomically(path, "old");
  // A limit on file size stands for a full disk; in a child, because it cannot be raised again by everyone.
  const auto child = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = message_of([&] { write_file_atomically(path, std::string(1 << 20, 'x')); });
    std::_Exit(message == "cannot write " + path.string() + ": File too large" ? 0 : 1);
  };
  EXPECT_EXIT(child(), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(read_text_file(path), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(JsonFile, readers_see_the_old_content_or_the_new_and_never_a_part) {
  const fs::path path = folder_ / "a.json";
  const std::string a(200'000, 'a');
  const std::string b(100'000, 'b');
  write_file_atomically(path, a);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) write_file_atomically(path, i % 2 == 0 ? b : a);
    done = true;
  });
  std::size_t torn = 0;
  while (!done) {
    const std::string seen = read_text_file(path);
    torn += seen != a && seen != b;
  }
  writer.join();
  EXPECT_EQ(torn, 0u);
}

}  // namespace
}  // namespace shiplap
