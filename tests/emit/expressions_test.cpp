#include "shiplap/emit/expressions.hpp"

#include <gtest/gtest.h>

namespace shiplap {
namespace {

Expressions level() { return {{0, 10, 20, 30}, {10, 10, 10, 5}, 35, 4, "chunks"}; }
Expressions ramp() { return {{0, 2, 5, 9}, {2, 3, 4, 1}, 10, 4, "chunks"}; }

Expressions::Names region(bool by_key) {
  return {.constant = "size", .per_item = "item", .factor = 4, .stride = "stride", .by_key = by_key};
}

TEST(Expressions, says_pieces_of_an_array_by_the_items_of_the_chunk) {
  Expressions say = level();
  EXPECT_EQ(say.value({0, 40, 80, 120}, region(false), "c"), "first * item");
  EXPECT_EQ(say.value({40, 40, 40, 20}, region(false), "c"), "items * item");
  EXPECT_EQ(say.offset({0, 0, 0, 0}, region(false), "c"), "");
  EXPECT_EQ(say.value({4, 44, 84, 124}, {.constant = "size", .per_item = "item", .stride = "stride"}, "c"),
            "first * item + 4");
}

TEST(Expressions, says_room_in_a_ring_by_the_number_of_the_chunk) {
  Expressions say = ramp();
  EXPECT_EQ(say.value({0, 256, 512, 768}, region(true), "c"), "c * stride");
  Expressions ring = ramp();
  EXPECT_EQ(ring.value({0, 256, 0, 256}, region(true), "c"), "c % ring * stride");
  EXPECT_EQ(ring.count(2), "ring");
  EXPECT_EQ(ring.count(3), "3");
}

TEST(Expressions, falls_back_to_a_table_that_holds_every_number) {
  Expressions say = ramp();
  EXPECT_EQ(say.value({7, 1, 9, 2}, region(true), "c"), "size_of[c]");
  ASSERT_EQ(say.tables().size(), 1u);
  EXPECT_EQ(say.tables()[0].second, (std::vector<std::int64_t>{7, 1, 9, 2}));
  EXPECT_EQ(say.value({7, 1, 9, 3}, region(true), "c"), "size_of_2[c]") << "another table has another name";
  EXPECT_EQ(say.value({7, 1, 9, 2}, region(true), "c"), "size_of[c]");
  EXPECT_EQ(say.value({9, 1, std::nullopt, std::nullopt}, region(true), "c"), "size_of_3[c]")
      << "two numbers always lie on a line, which says nothing";
}

TEST(Expressions, says_for_which_chunks_something_holds) {
  Expressions say = ramp();
  const std::vector<bool> all(4, true);
  EXPECT_EQ(say.condition(all, all, "c", "t"), "");
  EXPECT_EQ(say.condition({false, false, true, true}, all, "c", "t"), "c >= 2");
  EXPECT_EQ(say.condition({true, true, false, false}, all, "c", "t"), "c < chunks - 2");
  EXPECT_EQ(say.condition({false, true, true, false}, all, "c", "t"), "c >= 1 && c < chunks - 1");
  EXPECT_EQ(say.condition({true, false, false, false}, all, "c", "t"), "c == 0");
  EXPECT_EQ(say.condition({false, false, false, true}, all, "c", "t"), "c == chunks - 1");
  EXPECT_EQ(say.condition({true, false, true, false}, all, "c", "t"), "c % 2 == 0");
  EXPECT_EQ(say.condition({true, false, true, true}, all, "c", "t"), "t[c] != 0");
  EXPECT_EQ(say.condition({false, true, false, true}, {false, true, false, true}, "c", "t"), "")
      << "only the chunks in question count";
}

TEST(Expressions, defines_the_items_of_a_chunk_only_where_they_are_used) {
  Expressions equal({0, 10, 20}, {10, 10, 10}, 30, 3, "chunks");
  EXPECT_EQ(equal.definitions("copy(items);", "c"), "const std::uint64_t items = chunk_items;\n");
  EXPECT_EQ(equal.definitions("copy(bytes);", "c"), "");
  EXPECT_EQ(level().definitions("copy(items);", "c"),
            "const std::uint64_t first = c * chunk_items;\n"
            "const std::uint64_t items = c == chunks - 1 ? all_items - first : chunk_items;\n");
  Expressions grown = ramp();
  EXPECT_EQ(grown.definitions("copy(first, items);", "c"),
            "const std::uint64_t first = starts[c];\nconst std::uint64_t items = starts[c + 1] - first;\n");
  EXPECT_EQ(grown.tables()[0].second, (std::vector<std::int64_t>{0, 2, 5, 9, 10}));
}

TEST(Expressions, writes_a_number_where_a_constant_of_the_name_has_another_value) {
  Expressions say = level();
  EXPECT_EQ(say.constant("stride", 256), "stride");
  EXPECT_EQ(say.constant("stride", 256), "stride");
  EXPECT_EQ(say.constant("stride", 512), "512");
}

TEST(Expressions, finds_names_as_whole_words) {
  EXPECT_TRUE(mentions("a + items * 4", "items"));
  EXPECT_FALSE(mentions("all_items * 4", "items"));
  EXPECT_FALSE(mentions("itemsize", "items"));
}

}  // namespace
}  // namespace shiplap
