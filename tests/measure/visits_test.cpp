// Points that are visited again much later, on a device that was disturbed meanwhile, damages bytes or moves no pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/measure/figures.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// What is wrong with a device, by the visit: 1 or 2.
struct Faults {
  std::function<double(unsigned visit)> slower = [](unsigned) { return 1.0; };
  double noise = 0.001;             ///< times are this much too short, right and too long in turns
  std::optional<Seconds> cost{};    ///< what a run takes altogether
  unsigned damages_in_visit = 0;    ///< one byte of what arrives on the host is wrong after each run
  std::optional<double> on_host{};  ///< share of the pages of managed memory, whatever was done
  VirtualBytes bytes = VirtualBytes::moved;
  std::function<std::string(unsigned visit)> clocks_held_by = [](unsigned) { return std::string(); };
};

/// The planted node, which is visited for the second time once it was told so.
class Visited : public ForwardingDevice {
 public:
  explicit Visited(Faults faults)
      : ForwardingDevice(open_virtual(planted_profile(), "virtual:planted", faults.bytes)),
        faults_(std::move(faults)) {}

  unsigned visit = 1;

  std::string clocks_held_by() const override { return faults_.clocks_held_by(visit); }
  std::optional<double> fraction_on_host(const Memory&) const override { return faults_.on_host; }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    std::byte* victim = nullptr;
    for (std::size_t i = 0; i < schedule.buffers.size(); ++i)
      if (schedule.buffers[i].name == "host destination") victim = bindings.buffers[i];
    return std::make_unique<ChangedExecution>(
        inner().prepare(schedule, bindings), [this, victim, runs = std::size_t{0}](RunResult& result) mutable {
          const std::array turns{-1.0, 0.0, 1.0};
          const double factor = faults_.slower(visit) * (1 + faults_.noise * turns[runs++ % turns.size()]);
          result.timeline.makespan *= factor;
          result.submission *= factor;
          result.host_total = faults_.cost ? *faults_.cost : result.host_total * factor;
          if (victim != nullptr && faults_.damages_in_visit == visit) *victim ^= std::byte{1};
        });
  }

 private:
  Faults faults_;
};

struct Seen {
  MeasureResult result;
  std::vector<std::string> again;  ///< points that were visited a second time
  std::size_t last_done = 0;
  std::size_t last_total = 0;
};
Seen measured(const Faults& faults, const std::string& only, Effort effort = Effort::quick, Bytes largest = 256_KiB) {
  Visited device(faults);
  Seen seen;
  MeasureOptions options{.effort = effort, .largest = largest, .only = only, .progress = {}};
  options.progress = [&](std::string_view point, std::size_t done, std::size_t total) {
    device.visit = point.ends_with(" (again)") ? 2 : 1;
    if (device.visit == 2) seen.again.emplace_back(point);
    EXPECT_LT(done, total) << point;
    seen.last_done = done;
    seen.last_total = total;
  };
  seen.result = measure(device, options);
  return seen;
}

Faults times_alone(Faults faults) {
  faults.bytes = VirtualBytes::left_out;
  return faults;
}

double slow_first(unsigned visit) { return visit == 1 ? 1.1 : 1.0; }
double slow_second(unsigned visit) { return visit == 2 ? 1.1 : 1.0; }

void expect_near_truth(const Interval<Seconds>& figure, Seconds truth, const std::string& name) {
  EXPECT_LE(figure.low, truth) << name;
  EXPECT_GE(figure.high, truth) << name;
  EXPECT_NEAR(figure.value / truth, 1, 0.01) << name << ", which 10 % of half of the samples must not move";
}

TEST(Visits, take_as_many_samples_again_at_the_end_of_the_table) {
  const Seen seen = measured({}, "[cb]*.pinned.d2h");
  ASSERT_FALSE(seen.result.measurements.empty());
  for (const Measurement& m : seen.result.measurements) {
    EXPECT_EQ(m.visits, 2u) << m.primitive;
    EXPECT_EQ(m.samples_us.size() % 2, 0u) << m.primitive;
    EXPECT_TRUE(m.verified) << m.primitive;
  }
  EXPECT_TRUE(seen.result.failed.empty());
  ASSERT_FALSE(seen.again.empty());
  EXPECT_EQ(seen.again.front(), "copy.pinned.d2h 1 B (again)");
  EXPECT_EQ(seen.last_done + 1, seen.last_total);
}

TEST(Visits, find_the_figures_of_the_undisturbed_device_whichever_visit_was_disturbed) {
  const auto truth = figures(measured(times_alone({.noise = 0}), "[cb]*.pinned.[hd]2[hd]").result.measurements);
  for (const auto slower : {slow_first, slow_second}) {
    const auto found = figures(measured(times_alone({.slower = slower}), "[cb]*.pinned.[hd]2[hd]").result.measurements);
    ASSERT_EQ(found.size(), truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      ASSERT_EQ(name_of(found[i]), name_of(truth[i]));
      expect_near_truth(found[i].time, truth[i].time.value, name_of(truth[i]));
    }
  }
}

TEST(Visits, fit_the_rates_of_the_undisturbed_device) {
  const auto fitted = [](const Faults& faults) {
    const Seen seen = measured(times_alone(faults), "[cb]*.pinned.[hd]2[hd]", Effort::quick, 1_MiB);
    return fit(seen.result.measurements, Visited(faults).info());
  };
  const Profile truth = fitted({.noise = 0});
  for (const auto slower : {slow_first, slow_second}) {
    const Profile found = fitted({.slower = slower});
    for (const auto direction : {&LinkModel::h2d, &LinkModel::d2h}) {
      const Interval<PerByte>& rate = (found.link(0).*direction).per_byte;
      const double planted = (truth.link(0).*direction).per_byte.value.seconds;
      EXPECT_LE(rate.low.seconds, planted);
      EXPECT_GE(rate.high.seconds, planted);
      EXPECT_NEAR(rate.value.seconds / planted, 1, 0.01);
    }
  }
}

TEST(Visits, drop_the_samples_of_the_slow_one_and_keep_all_where_both_were_alike) {
  for (const bool first : {true, false}) {
    const Seen seen = measured({.slower = first ? slow_first : slow_second}, "copy.pinned.h2d");
    for (const Measurement& m : seen.result.measurements) {
      const auto used = figure_samples(m);
      ASSERT_EQ(used.size(), m.samples_us.size() / 2);
      EXPECT_EQ(used.data(), m.samples_us.data() + (first ? used.size() : 0));
    }
  }
  for (const Measurement& m : measured({}, "copy.pinned.h2d").result.measurements)
    EXPECT_EQ(figure_samples(m).size(), m.samples_us.size());
}

TEST(Visits, are_one_of_points_that_were_the_same_every_time) {
  const Seen seen = measured({.noise = 0}, "[cb]*.pinned.h2d");
  ASSERT_FALSE(seen.result.measurements.empty());
  for (const Measurement& m : seen.result.measurements) EXPECT_EQ(m.visits, 1u) << m.primitive;
  EXPECT_TRUE(seen.again.empty());
}

TEST(Visits, are_two_of_points_that_use_up_their_budget_too) {
  // A run of 0.3 s is more than the milliseconds that a visit has; it takes the fewest samples all the same.
  for (const Effort effort : {Effort::quick, Effort::standard}) {
    const Seen seen = measured({.cost = Seconds{0.3}}, "launch.latency", effort);
    ASSERT_EQ(seen.result.measurements.size(), 1u);
    EXPECT_EQ(seen.result.measurements[0].visits, 2u);
    EXPECT_EQ(seen.result.measurements[0].samples_us.size(), 6u);
    EXPECT_EQ(seen.again.size(), 1u);
  }
}

TEST(Visits, are_one_of_a_full_measurement) {
  const Seen seen = measured({.cost = Seconds{0.3}}, "launch.latency", Effort::full);
  ASSERT_EQ(seen.result.measurements.size(), 1u);
  EXPECT_EQ(seen.result.measurements[0].visits, 1u);
  EXPECT_EQ(seen.result.measurements[0].samples_us.size(), 17u) << "5 s in runs of 0.3 s";
  EXPECT_TRUE(seen.again.empty());
}

TEST(Visits, mark_bytes_that_only_the_second_damaged) {
  const Seen seen = measured({.damages_in_visit = 2}, "copy.pinned.d2h");
  ASSERT_FALSE(seen.result.measurements.empty());
  for (const Measurement& m : seen.result.measurements) {
    EXPECT_EQ(m.visits, 2u);
    EXPECT_FALSE(m.verified) << m.arguments.at("bytes");
  }
  ASSERT_EQ(seen.result.failed.size(), seen.result.measurements.size());
  EXPECT_EQ(seen.result.failed[0].point, "copy.pinned.d2h 1 B");
  EXPECT_NE(seen.result.failed[0].reason.find("1 of 1 bytes in the host destination"), std::string::npos)
      << seen.result.failed[0].reason;
  EXPECT_TRUE(figures(seen.result.measurements).empty());
}

TEST(Visits, do_not_make_good_again_what_the_first_damaged) {
  const Seen seen = measured({.damages_in_visit = 1}, "copy.pinned.d2h");
  ASSERT_FALSE(seen.result.measurements.empty());
  for (const Measurement& m : seen.result.measurements) EXPECT_FALSE(m.verified) << m.arguments.at("bytes");
  EXPECT_EQ(seen.result.failed.size(), seen.result.measurements.size());
}

TEST(Visits, tell_what_held_the_clocks_down_in_any_of_them) {
  const auto held_by = [](std::function<std::string(unsigned)> held) {
    return measured({.clocks_held_by = std::move(held)}, "launch.latency").result.measurements.at(0).held_by;
  };
  const std::string cap = "power cap";
  EXPECT_EQ(held_by([&](unsigned) { return cap; }), "power cap");
  EXPECT_EQ(held_by([&](unsigned visit) { return visit == 1 ? cap : ""; }), "power cap");
  EXPECT_EQ(held_by([&](unsigned visit) { return visit == 2 ? cap : ""; }), "power cap");
  EXPECT_EQ(held_by([&](unsigned visit) { return visit == 1 ? cap : "heat"; }), "power cap; heat");
}

TEST(ManagedMemory, that_did_not_move_fails_the_rows_that_move_it_and_the_share_is_named) {
  const Seen to_gpu = measured({.on_host = 0.5}, "prefetch.h2d");
  ASSERT_FALSE(to_gpu.result.measurements.empty());
  for (const Measurement& m : to_gpu.result.measurements) EXPECT_FALSE(m.verified);
  ASSERT_FALSE(to_gpu.result.failed.empty());
  EXPECT_EQ(to_gpu.result.failed[0].reason,
            "50.0 % of the pages of managed, on the host are on the host after they were to move to gpu 0: the time is "
            "not used");
  const Seen to_host = measured({.on_host = 0.5}, "prefetch.d2h");
  ASSERT_FALSE(to_host.result.failed.empty());
  EXPECT_EQ(to_host.result.failed[0].reason,
            "50.0 % of the pages of managed, on the GPU are on the host after they were to move to host: the time is "
            "not used");
}

TEST(ManagedMemory, is_where_it_was_to_go_or_not_by_the_direction) {
  const auto failed = [](const std::string& row, std::optional<double> on_host) {
    const Seen seen = measured({.on_host = on_host}, row);
    EXPECT_FALSE(seen.result.measurements.empty());
    return !seen.result.failed.empty();
  };
  for (const char* row : {"prefetch.h2d", "demand.h2d"}) {
    EXPECT_FALSE(failed(row, 0.0)) << row;
    EXPECT_TRUE(failed(row, 1.0)) << row;
    EXPECT_TRUE(failed(row, 0.001)) << row;
  }
  for (const char* row : {"prefetch.d2h", "demand.d2h"}) {
    EXPECT_FALSE(failed(row, 1.0)) << row;
    EXPECT_TRUE(failed(row, 0.0)) << row;
    EXPECT_TRUE(failed(row, 0.999)) << row;
  }
  EXPECT_FALSE(failed("copy.pinned.h2d", 0.5)) << "which has none";
}

TEST(ManagedMemory, whose_share_cannot_be_told_passes) {
  for (const char* row : {"prefetch.h2d", "prefetch.d2h", "demand.h2d", "demand.d2h"}) {
    const Seen seen = measured({}, row);
    EXPECT_TRUE(seen.result.failed.empty()) << row;
    ASSERT_FALSE(seen.result.measurements.empty()) << row;
    for (const Measurement& m : seen.result.measurements) EXPECT_TRUE(m.verified) << row;
  }
}

}  // namespace
}  // namespace shiplap
