// Every input of the corpora, under whatever compiler and sanitizer the tests are built with.
#include <gtest/gtest.h>

#include <filesystem>

#include "shiplap/core/text_file.hpp"
#include "tests/fuzz/target.hpp"

namespace shiplap::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path& corpora() {
  static const fs::path folder = fs::path(SHIPLAP_SOURCE_DIR) / "tests/fuzz/corpus";
  return folder;
}

class Corpus : public ::testing::TestWithParam<const Target*> {};

TEST_P(Corpus, every_input_is_read_or_refused) {
  std::size_t inputs = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(corpora() / GetParam()->name)) {
    SCOPED_TRACE(file.path());
    EXPECT_NO_THROW(GetParam()->run(read_text_file(file.path())));
    ++inputs;
  }
  EXPECT_GT(inputs, 0u);
}

TEST_P(Corpus, the_empty_input_is_read_or_refused) { EXPECT_NO_THROW(GetParam()->run("")); }

INSTANTIATE_TEST_SUITE_P(Of, Corpus, ::testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& of) { return std::string(of.param->name); });

TEST(Corpora, are_small_and_each_belongs_to_a_target) {
  std::uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(corpora())) {
    if (entry.is_directory())
      EXPECT_NO_THROW(find_target(entry.path().filename().string()));
    else
      bytes += entry.file_size();
  }
  EXPECT_LE(bytes, 100u * 1024);
}

}  // namespace
}  // namespace shiplap::fuzz
