#include "shiplap/core/spelling.hpp"

#include <gtest/gtest.h>

namespace shiplap {
namespace {

using Names = std::vector<std::string>;

TEST(Spelling, finds_names_with_a_letter_more_less_or_swapped) {
  const Names known{"streams", "explicit", "staged"};
  for (const char* given : {"stream", "steams", "sterams", "strea"})
    EXPECT_EQ(names_like(given, known), Names{"streams"});
  EXPECT_EQ(names_like("zero", known), Names{});
}

TEST(Spelling, asks_whether_a_name_was_meant) {
  EXPECT_EQ(did_you_mean("stream", {"streams", "staged"}), "did you mean streams? ");
  EXPECT_EQ(did_you_mean("zero", {"streams", "staged"}), "");
  EXPECT_EQ(did_you_mean("virtual:", {"virtual:a", "virtual:b", "virtual:c", "virtual:d", "virtual:e"}), "");
}

}  // namespace
}  // namespace shiplap
