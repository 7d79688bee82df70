#include "tests/emit/cuda/calls.hpp"

#include <gtest/gtest.h>

namespace shiplap::testing {
namespace {

/// Two streams: a copy, and behind it a launch.
std::vector<std::string> lines(const std::string& in, const std::string& compute, const std::string& event) {
  return {"memory 0x1000 64",
          "memory 0x2000 64",
          "clock 0x9",
          "record " + in + " 0x9",
          "copy " + in + " 0x2000 0x1008 16 1",
          "record " + in + " " + event,
          "wait " + compute + " " + event,
          "launch " + compute + " 4 16 0x2000",
          "synchronize 0x9"};
}

TEST(Calls, are_the_same_whatever_the_handles_are) {
  const Calls one = calls_of(lines("0xa", "0xb", "0xc"));
  const Calls other = calls_of(lines("0xf", "0xe", "0xd"));
  EXPECT_EQ(one.streams.size(), 2u);
  EXPECT_EQ(one.streams.begin()->second.front(), "copy 1+0 <- 0+8, 16 bytes, kind 1");
  EXPECT_EQ(difference(one, other), "");
}

TEST(Calls, differ_when_a_wait_is_missing_or_is_for_something_else) {
  const Calls whole = calls_of(lines("0xa", "0xb", "0xc"));
  auto missing = lines("0xa", "0xb", "0xc");
  missing.erase(missing.begin() + 6);
  EXPECT_NE(difference(whole, calls_of(missing)), "");
  auto earlier = lines("0xa", "0xb", "0xc");
  std::swap(earlier[4], earlier[5]);  // recorded before the copy
  EXPECT_NE(difference(whole, calls_of(earlier)), "");
}

TEST(Calls, differ_in_the_priority_of_a_stream) {
  auto urgent = lines("0xa", "0xb", "0xc");
  urgent.insert(urgent.begin(), "urgent 0xa -5");
  EXPECT_NE(difference(calls_of(lines("0xa", "0xb", "0xc")), calls_of(urgent)), "");
}

TEST(Calls, differ_in_every_argument_of_advice) {
  const auto with = [](const std::string& advice) {
    return calls_of({"memory 0x1000 64", "memory 0x2000 64", "prefetch 0xa 0x1000 64 1", advice});
  };
  const Calls whole = with("advise 0x1000 64 3 0");
  EXPECT_EQ(difference(whole, with("advise 0x1000 64 3 0")), "");
  for (const char* other :
       {"", "advise 0x2000 64 3 0", "advise 0x1000 32 3 0", "advise 0x1000 64 1 0", "advise 0x1000 64 3 1"})
    EXPECT_NE(difference(whole, with(other)), "") << other;
}

TEST(Calls, differ_in_every_argument_of_a_move_of_blocks) {
  const std::string first = "strided 0xa 0x2000 0x1000 4 8 4 6 1";
  const std::string second = "move 0xa 0x1000 0x2000 12 3 512";
  const auto with = [](const std::string& one, const std::string& other) {
    return calls_of({"memory 0x1000 64", "memory 0x2000 64", one, other});
  };
  for (const char* other : {"strided 0xa 0x2004 0x1000 4 8 4 6 1", "strided 0xa 0x2000 0x1004 4 8 4 6 1",
                            "strided 0xa 0x2000 0x1000 5 8 4 6 1", "strided 0xa 0x2000 0x1000 4 9 4 6 1",
                            "strided 0xa 0x2000 0x1000 4 8 3 6 1", "strided 0xa 0x2000 0x1000 4 8 4 7 1",
                            "strided 0xa 0x2000 0x1000 4 8 4 6 2"})
    EXPECT_NE(difference(with(first, second), with(other, second)), "") << other;
  for (const char* other :
       {"move 0xa 0x1004 0x2000 12 3 512", "move 0xa 0x1000 0x2004 12 3 512", "move 0xa 0x1000 0x2000 13 3 512",
        "move 0xa 0x1000 0x2000 12 4 512", "move 0xa 0x1000 0x2000 12 3 256"})
    EXPECT_NE(difference(with(first, second), with(first, other)), "") << other;
}

TEST(Calls, differ_in_sizes_offsets_and_what_the_host_waits_for) {
  const Calls whole = calls_of(lines("0xa", "0xb", "0xc"));
  auto longer = lines("0xa", "0xb", "0xc");
  longer[4] = "copy 0xa 0x2000 0x1008 17 1";
  EXPECT_NE(difference(whole, calls_of(longer)), "");
  auto elsewhere = lines("0xa", "0xb", "0xc");
  elsewhere[7] = "launch 0xb 4 16 0x2001";
  EXPECT_NE(difference(whole, calls_of(elsewhere)), "");
  auto waited = lines("0xa", "0xb", "0xc");
  waited.emplace_back("synchronize 0xc");
  EXPECT_NE(difference(whole, calls_of(waited)), "");
}

}  // namespace
}  // namespace shiplap::testing
