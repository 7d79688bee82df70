#include "shiplap/measure/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using namespace std::string_literals;

/// A device on which something goes wrong.
class FaultyDevice : public ForwardingDevice {
 public:
  struct Faults {
    std::uint64_t damaged_offset = ~0ull;  ///< this byte of every host destination is changed after each run
    Bytes refused_allocation{~0ull};       ///< allocations of this size and more fail
    unsigned numa_node = 0;                ///< where host memory really is, whatever was asked for
    std::string clocks_held_by{};
    bool state_is_unreadable = false;
  };
  FaultyDevice(const Faults& faults)
      : ForwardingDevice(open_virtual(planted_profile(), "virtual:planted")), faults_(faults) {}

  Memory allocate(Place place, MemoryKind kind, Bytes size) override {
    if (size >= faults_.refused_allocation) throw Error("no memory left");
    return inner().allocate(place, kind, size);
  }
  std::optional<std::vector<unsigned>> numa_nodes(const Memory& memory) const override {
    return memory.place().is_host() ? std::optional(std::vector{faults_.numa_node}) : std::nullopt;
  }
  std::string clocks_held_by() const override {
    if (faults_.state_is_unreadable) throw Error("the driver does not answer");
    return faults_.clocks_held_by;
  }
  Conditions state() const override {
    if (faults_.state_is_unreadable) throw Error("the driver does not answer");
    return {{"gpu.link_loaded", "32.0 GT/s PCIe x16"}};
  }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    std::byte* victim = nullptr;
    for (std::size_t i = 0; i < schedule.buffers.size(); ++i)
      if (schedule.buffers[i].name == "host destination" && schedule.buffers[i].size.count > faults_.damaged_offset)
        victim = bindings.buffers[i] + faults_.damaged_offset;
    return std::make_unique<ChangedExecution>(inner().prepare(schedule, bindings), [victim](RunResult&) {
      if (victim != nullptr) *victim ^= std::byte{1};
    });
  }

 private:
  Faults faults_;
};

MeasureOptions quick(std::string only, Bytes largest = 1_MiB) {
  return {.effort = Effort::quick, .largest = largest, .only = std::move(only), .progress = {}};
}

TEST(Measure, keeps_samples_arguments_and_clock_of_every_point) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  const MeasureResult result = measure(*device, quick("launch.*"));
  ASSERT_EQ(result.measurements.size(), 3u);
  EXPECT_EQ(result.measurements[0].primitive, "launch.latency");
  EXPECT_EQ(result.measurements[0].clock, "events");
  EXPECT_EQ(result.measurements[0].arguments.at("kernels"), 1);
  EXPECT_GE(result.measurements[0].samples_us.size(), 5u);
  EXPECT_NEAR(result.measurements[0].samples_us[0], 2.3, 1e-9) << "the planted launch latency";
  EXPECT_TRUE(result.measurements[0].verified);
  EXPECT_TRUE(result.failed.empty());
  EXPECT_TRUE(result.skipped.empty());
}

TEST(Measure, refuses_a_pattern_that_matches_nothing_and_says_where_the_primitives_are_listed) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  try {
    measure(*device, quick("copy.paged*"));
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_NE(error.what(), nullptr);
    EXPECT_NE(std::string(error.what()).find("'copy.paged*'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("measure --list --all"), std::string::npos);
  }
}

TEST(Measure, marks_a_point_whose_bytes_did_not_arrive_as_failed_and_goes_on) {
  FaultyDevice device({.damaged_offset = 100});
  const MeasureResult result = measure(device, quick("copy.pinned.d2h"));
  std::size_t unverified = 0;
  for (const Measurement& m : result.measurements) {
    EXPECT_EQ(m.verified, m.arguments.at("bytes") <= 100) << m.arguments.at("bytes");
    if (!m.verified) ++unverified;
  }
  EXPECT_EQ(unverified, 5u) << "1 KiB, 16 KiB, 64 KiB, 256 KiB and 1 MiB";
  ASSERT_EQ(result.failed.size(), 5u);
  EXPECT_NE(result.failed[0].point.find("copy.pinned.d2h 1 KiB"), std::string::npos);
  EXPECT_NE(result.failed[0].reason.find("1 of 1024 bytes in the host destination"), std::string::npos)
      << result.failed[0].reason;
}

TEST(Measure, reports_a_row_that_fails_and_measures_the_others) {
  FaultyDevice device({.refused_allocation = 1_KiB});
  const MeasureResult result = measure(device, quick("[cb]*.pinned.h2d"));
  ASSERT_EQ(result.failed.size(), 3u) << "of copies, bursts and batches";
  EXPECT_EQ(result.failed[0].point, "copy.pinned.h2d");
  EXPECT_EQ(result.failed[0].reason, "no memory left");
  FaultyDevice healthy_for_kernels({.refused_allocation = 1_KiB});
  EXPECT_FALSE(measure(healthy_for_kernels, quick("[cl]*")).measurements.empty()) << "launches need no memory";
}

TEST(Measure, fails_a_row_whose_memory_is_on_another_numa_node_than_its_name_says) {
  FaultyDevice device({.numa_node = 3});
  const MeasureResult result = measure(device, quick("copy.pinned.h2d"));
  EXPECT_TRUE(result.measurements.empty());
  ASSERT_EQ(result.failed.size(), 1u);
  EXPECT_NE(result.failed[0].reason.find("NUMA node 3 instead of 0"), std::string::npos) << result.failed[0].reason;
}

TEST(Measure, marks_samples_that_were_taken_while_clocks_were_held_down) {
  FaultyDevice held({.clocks_held_by = "power cap"});
  const MeasureResult result = measure(held, quick("copy.pinned.h2d"));
  ASSERT_FALSE(result.measurements.empty());
  for (const Measurement& m : result.measurements) EXPECT_EQ(m.held_by, "power cap");
  EXPECT_EQ(condition(result.state, "gpu.clocks_held_by"), "power cap");
  EXPECT_EQ(condition(result.state, "host.numa_placement"), "verified");
}

TEST(Measure, finds_the_planted_times_of_copies_between_two_gpus) {
  Profile truth = planted_profile();
  truth.gpus.push_back(truth.gpus.front());
  truth.links.push_back(truth.links.front());
  truth.links[1].gpu = 1;
  const auto us = [](double value) { return Interval<Seconds>::exact(microseconds(value)); };
  for (const std::uint16_t from : {std::uint16_t{0}, std::uint16_t{1}})
    truth.peers.push_back({.from = from,
                           .to = static_cast<std::uint16_t>(1 - from),
                           .direct = {{1_MiB, us(5)}, {64_MiB, us(172)}},
                           .staged = {{1_MiB, us(56)}, {64_MiB, us(1800)}}});
  const auto device = open_virtual(truth, "virtual:two");
  const MeasureResult result = measure(*device, quick("[pa]*.*", 1_MiB));
  for (const FailedPoint& point : result.failed) ADD_FAILURE() << point.point << ": " << point.reason;
  const Profile fitted = fit(result.measurements, device->info());
  ASSERT_EQ(fitted.gpus.size(), 2u);
  ASSERT_EQ(fitted.peers.size(), 2u);
  for (const PeerModel& peer : fitted.peers) {
    ASSERT_EQ(peer.direct.size(), 1u);
    EXPECT_NEAR(in_microseconds(peer.direct[0].time.value), 5, 1e-3);
    ASSERT_EQ(peer.staged.size(), 1u);
    EXPECT_NEAR(in_microseconds(peer.staged[0].time.value), 56, 1e-2);
  }
}

const std::vector<std::string> rows_of_all{"copy.pinned.h2d", "copy.pinned.d2h", "copy.pinned.both",
                                           "all.h2d",         "all.d2h",         "all.both"};

TEST(Measure, finds_the_planted_rates_of_all_gpus_together_and_of_two_behind_one_uplink) {
  Profile truth = with_gpus(planted_profile(), 3);
  const auto gbs = [](double rate) { return Interval<Bandwidth>::exact(gigabytes_per_second(rate)); };
  truth.shared = {{.gpus = {1, 2}, .h2d = gbs(80), .d2h = gbs(79), .both = gbs(100)},
                  {.gpus = {0, 1, 2}, .h2d = gbs(105), .d2h = gbs(104), .both = gbs(120)}};
  const auto device = open_virtual(truth, "virtual:three");
  const MeasureResult result = measure(*device, {.largest = 16_MiB, .rows = rows_of_all, .progress = {}});
  const Profile fitted = fit(result.measurements, device->info());
  ASSERT_EQ(fitted.shared.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(fitted.shared[i].gpus, truth.shared[i].gpus);
    const auto near = [](const Interval<Bandwidth>& found, const Interval<Bandwidth>& planted) {
      EXPECT_NEAR(found.value.bytes_per_second / planted.value.bytes_per_second, 1, 0.01);
    };
    near(fitted.shared[i].h2d, truth.shared[i].h2d);
    near(fitted.shared[i].d2h, truth.shared[i].d2h);
    near(fitted.shared[i].both, truth.shared[i].both);
  }
}

TEST(Measure, finds_the_sum_of_the_links_where_gpus_share_nothing) {
  const Profile truth = with_gpus(planted_profile(), 2);
  const auto device = open_virtual(truth, "virtual:two");
  const MeasureResult result = measure(*device, {.largest = 16_MiB, .rows = rows_of_all, .progress = {}});
  const Profile fitted = fit(result.measurements, device->info());
  ASSERT_EQ(fitted.shared.size(), 1u);
  EXPECT_EQ(fitted.shared[0].gpus, (std::vector<std::uint16_t>{0, 1}));
  EXPECT_NEAR(fitted.shared[0].h2d.value.bytes_per_second, 2 * 55e9, 1e9);
  EXPECT_NEAR(fitted.shared[0].d2h.value.bytes_per_second, 2 * 54e9, 1e9);
  EXPECT_NEAR(fitted.shared[0].both.value.bytes_per_second, 2 * (50.8e9 + 50.5e9), 5e9);
}

TEST(Measure, skips_what_the_device_does_not_have_with_the_reason) {
  Profile profile = planted_profile();
  profile.gpus[0].memory_bandwidth.reset();
  profile.gpus[0].copy_engines = 1;
  const auto device = open_virtual(profile, "virtual:planted");
  MeasureResult result = measure(*device, quick("[dk]*"));
  std::erase_if(result.skipped, [](const SkippedPrimitive& s) {
    return s.reason.find("is one GPU") != s.reason.npos || s.primitive.starts_with("demand.h2d.");
  });
  ASSERT_EQ(result.skipped.size(), 4u);
  EXPECT_EQ(result.skipped[0].primitive, "duplex.pinned.h2d");
  EXPECT_NE(result.skipped[0].reason.find("one copy engine"), std::string::npos);
  EXPECT_EQ(result.skipped[1].primitive, "duplex.pinned.d2h");
  EXPECT_EQ(result.skipped[2].primitive, "demand.both");
  EXPECT_EQ(result.skipped[2].reason, "left out of a quick measurement");
  EXPECT_EQ(result.skipped[3].primitive, "kernel.stream");
  EXPECT_NE(result.skipped[3].reason.find("memory bandwidth"), std::string::npos);
}

TEST(Measure, takes_over_what_an_earlier_run_has_and_measures_the_rest) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  const MeasureResult whole = measure(*device, quick("burst.pinned.*"));
  ASSERT_GT(whole.measurements.size(), 8u);

  // Half of it is there, with figures that give it away; of one point only one of its two variants; one is damaged.
  MeasureOptions options = quick("burst.pinned.*");
  options.have.assign(whole.measurements.begin(), whole.measurements.begin() + 7);
  options.have.push_back(whole.measurements.back());  // of the last row, again without its other variant
  for (Measurement& m : options.have) m.samples_us = {1, 2, 3};
  for (const std::size_t i : {2u, 3u}) options.have[i].visits = 2;  // the first point that is whole
  options.have[0].verified = false;
  std::size_t rows = 0;
  options.row_done = [&](const MeasureResult& so_far) {
    ++rows;
    // Interrupted now, nothing of the earlier run is lost, of whichever row.
    for (const Measurement& kept : options.have)
      EXPECT_TRUE(std::ranges::any_of(so_far.measurements, [&](const Measurement& m) {
        return m.primitive == kept.primitive && m.arguments == kept.arguments;
      }));
  };
  const MeasureResult resumed = measure(*device, options);
  EXPECT_EQ(rows, 3u) << "the first row again, for the point that was visited once";
  ASSERT_EQ(resumed.measurements.size(), whole.measurements.size());
  for (std::size_t i = 0; i < resumed.measurements.size(); ++i) {
    EXPECT_EQ(resumed.measurements[i].arguments, whole.measurements[i].arguments);
    const bool taken = i >= 2 && i < 6;  // whole points of two
    const std::vector<double>& us = resumed.measurements[i].samples_us;
    EXPECT_EQ(us.size() >= 3 && us[0] == 1 && us[1] == 2 && us[2] == 3, taken) << i;
    EXPECT_EQ(resumed.measurements[i].visits, taken ? 2u : 1u) << i;
    if (taken) {
      EXPECT_EQ(us.size(), i < 4 ? 3u : 6u) << i << ": as many again where there was one visit";
    }
    EXPECT_TRUE(resumed.measurements[i].verified);
  }
}

TEST(Measure, tells_its_progress_before_every_point) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  std::vector<std::string> points;
  MeasureOptions options = quick("copy.pinned.*", 16_KiB);
  options.progress = [&](std::string_view point, std::size_t done, std::size_t total) {
    EXPECT_EQ(done, points.size());
    EXPECT_EQ(total, 6u);
    points.emplace_back(point);
  };
  measure(*device, options);
  EXPECT_EQ(points.size(), 6u);
  EXPECT_EQ(points.front(), "copy.pinned.h2d 1 B");
  EXPECT_EQ(points.back(), "copy.pinned.d2h 16 KiB");
}

TEST(Measure, leaves_sizes_out_that_are_not_asked_for) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  MeasureOptions options = quick("copy.pinned.h2d", 256_KiB);
  options.smallest = 16_KiB;
  const MeasureResult result = measure(*device, options);
  ASSERT_EQ(result.measurements.size(), 3u) << "16, 64 and 256 KiB of 1 B, 1, 16, 64, 256 KiB, 1 MiB …";
  EXPECT_EQ(result.measurements.front().arguments.at("bytes"), 16384);
  EXPECT_EQ(result.measurements.back().arguments.at("bytes"), 262144);
  options.only = "latency.copy.h2d";
  ASSERT_EQ(measure(*device, options).skipped.size(), 1u);
  EXPECT_NE(measure(*device, options).skipped.front().reason.find("sizes asked for"), std::string::npos);
  options.smallest = 1_MiB;
  EXPECT_THROW(measure(*device, options), UsageError);
}

TEST(Measure, skips_host_copies_whose_threads_would_have_less_than_a_page) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  const MeasureResult result = measure(*device, quick("host.copy", 16_KiB));  // by 1 and by 8 threads
  EXPECT_TRUE(result.failed.empty());
  ASSERT_EQ(result.skipped.size(), 1u);
  EXPECT_NE(result.skipped.front().reason.find("less than a page"), std::string::npos);
}

TEST(Measure, releases_its_memory) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  const Bytes before = device->info().free_memory;
  measure(*device, quick("*.pinned.h2d"));
  EXPECT_EQ(device->info().free_memory, before);
}

TEST(Measure, goes_on_without_the_state_of_a_device_that_cannot_tell_it) {
  FaultyDevice silent({.state_is_unreadable = true});
  FaultyDevice telling({});
  const MeasureResult without = measure(silent, quick("launch.*"));
  const MeasureResult with = measure(telling, quick("launch.*"));
  EXPECT_FALSE(without.state.contains("gpu.link_loaded"));
  EXPECT_EQ(with.state.at("gpu.link_loaded"), "32.0 GT/s PCIe x16");
  EXPECT_TRUE(without.failed.empty());
  ASSERT_EQ(without.measurements.size(), with.measurements.size());
  for (std::size_t i = 0; i < with.measurements.size(); ++i)
    EXPECT_EQ(without.measurements[i].samples_us, with.measurements[i].samples_us);
}

}  // namespace
}  // namespace shiplap
