// Words for the files of shiplap.
#include "shiplap/core/format_help.hpp"

#include <gtest/gtest.h>

#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"

namespace shiplap {
namespace {

TEST(FormatHelp, has_words_of_its_own_for_every_format) {
  std::set<std::string> words;
  for (const FileFormat& format : file_formats) {
    const std::string what = described_format(format.schema);
    EXPECT_NE(what.find(format.schema), std::string::npos) << what;
    EXPECT_FALSE(what.starts_with("of the schema")) << what;
    words.insert(what.substr(0, what.find(" (")));
  }
  EXPECT_EQ(words.size(), file_formats.size());
}

TEST(FormatHelp, names_the_file_in_what_to_do_with_it) {
  EXPECT_EQ(use_of_format("shiplap/recording", "a b.jsonl"), "shiplap advise 'a b.jsonl' reads it");
  EXPECT_EQ(use_of_format("shiplap/unheard", "a.json"), "");
}

TEST(FormatHelp, finds_the_schema_of_a_document_and_of_lines) {
  EXPECT_EQ(schema_of_text("{\n\"a\": 1,\n\"schema\": \"shiplap/plan\"\n}"), "shiplap/plan");
  EXPECT_EQ(schema_of_text("{\"schema\": \"shiplap/recording\"}\n[1]\n"), "shiplap/recording");
  for (const char* text : {"", "\n", "[]", "{\"schema\": 3}", "{\"schema\"", "{}\n{\"schema\": \"x\"}"})
    EXPECT_EQ(schema_of_text(text), "") << text;
}

TEST(FormatHelp, refuses_lines_only_where_the_first_one_names_a_schema) {
  EXPECT_THROW(refuse_lines("{\"schema\": \"shiplap/recording\"}\n[1]\n", "a.jsonl"), Error);
  EXPECT_NO_THROW(refuse_lines("{}\n[1]\n", "a.jsonl"));
  EXPECT_NO_THROW(refuse_lines("{", "a.json"));
}

}  // namespace
}  // namespace shiplap
