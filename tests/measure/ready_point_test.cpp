#include "shiplap/measure/ready_point.hpp"

#include <gtest/gtest.h>

#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"

namespace shiplap {
namespace {

TEST(ReadyPoint, reads_a_clock_that_exists_and_no_other) {
  const auto device = planted_gpu();
  const std::vector<Trial> trials{copy_burst(CopyDirection::host_to_device, 1_KiB, 1)};
  const RowMemory memory(*device, {trials});
  PrimitiveRow row{{"a copy", "one copy", "host"}, nullptr, nullptr, HostClock::completion};
  const ReadyPoint point(*device, row, trials, memory);
  EXPECT_GT(point.probes().front()().time, Seconds{0});
  row.host_clock = static_cast<HostClock>(99);
  EXPECT_EQ(message_of([&] { point.probes().front()(); }), "not a clock");
}

}  // namespace
}  // namespace shiplap
