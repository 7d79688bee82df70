#include "shiplap/measure/limits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace shiplap {
namespace {

// What an H200 in a PCIe 5.0 slot records of itself.
const Conditions h200{{"gpu.link", "32.0 GT/s PCIe x16"},
                      {"gpu.memory_clock_max", "3201 MHz"},
                      {"gpu.memory_bus_width", "6016 bits"},
                      {"gpu.sm_clock_max", "1980 MHz"},
                      {"gpu.compute_capability", "9.0"}};

// 32e9 transfers a second of 16 lanes, a bit each, of which 128 in 130 are data.
constexpr double link_rate = 32e9 * 16 / 8 * 128 / 130;
// 3201e6 a second, 2 transfers each, of 6016 bits.
constexpr double memory_rate = 3201e6 * 2 * 6016 / 8;

Conditions without(const std::string& condition) {
  Conditions left = h200;
  left.erase(condition);
  return left;
}
Conditions with(const std::string& condition, const std::string& value) {
  Conditions changed = h200;
  changed[condition] = value;
  return changed;
}

Figure figure(std::string primitive, std::map<std::string, double> arguments = {}) {
  return {.primitive = std::move(primitive), .arguments = std::move(arguments), .time = {}, .bytes = 1_MiB};
}
double limit(const std::string& primitive, const Conditions& conditions = h200) {
  return limit_of(figure(primitive), conditions).value_or(0);
}

TEST(DeviceMemoryLimit, is_clock_times_width_times_two_transfers) {
  EXPECT_NEAR(device_memory_limit(h200), 4814.3e9, 0.1e9);  // 3.201 GHz · 2 · 752 B
}

TEST(DeviceMemoryLimit, is_nothing_when_a_condition_is_missing_or_unknown) {
  for (const char* condition : {"gpu.memory_clock_max", "gpu.memory_bus_width"}) {
    EXPECT_EQ(device_memory_limit(without(condition)), 0) << condition;
    EXPECT_EQ(device_memory_limit(with(condition, "unknown")), 0) << condition;
  }
}

TEST(ArithmeticLimit, is_two_operations_for_each_multiply_add_of_each_multiprocessor) {
  EXPECT_NEAR(arithmetic_limit(h200, 132), 66.908e12, 0.001e12);  // 132 · 128 · 2 · 1.98 GHz
  // An A100: 108 SMs with 64 each at 1.41 GHz, 19.49 Tflop/s as its maker says.
  Conditions a100 = with("gpu.compute_capability", "8.0");
  a100["gpu.sm_clock_max"] = "1410 MHz";
  EXPECT_NEAR(arithmetic_limit(a100, 108), 19.49e12, 0.01e12);
}

TEST(ArithmeticLimit, is_nothing_for_an_unknown_clock_or_capability) {
  EXPECT_EQ(arithmetic_limit(without("gpu.sm_clock_max"), 132), 0);
  EXPECT_EQ(arithmetic_limit(without("gpu.compute_capability"), 132), 0);
  EXPECT_EQ(arithmetic_limit(with("gpu.compute_capability", "99.0"), 132), 0);
}

TEST(LimitOf, copies_and_kernels_over_the_link_is_the_link) {
  for (const char* primitive :
       {"copy.pinned.h2d", "burst.pinned.d2h", "mapped.read", "batch.pinned.h2d", "graph.pinned.d2h",
        "duplex.pinned.h2d", "prefetch.h2d", "staged.h2d", "numa.copy.pinned.h2d"})
    EXPECT_NEAR(limit(primitive), link_rate, 1) << primitive;
  EXPECT_NEAR(link_rate, 63.015e9, 1e6);
}

TEST(LimitOf, both_directions_is_twice_the_link) {
  for (const char* primitive :
       {"copy.pinned.both", "copy.pinned.both.flushed", "mapped.both", "numa.copy.pageable.both"})
    EXPECT_NEAR(limit(primitive), 2 * link_rate, 1) << primitive;
}

TEST(LimitOf, several_gpus_at_once_is_a_link_for_each) {
  const auto of = [](const char* primitive, double gpus) {
    return limit_of(figure(primitive, {{"gpus", gpus}}), h200).value_or(0);
  };
  EXPECT_NEAR(of("all.h2d", 2), 2 * link_rate, 1);
  EXPECT_NEAR(of("all.d2h", 8), 8 * link_rate, 1);
  EXPECT_NEAR(of("all.both", 4), 4 * 2 * link_rate, 1);
}

TEST(LimitOf, device_memory_counts_a_copied_byte_as_read_and_written) {
  EXPECT_NEAR(limit("kernel.stream"), memory_rate, 1);
  EXPECT_NEAR(limit("copy.device"), memory_rate / 2, 1);
  EXPECT_EQ(limit("copy.device", without("gpu.memory_bus_width")), 0);
  EXPECT_NEAR(limit("copy.device", without("gpu.link")), memory_rate / 2, 1) << "needs no link";
}

TEST(LimitOf, is_none_for_what_other_parts_limit) {
  for (const char* primitive :
       {"host.copy", "host.copy.both", "numa.host.copy", "peer.copy", "peer.read.both", "prefetch.peer", "demand.peer"})
    EXPECT_FALSE(limit_of(figure(primitive), h200)) << primitive;
}

TEST(LimitOf, is_none_without_bytes) {
  Figure latency = figure("launch.latency");
  latency.bytes.reset();
  EXPECT_FALSE(limit_of(latency, h200));
}

TEST(LimitOf, is_none_on_a_link_that_is_not_known) {
  EXPECT_FALSE(limit_of(figure("copy.pinned.h2d"), without("gpu.link")));
  for (const char* unknown : {"unknown", "NVLink-C2C"})
    EXPECT_FALSE(limit_of(figure("copy.pinned.both"), with("gpu.link", unknown))) << unknown;
}

TEST(LimitOf, stands_beside_the_figures_of_measurements) {
  const std::vector<Measurement> measured{{.primitive = "copy.pinned.both",
                                           .arguments = {{"bytes", 1 << 20}},
                                           .clock = "events",
                                           .samples_us = {40},
                                           .verified = true},
                                          {.primitive = "launch.latency",
                                           .arguments = {{"kernels", 1}},
                                           .clock = "events",
                                           .samples_us = {2},
                                           .verified = true}};
  const auto known = figures(measured, h200);
  ASSERT_EQ(known.size(), 2u);
  EXPECT_NEAR(known[0].limit.value_or(0), 2 * link_rate, 1);
  EXPECT_FALSE(known[1].limit);
  EXPECT_FALSE(figures(measured)[0].limit) << "nothing is recorded of the node";
}

}  // namespace
}  // namespace shiplap
