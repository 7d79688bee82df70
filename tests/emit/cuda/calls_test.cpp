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
