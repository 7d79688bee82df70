// Hosts with two NUMA nodes: the rows that measure each of them, and the link of the second one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/measure/host_trial.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/measure/trial_variants.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/intervals.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

// The planted node with a second NUMA node: copies at 40 and 38 GB/s instead of 55 and 54, pageable ones in half as
// long again. Beyond 1 MiB the fixed costs no longer grow, or they would pass for a part of the rate.
Profile two_nodes() {
  Profile p = planted_profile();
  for (DirectionModel* direction : {&p.links[0].h2d, &p.links[0].d2h})
    std::erase_if(direction->costs, [](const CopyCost& cost) { return cost.size > 1_MiB; });
  p.links.push_back(p.links[0]);
  LinkModel& far = p.links[1];
  far.numa_node = 1;
  far.h2d.per_byte = per_byte_at(40);
  far.d2h.per_byte = per_byte_at(38);
  for (auto table : {&PageableModel::h2d, &PageableModel::d2h, &PageableModel::both})
    for (TimeAt& row : (*far.pageable).*table) row.time = Interval<Seconds>::exact(1.5 * row.time.value);
  return p;
}

/// The same with pages of host memory where somebody else has put them.
class Elsewhere : public ForwardingDevice {
 public:
  explicit Elsewhere(std::optional<std::vector<unsigned>> nodes)
      : ForwardingDevice(open_virtual(two_nodes(), "virtual:two-nodes")), nodes_(std::move(nodes)) {}

  std::optional<std::vector<unsigned>> numa_nodes(const Memory&) const override { return nodes_; }

 private:
  std::optional<std::vector<unsigned>> nodes_;
};

/// Notes to which node the measuring thread is kept while it allocates, fills, compares and prepares what runs.
class NotesCores : public ForwardingDevice {
 public:
  explicit NotesCores(const Profile& profile) : ForwardingDevice(open_virtual(profile, "virtual:noted")) {}

  std::shared_ptr<void> on_cores_of(Place place) const override {
    EXPECT_FALSE(kept_to_) << "one binding at a time";
    kept_to_ = place;
    return {&kept_to_, [](std::optional<Place>* kept_to) { kept_to->reset(); }};
  }
  Memory allocate(Place place, MemoryKind kind, Bytes size) override {
    note(place);
    return ForwardingDevice::allocate(place, kind, size);
  }
  void fill(const Memory& memory, std::uint64_t seed) override {
    note(memory.place(), "bytes on ");
    ForwardingDevice::fill(memory, seed);
  }
  std::uint64_t mismatches(const Memory& memory, Bytes offset, Bytes length, std::uint64_t seed,
                           Bytes pattern_offset) override {
    note(memory.place(), "bytes on ");
    return ForwardingDevice::mismatches(memory, offset, length, seed, pattern_offset);
  }
  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    for (const Buffer& buffer : schedule.buffers) note(buffer.place);
    return ForwardingDevice::prepare(schedule, bindings);
  }

  bool is_kept() const { return kept_to_.has_value(); }
  /// Where the thread was kept ("node 1", "nearest" or "nowhere") when it allocated or used memory of a place of the
  /// host, and when it wrote or read its "bytes on" a node.
  using Noted = std::map<std::string, std::set<std::string>>;
  const Noted& noted() const { return noted_; }

 private:
  static std::string text(const std::optional<Place>& place) {
    if (!place) return "nowhere";
    return *place == Place::host() ? "nearest" : "node " + std::to_string(place->index);
  }
  void note(Place place, const std::string& what = "") {
    if (place.is_host()) noted_[what + text(place)].insert(text(kept_to_));
  }

  mutable std::optional<Place> kept_to_;
  Noted noted_;
};

constexpr Bytes largest_copy = 16_MiB;  // copies of 4 KiB, 64 KiB, 1 MiB and 16 MiB

MeasureResult measured(MeasurableDevice& device, const std::string& only, Effort effort = Effort::standard) {
  return measure(device, {.effort = effort, .largest = largest_copy, .only = only, .progress = {}});
}

std::set<std::string> numa_rows() {
  std::set<std::string> names;
  for (const Primitive& primitive : primitives())
    if (primitive.name.starts_with("numa.")) names.emplace(primitive.name);
  return names;
}

double time_of(const MeasureResult& result, const std::string& primitive, Bytes size, double node) {
  for (const Measurement& m : result.measurements)
    if (m.primitive == primitive && m.arguments.at("node") == node &&
        m.arguments.at("bytes") == static_cast<double>(size.count))
      return m.samples_us.front();
  ADD_FAILURE() << primitive << " was not measured with " << to_string(size) << " on node " << node;
  return 0;
}

TEST(NumaRows, are_measured_on_every_node) {
  const auto device = open_virtual(two_nodes(), "virtual:two-nodes");
  const MeasureResult result = measured(*device, "numa.*");
  for (const FailedPoint& point : result.failed) ADD_FAILURE() << point.point << ": " << point.reason;
  for (const SkippedPrimitive& row : result.skipped) ADD_FAILURE() << row.primitive << ": " << row.reason;
  std::map<std::string, std::map<double, int>> points;
  for (const Measurement& m : result.measurements) {
    ++points[m.primitive][m.arguments.at("node")];
    EXPECT_TRUE(m.verified) << m.primitive;
  }
  EXPECT_EQ(points.size(), numa_rows().size());
  EXPECT_GE(points.size(), 10u);
  for (const auto& [row, by_node] : points) {
    ASSERT_EQ(by_node.size(), 2u) << row;
    EXPECT_EQ(by_node.at(0), by_node.at(1)) << row;
  }
  EXPECT_EQ(condition(result.state, "host.numa_placement"), "verified");
}

TEST(NumaRows, take_the_time_of_the_link_to_their_node) {
  const auto device = open_virtual(two_nodes(), "virtual:two-nodes");
  const MeasureResult result = measured(*device, "numa.copy.*");
  // Planted: 5.1 µs and 55 GB/s, and 40 GB/s from the second node; back 5.2 µs and 54 GB/s, and 38 GB/s to it.
  EXPECT_NEAR(time_of(result, "numa.copy.pinned.h2d", 16_MiB, 0), 5.1 + 16777216 / 55e3, 1e-6);
  EXPECT_NEAR(time_of(result, "numa.copy.pinned.h2d", 16_MiB, 1), 5.1 + 16777216 / 40e3, 1e-6);
  EXPECT_NEAR(time_of(result, "numa.copy.pinned.d2h", 16_MiB, 0), 5.2 + 16777216 / 54e3, 1e-6);
  EXPECT_NEAR(time_of(result, "numa.copy.pinned.d2h", 16_MiB, 1), 5.2 + 16777216 / 38e3, 1e-6);
  EXPECT_NEAR(time_of(result, "numa.copy.pageable.h2d", 1_MiB, 0), 80, 1e-6);
  EXPECT_NEAR(time_of(result, "numa.copy.pageable.h2d", 1_MiB, 1), 120, 1e-6);
}

TEST(NumaRows, are_skipped_with_the_reason_on_a_host_with_one_node) {
  const auto device = open_virtual(planted_profile(), "virtual:planted");
  const MeasureResult result = measured(*device, "numa.*");
  EXPECT_TRUE(result.measurements.empty());
  EXPECT_TRUE(result.failed.empty());
  std::set<std::string> skipped;
  for (const auto& [row, reason] : result.skipped) {
    skipped.insert(row);
    EXPECT_EQ(reason, "this host has one NUMA node, which the other rows are measured on");
  }
  EXPECT_EQ(skipped, numa_rows());
}

TEST(NumaRows, fail_where_the_pages_lie_on_another_node_than_the_name_says) {
  Elsewhere device(std::vector<unsigned>{0});
  const MeasureResult result = measured(device, "numa.copy.pinned.h2d");
  ASSERT_EQ(result.failed.size(), 1u);
  EXPECT_EQ(result.failed[0].point, "numa.copy.pinned.h2d");
  EXPECT_NE(result.failed[0].reason.find("lie on NUMA node 0 instead of 1"), std::string::npos)
      << result.failed[0].reason;
  EXPECT_EQ(result.measurements.size(), 4u) << "what is on node 0 is right";
  for (const Measurement& m : result.measurements) EXPECT_EQ(m.arguments.at("node"), 0);
}

TEST(NumaRows, fail_where_the_pages_lie_on_several_nodes) {
  Elsewhere device(std::vector<unsigned>{0, 1});
  const MeasureResult result = measured(device, "numa.copy.pinned.h2d");
  EXPECT_TRUE(result.measurements.empty());
  ASSERT_EQ(result.failed.size(), 1u);
  EXPECT_NE(result.failed[0].reason.find("lie on NUMA node 0, 1 instead of 0"), std::string::npos)
      << result.failed[0].reason;
}

TEST(NumaRows, are_measured_where_nobody_can_tell_the_node_and_say_so) {
  Elsewhere device(std::nullopt);
  const MeasureResult result = measured(device, "numa.copy.pinned.h2d");
  EXPECT_TRUE(result.failed.empty());
  EXPECT_EQ(result.measurements.size(), 8u);
  EXPECT_EQ(condition(result.state, "host.numa_placement"), unknown_fact);
}

TEST(ThreadsOfARow, run_near_the_memory_of_the_row_on_hosts_with_several_nodes) {
  const auto noted_for = [](const std::string& rows) {
    NotesCores device(two_nodes());
    EXPECT_TRUE(measured(device, rows, Effort::quick).failed.empty()) << rows;
    EXPECT_FALSE(device.is_kept()) << rows;
    return device.noted();
  };
  const NotesCores::Noted nearest{{"nearest", {"nearest"}}, {"bytes on node 0", {"nearest"}}};
  EXPECT_EQ(noted_for("copy.p*.h2d"), nearest);
  EXPECT_EQ(noted_for("host.copy"), nearest);
  EXPECT_EQ(noted_for("numa.copy.p*.h2d"), (NotesCores::Noted{{"node 0", {"node 0"}},
                                                              {"node 1", {"node 1"}},
                                                              {"bytes on node 0", {"node 0"}},
                                                              {"bytes on node 1", {"node 1"}}}));
}

TEST(ThreadsOfARow, are_free_again_after_a_row_that_fails) {
  class Refusing : public NotesCores {
   public:
    Refusing() : NotesCores(two_nodes()) {}
    Memory allocate(Place, MemoryKind, Bytes) override { throw Error("no memory"); }
  };
  Refusing device;
  EXPECT_EQ(measured(device, "copy.pinned.h2d", Effort::quick).failed.size(), 1u);
  EXPECT_FALSE(device.is_kept());
}

TEST(ThreadsOfARow, stay_where_they_are_on_a_host_with_one_node) {
  NotesCores device(planted_profile());
  EXPECT_TRUE(measured(device, "copy.p*.h2d", Effort::quick).failed.empty());
  EXPECT_EQ(device.noted(), (NotesCores::Noted{{"nearest", {"nowhere"}}, {"bytes on node 0", {"nowhere"}}}));
}

TEST(OnNode, moves_host_memory_and_agents_and_nothing_else) {
  const auto device = open_virtual(two_nodes(), "virtual:two-nodes");
  for (const Trial& trial :
       {copy_burst(CopyDirection::host_to_device, 4_KiB, 3), duplex_copies(4_KiB, MemoryKind::pageable),
        host_copies(1_MiB, 4, false), prefetch(CopyDirection::host_to_device, 64_KiB),
        flushed(copy_burst(CopyDirection::device_to_host, 4_KiB, 1))}) {
    const Trial moved = on_node(trial, 1);
    const auto compare = [](const Schedule& was, const Schedule& is) {
      ASSERT_EQ(is.buffers.size(), was.buffers.size());
      for (std::size_t i = 0; i < is.buffers.size(); ++i) {
        EXPECT_EQ(is.buffers[i].place, was.buffers[i].place.is_host() ? Place::host(1) : was.buffers[i].place);
        EXPECT_EQ(is.buffers[i].size, was.buffers[i].size);
        EXPECT_EQ(is.buffers[i].memory, was.buffers[i].memory);
      }
      ASSERT_EQ(is.agents.size(), was.agents.size());
      for (const Agent& agent : is.agents) EXPECT_EQ(agent.numa_node, std::optional<std::uint16_t>(1));
      ASSERT_EQ(is.streams.size(), was.streams.size());
      for (std::size_t i = 0; i < is.streams.size(); ++i) EXPECT_EQ(is.streams[i].place, was.streams[i].place);
      ASSERT_EQ(is.ops.size(), was.ops.size());
      for (std::uint32_t i = 0; i < is.ops.size(); ++i) {
        EXPECT_EQ(is.ops[i].agent, was.ops[i].agent);
        EXPECT_EQ(is.ops[i].stream, was.ops[i].stream);
        EXPECT_EQ(describe(is, OpId{i}), describe(was, OpId{i}));
      }
    };
    compare(trial.schedule, moved.schedule);
    ASSERT_EQ(moved.before.has_value(), trial.before.has_value());
    if (trial.before) compare(*trial.before, *moved.before);
    EXPECT_EQ(moved.transfers.size(), trial.transfers.size());
  }
}

/// The first sample of every point, which is the same in every run on a simulated node.
std::map<std::string, double> first_samples(const MeasureResult& result) {
  std::map<std::string, double> samples;
  for (const Measurement& m : result.measurements) {
    std::string point = m.primitive;
    for (const auto& [name, value] : m.arguments) point += " " + name + " " + std::to_string(value);
    samples[point] = m.samples_us.front();
  }
  return samples;
}

TEST(OneNode, is_measured_alike_whatever_its_number) {
  const auto all_rows = [](std::uint16_t node) {
    Profile profile = planted_profile();
    profile.links[0].numa_node = node;
    const auto device = open_virtual(profile, "virtual:planted", VirtualBytes::left_out);
    return measured(*device, "*", Effort::quick);
  };
  const MeasureResult on_0 = all_rows(0);
  const MeasureResult on_1 = all_rows(1);
  EXPECT_EQ(first_samples(on_1), first_samples(on_0));
  EXPECT_GT(on_1.measurements.size(), 100u);
  EXPECT_EQ(on_1.failed.size(), on_0.failed.size());
  for (const FailedPoint& point : on_1.failed)
    EXPECT_EQ(point.reason.find("no link"), std::string::npos) << point.point << ": " << point.reason;
  for (const SkippedPrimitive& row : on_1.skipped)
    EXPECT_EQ(row.reason.find("no link"), std::string::npos) << row.primitive << ": " << row.reason;
  EXPECT_EQ(on_1.skipped.size(), on_0.skipped.size());
}

class FitNuma : public ::testing::Test {
 protected:
  /// With the rows of the first node that its link needs, and these of each node.
  static Profile fitted(const std::string& rows, const Profile& truth = two_nodes()) {
    const auto device = open_virtual(truth, "virtual:two-nodes", VirtualBytes::left_out);
    std::vector<Measurement> all = measured(*device, "[cb]*.pinned.[hd]2[hd]", Effort::quick).measurements;
    for (Measurement& m : measured(*device, rows).measurements) all.push_back(std::move(m));
    return fit(all, device->info());
  }
  static std::string reason(const Profile& profile, const std::string& parameter) {
    for (const Missing& missing : profile.missing)
      if (missing.parameter == parameter) return missing.reason;
    return "";
  }
};

TEST_F(FitNuma, finds_the_planted_rates_and_latencies_of_the_second_node) {
  const Profile profile = fitted("numa.*");
  ASSERT_EQ(profile.links.size(), 2u);
  EXPECT_EQ(profile.links[0].numa_node, 0);
  EXPECT_NEAR(profile.links[0].h2d.per_byte.value.seconds * 55e9, 1, 1e-3);
  const LinkModel& far = profile.link(0, 1);
  EXPECT_NEAR(far.h2d.per_byte.value.seconds * 40e9, 1, 1e-3);
  EXPECT_NEAR(far.d2h.per_byte.value.seconds * 38e9, 1, 1e-3);
  // 4 KiB lie at 4095/65535 of the way from 4.6 µs (1 B) to 4.8 µs (64 KiB); back from 4.65 µs to 4.85 µs.
  const double share = 4095.0 / 65535;
  const auto latency = [](const DirectionModel& direction, Bytes size) {
    return in_microseconds(cost_at(direction, size).latency_overhead);
  };
  EXPECT_NEAR(latency(far.h2d, 4_KiB), 4.6 + share * 0.2, 5e-3);
  EXPECT_NEAR(latency(far.h2d, 64_KiB), 4.8, 5e-3);
  EXPECT_NEAR(latency(far.h2d, 1_MiB), 5.1, 5e-3);
  EXPECT_NEAR(latency(far.d2h, 4_KiB), 4.65 + share * 0.2, 5e-3);
  EXPECT_NEAR(latency(far.d2h, 1_MiB), 5.2, 5e-3);
  EXPECT_NEAR(in_microseconds(cost_at(far.h2d, 1_MiB).gap), 2.75, 5e-3) << "the copy engine's, as on the first node";
}

TEST_F(FitNuma, finds_the_planted_times_of_pageable_copies_on_the_second_node) {
  const Profile profile = fitted("numa.copy.*");
  const auto& pageable = profile.link(0, 1).pageable;
  ASSERT_TRUE(pageable);
  const auto at = [](const std::vector<TimeAt>& table, Bytes size) { return in_microseconds(time_at(table, size)); };
  EXPECT_EQ(pageable->h2d.size(), 4u);
  EXPECT_NEAR(at(pageable->h2d, 4_KiB) / (1.5 * 3.3), 1, 1e-3);
  EXPECT_NEAR(at(pageable->h2d, 1_MiB) / (1.5 * 80), 1, 1e-3);
  EXPECT_NEAR(at(pageable->d2h, 4_KiB) / (1.5 * 8), 1, 1e-3);
  EXPECT_NEAR(at(pageable->d2h, 1_MiB) / (1.5 * 100), 1, 1e-3);
  // 16 MiB lie 12 doublings above 4 KiB (17 µs), 64 MiB (8500 µs) 14.
  ASSERT_EQ(pageable->both.size(), 1u);
  EXPECT_NEAR(at(pageable->both, 16_MiB) / (1.5 * 17 * std::pow(500, 12.0 / 14)), 1, 1e-3);
}

TEST_F(FitNuma, explains_what_the_second_node_lacks_so_that_the_profile_can_be_saved) {
  const Profile profile = fitted("numa.*");
  for (const char* what : {"links[1].h2d.duplex", "links[1].d2h.batched", "links[1].zero_copy", "links[1].managed"})
    EXPECT_NE(reason(profile, what), "") << what;
  EXPECT_EQ(reason(profile, "links[1].pageable"), "");
  const Profile read = profile_from_json(to_json(profile), "two nodes");
  ASSERT_EQ(read.links.size(), 2u);
  EXPECT_EQ(read.links[1].numa_node, 1);
}

TEST_F(FitNuma, leaves_pageable_memory_out_with_a_reason_where_it_was_not_measured) {
  const Profile profile = fitted("numa.copy.pinned.*");
  ASSERT_EQ(profile.links.size(), 2u);
  EXPECT_FALSE(profile.links[1].pageable);
  EXPECT_NE(reason(profile, "links[1].pageable").find("numa.copy.pageable"), std::string::npos);
}

TEST_F(FitNuma, keeps_the_nodes_apart_where_node_1_is_the_nearest) {
  Profile truth = two_nodes();
  std::swap(truth.links[0].numa_node, truth.links[1].numa_node);
  const Profile first = fitted("numa.*", truth);
  for (const Profile& profile : {first, fit_again(first)}) {
    ASSERT_EQ(profile.links.size(), 2u);
    EXPECT_EQ(profile.links[0].numa_node, 1);
    EXPECT_NEAR(profile.links[0].h2d.per_byte.value.seconds * 55e9, 1, 1e-3) << "the nearest";
    EXPECT_EQ(profile.links[1].numa_node, 0);
    EXPECT_NEAR(profile.links[1].h2d.per_byte.value.seconds * 40e9, 1, 1e-3) << "the other";
  }
}

TEST_F(FitNuma, makes_no_second_link_of_one_direction) { EXPECT_EQ(fitted("numa.copy.pinned.h2d").links.size(), 1u); }

}  // namespace
}  // namespace shiplap
