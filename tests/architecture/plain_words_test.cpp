#include "tests/architecture/plain_words.hpp"

#include <gmock/gmock.h>

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The texts that readers of the project read: public comments, messages and docs.
std::vector<SourceFile> written_texts() {
  auto files = source_files({"shiplap", "cli", "experiments", "bench", "examples", "docs"},
                            {".hpp", ".cpp", ".cu", ".cuh", ".h", ".md", ".json", ".py"});
  files.push_back(source_file("README.md"));
  return files;
}

std::vector<std::string> violations_in(const std::string& path, const std::string& text) {
  const std::vector<SourceFile> files{{path, text}};
  return plain_word_violations(files);
}

TEST(PlainWords, hold_for_every_text_of_the_project) {
  const auto files = written_texts();
  ASSERT_GT(files.size(), 50u) << "the source tree was not found";
  for (const std::string& violation : plain_word_violations(files)) ADD_FAILURE() << violation;
}

TEST(PlainWords, name_file_line_phrase_and_what_to_say_instead) {
  EXPECT_THAT(violations_in("docs/tutorial.md", "First line.\nTwo batches are under way.\n"),
              ElementsAre("docs/tutorial.md:2: says \"under way\"; say instead: in flight"));
  EXPECT_THAT(violations_in("cli/a.cpp", "  throw Error(\"the array is page-locked\");\n"),
              ElementsAre("cli/a.cpp:1: says \"page-locked\"; say instead: pinned, to pin"));
}

TEST(PlainWords, find_a_phrase_that_goes_on_in_the_next_line) {
  EXPECT_THAT(violations_in("shiplap/a.hpp", "/// A copy of so\n/// many bytes.\n"),
              ElementsAre(HasSubstr("shiplap/a.hpp:1: says \"so many\"")));
  EXPECT_THAT(violations_in("docs/tutorial.md", "What the time hangs\non.\n"),
              ElementsAre(HasSubstr("docs/tutorial.md:1: ")));
}

TEST(PlainWords, are_whole_words_outside_includes) {
  EXPECT_THAT(violations_in("shiplap/a.cpp",
                            "#include <queue>\n"
                            "std::priority_queue<int> waiting;\n"
                            "check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k, 32, 0));\n"
                            "// The hardware queue is full, and the hardware queues are few. An op is queued.\n"),
              IsEmpty());
  EXPECT_THAT(violations_in("shiplap/a.cpp", "// The Queue waits.\n"), ElementsAre(HasSubstr("\"queue\"")));
}

TEST(PlainWords, refuse_comments_without_a_subject) {
  EXPECT_THAT(violations_in("shiplap/a.hpp",
                            "/// Of a copy.\n"
                            "Bytes size;  ///< of a copy\n"
                            "/// The size is that\n"
                            "/// of a copy.\n"
                            "// Streams come first. Of these there are two.\n"),
              ElementsAre(HasSubstr("a.hpp:1: says \"Of …\""), HasSubstr("a.hpp:2: says \"Of …\"")));
  EXPECT_THAT(violations_in("docs/tutorial.md", "Of 108 jobs 80 are fast.\n"), IsEmpty()) << "a sentence of a page";
}

TEST(PlainWords, let_the_glossary_explain_a_replaced_word_once) {
  const std::string pinned = "Pinned (page-locked) memory.\n";
  EXPECT_THAT(violations_in("docs/glossary.md", pinned), IsEmpty());
  EXPECT_THAT(violations_in("docs/glossary.md", pinned + pinned).size(), 1u);
  EXPECT_THAT(violations_in("research/models.md", pinned).size(), 1u);
}

}  // namespace
}  // namespace shiplap
