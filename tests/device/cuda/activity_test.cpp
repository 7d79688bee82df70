// Recordings of the GPU's activity: one at a time, and none where CUPTI cannot record. Needs no GPU.
#include "shiplap/device/cuda/activity.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/suite/transfers.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

TEST(ActivityRecording, is_refused_with_the_reason_or_to_a_second_one_at_a_time) {
  std::string why;
  if (activity_available(why)) {
    const ActivityRecording first(1);
    EXPECT_EQ(message_of<Unsupported>([] { const ActivityRecording second(1); }),
              "another run is being recorded; record one run at a time");
    return;
  }
  EXPECT_NE(why, "");
  for (int attempt = 0; attempt < 2; ++attempt)
    EXPECT_EQ(message_of<Unsupported>([] { const ActivityRecording recording(1); }),
              "activity cannot be recorded: " + why);
}

// The recording that is open is another run's, or there is none because CUPTI cannot record.
TEST(ActivityRecording, that_cannot_be_had_lets_a_run_be_traced_by_events_and_say_so) {
  std::string why;
  std::optional<ActivityRecording> of_another;
  if (activity_available(why)) {
    of_another.emplace(1);
    why = "another run is being recorded; record one run at a time";
  }
  const Api api = testing::fake_api();
  const auto device = open_cuda(0, api);
  const Schedule schedule = testing::three_streams_inverting();
  const testing::FaultMemory memory(*device, api, schedule, true);
  const RunResult result = device->prepare(schedule, memory.bindings)->run({.trace = Trace::best});
  EXPECT_EQ(result.trace_source, "events around each op (" + why + ")");
  ASSERT_EQ(result.timeline.spans.size(), schedule.ops.size());
  for (const Span& span : result.timeline.spans) EXPECT_GT(span.end, span.start);
  memory.expect_output();
}

}  // namespace
}  // namespace shiplap
