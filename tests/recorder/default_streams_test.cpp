#include "recorder/default_streams.hpp"

#include <gtest/gtest.h>

namespace shiplap::recorder {
namespace {

TEST(DefaultStreams, of_one_gpu_are_ordinary_streams_of_another_with_the_same_number) {
  DefaultStreams streams;
  streams.add(0, 7);
  streams.add(1, 14);
  EXPECT_TRUE(streams.has(0, 7));
  EXPECT_TRUE(streams.has(1, 14));
  EXPECT_FALSE(streams.has(1, 7));
  EXPECT_FALSE(streams.has(0, 14));
  EXPECT_FALSE(streams.has(0, 8));
}

TEST(DefaultStreams, of_an_unknown_gpu_may_be_of_any) {
  DefaultStreams streams;
  streams.add(1, 14);
  EXPECT_TRUE(streams.has(RecordedOrder::unknown_gpu, 14));
  EXPECT_FALSE(streams.has(RecordedOrder::unknown_gpu, 7));
  streams.add(RecordedOrder::unknown_gpu, 7);
  EXPECT_TRUE(streams.has(0, 7));
  EXPECT_TRUE(streams.has(1, 7));
}

}  // namespace
}  // namespace shiplap::recorder
