// Measuring on a device that is slow, by a clock that its runs advance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/check.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/measure/sampler.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/sick_node.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A device whose runs take `run_takes` each by its clock.
struct SlowDevice {
  explicit SlowDevice(Seconds run_takes) {
    sickness.in_run = [this, run_takes] { now += run_takes; };
  }
  Deadline at(Seconds limit) {
    return Deadline(limit, [this] { return now; });
  }
  Seconds now{0};
  Sickness sickness;
  SickNode device{sickness};
};

MeasureOptions rows_until(std::vector<std::string> rows, Deadline deadline) {
  MeasureOptions options;
  options.effort = Effort::quick;
  options.largest = 1_MiB;
  options.rows = std::move(rows);
  options.deadline = std::move(deadline);
  return options;
}

std::set<std::string> measured_primitives(const MeasureResult& result) {
  std::set<std::string> names;
  for (const Measurement& m : result.measurements) names.insert(m.primitive);
  return names;
}

TEST(MeasuringDeadline, leaves_out_whole_rows_that_do_not_fit_and_names_them) {
  SlowDevice slow(milliseconds(10));
  // Six points of copy.pinned.h2d take four runs each: one that verifies and three samples.
  const MeasureResult result = measure(
      slow.device, rows_until({"copy.pinned.h2d", "burst.pinned.h2d", "copy.pinned.d2h"}, slow.at(milliseconds(400))));
  EXPECT_EQ(measured_primitives(result), std::set<std::string>{"copy.pinned.h2d"});
  EXPECT_THAT(result.late, ElementsAre("burst.pinned.h2d", "copy.pinned.d2h"));
  EXPECT_THAT(result.failed, IsEmpty());
}

TEST(MeasuringDeadline, is_kept_to_within_one_run_whatever_the_budget) {
  for (const double limit : {0.0, 5.0, 123.0, 250.0, 777.0, 1500.0}) {
    SlowDevice slow(milliseconds(10));
    measure(slow.device, rows_until(checked_primitives(), slow.at(milliseconds(limit))));
    // A point that verifies its bytes after its samples reads them back, which is a run too.
    EXPECT_LE(in_milliseconds(slow.now), limit + 30) << limit;
  }
}

TEST(MeasuringDeadline, ends_between_the_samples_of_a_point_whatever_the_least_number) {
  Seconds now{0};
  const Probe slow = [&]() -> Reading {
    now += Seconds{1};
    return {.time = microseconds(1), .cost = microseconds(1)};
  };
  SampleOptions options{.warm_up = 0, .least = 50};
  options.deadline = Deadline(Seconds{3}, [&] { return now; });
  EXPECT_EQ(sample(std::vector{slow}, options).front().size(), 3u);
}

TEST(MeasuringDeadline, keeps_the_first_visit_when_the_second_one_does_not_fit) {
  Sickness sickness;
  unsigned runs = 0;
  Seconds now{0};
  // Unequal samples are taken again in a second visit.
  sickness.noise = [&] { return 1 + 0.001 * (runs % 3); };
  sickness.in_run = [&] {
    ++runs;
    now += milliseconds(1);
  };
  SickNode device(sickness);
  const MeasureResult whole = measure(device, rows_until({"launch.latency"}, Deadline()));
  ASSERT_EQ(whole.measurements.front().visits, 2u);
  const Seconds all = now;
  now = Seconds{0};
  const MeasureResult cut = measure(device, rows_until({"launch.latency"}, Deadline(all * 0.75, [&] { return now; })));
  EXPECT_THAT(cut.late, IsEmpty());
  ASSERT_EQ(cut.measurements.size(), whole.measurements.size());
  EXPECT_EQ(cut.measurements.front().visits, 1u);
}

TEST(MeasuringDeadline, changes_nothing_when_there_is_time) {
  SlowDevice slow(milliseconds(1));
  const std::vector<std::string> rows{"copy.pinned.h2d", "launch.gap"};
  const MeasureResult with = measure(slow.device, rows_until(rows, slow.at(Seconds{1000})));
  const MeasureResult without = measure(slow.device, rows_until(rows, Deadline()));
  ASSERT_EQ(with.measurements.size(), without.measurements.size());
  for (std::size_t i = 0; i < with.measurements.size(); ++i)
    EXPECT_EQ(with.measurements[i].samples_us, without.measurements[i].samples_us);
  EXPECT_THAT(with.late, IsEmpty());
}

TEST(MeasuredRows, are_taken_in_the_order_in_which_they_are_named) {
  SlowDevice slow(milliseconds(1));
  std::vector<std::string> order;
  MeasureOptions options = rows_until({"launch.gap", "copy.pinned.h2d"}, Deadline());
  options.progress = [&](std::string_view point, std::size_t, std::size_t) {
    const std::string name(point.substr(0, point.find(' ')));
    if (order.empty() || order.back() != name) order.push_back(name);
  };
  measure(slow.device, options);
  EXPECT_THAT(order, ElementsAre("launch.gap", "copy.pinned.h2d"));
  options.rows = {"copy.pinned"};
  EXPECT_NE(message_of([&] { measure(slow.device, options); }).find("there is no primitive copy.pinned"),
            std::string::npos);
}

}  // namespace
}  // namespace shiplap
