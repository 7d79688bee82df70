// The loop that proves measuring: a planted profile plays the GPU, is measured, fitted, and must come out again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/measure/measure.hpp"
#include "tests/support/noisy_device.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

std::shared_ptr<MeasurableDevice> times_of(const Profile& profile) {
  return open_virtual(profile, "virtual:planted", VirtualBytes::left_out);
}

/// Only k·G and what does not grow with k can be told apart: a fixed cost of large copies that grows with their size is
/// part of G. So the truth has none.
void flatten_from(DirectionModel& direction, Bytes size) {
  std::erase_if(direction.costs, [&](const CopyCost& row) { return row.size > size; });
  std::erase_if(direction.duplex->gaps, [&](const GapAt& row) { return row.size > size; });
}

/// A true value and what the fit says about it, both in SI units.
struct Compared {
  std::string name;
  double truth;
  Estimate fitted;

  bool covered() const { return fitted.low <= truth && truth <= fitted.high; }
  double relative_error() const { return std::abs(fitted.value - truth) / truth; }
  double relative_half_width() const { return (fitted.high - fitted.low) / 2 / truth; }
};

Estimate plain(const Interval<Seconds>& i) { return {i.value.count(), i.low.count(), i.high.count()}; }
Estimate plain(const Interval<PerByte>& i) { return {i.value.seconds, i.low.seconds, i.high.seconds}; }
Estimate plain(const Interval<Bandwidth>& i) {
  return {i.value.bytes_per_second, i.low.bytes_per_second, i.high.bytes_per_second};
}
Estimate plain(const Estimate& i) { return i; }

/// Every parameter of the fit beside the truth. Tables are compared at the sizes of the fitted rows, which are the
/// sizes that were measured.
std::vector<Compared> compare_parameters(const Profile& truth, const Profile& fitted) {
  std::vector<Compared> all;
  const auto add = [&](const std::string& name, const auto& true_value, const auto& parameter) {
    ASSERT_TRUE(parameter) << name << " is missing";
    all.push_back({name, plain(*true_value).value, plain(*parameter)});
  };
  const GpuModel& gpu = truth.gpus[0];
  const GpuModel& found = fitted.gpus[0];
  add("launch latency", gpu.launch_latency, found.launch_latency);
  add("kernel gap", gpu.kernel_gap, found.kernel_gap);
  EXPECT_EQ(found.engine_order, gpu.engine_order);
  EXPECT_EQ(found.implicit_sync, gpu.implicit_sync);
  EXPECT_TRUE(found.handovers);
  const auto add_handover = [&](const char* name, Interval<Seconds> HandoverModel::*member) {
    if (!found.handovers) return;
    all.push_back({name, ((*gpu.handovers).*member).value.count(), plain((*found.handovers).*member)});
  };
  add_handover("handover h2d, same stream", &HandoverModel::h2d_same_stream);
  add_handover("handover h2d, other stream", &HandoverModel::h2d_other_stream);
  add_handover("handover d2h, same stream", &HandoverModel::d2h_same_stream);
  add_handover("handover d2h, other stream", &HandoverModel::d2h_other_stream);
  add("resident threads", gpu.resident_threads, found.resident_threads);
  add("memory bandwidth", gpu.memory_bandwidth, found.memory_bandwidth);
  add("copies inside the GPU", gpu.copy_bandwidth, found.copy_bandwidth);
  add("flop rate", gpu.flop_rate, found.flop_rate);
  add("submission copy", truth.submission.copy, fitted.submission.copy);
  add("submission launch", truth.submission.launch, fitted.submission.launch);
  add("submission record", truth.submission.event_record, fitted.submission.event_record);
  add("submission wait", truth.submission.event_wait, fitted.submission.event_wait);
  const auto add_times = [&](const std::string& name, const std::vector<TimeAt>& planted,
                             const std::vector<TimeAt>& rows) {
    EXPECT_FALSE(rows.empty()) << name;
    for (const TimeAt& row : rows)
      all.push_back({name + " of " + to_string(row.size), time_at(planted, row.size).count(), plain(row.time)});
  };
  const auto add_rates = [&](const std::string& name, const std::vector<RateOfThreads>& planted,
                             const std::vector<RateOfThreads>& rows) {
    EXPECT_FALSE(rows.empty()) << name;
    for (const RateOfThreads& row : rows)
      all.push_back({fmt::format("{} by {}", name, row.threads), rate_of(planted, row.threads).bytes_per_second,
                     plain(row.rate)});
  };
  const auto& pageable = fitted.link(0).pageable;
  const auto& managed = fitted.link(0).managed;
  EXPECT_TRUE(pageable && managed && fitted.host);
  if (pageable && managed && fitted.host) {
    add_times("pageable h2d", truth.link(0).pageable->h2d, pageable->h2d);
    add_times("pageable d2h", truth.link(0).pageable->d2h, pageable->d2h);
    add_times("prefetch h2d", truth.link(0).managed->prefetch_h2d, managed->prefetch_h2d);
    add_times("prefetch d2h", truth.link(0).managed->prefetch_d2h, managed->prefetch_d2h);
    add_times("demand h2d", truth.link(0).managed->demand_h2d, managed->demand_h2d);
    add_rates("demand d2h", truth.link(0).managed->demand_d2h, managed->demand_d2h);
    add_rates("host copy", truth.host->copy, fitted.host->copy);
    for (const auto& [call, rows] : fitted.host->calls) add_times(call, truth.host->calls.at(call), rows);
  }
  EXPECT_EQ(fitted.gpus[0].stream_groups, truth.gpus[0].stream_groups);
  EXPECT_TRUE(fitted.link(0).zero_copy);
  if (fitted.link(0).zero_copy) {
    const ZeroCopyModel& planted = *truth.link(0).zero_copy;
    const ZeroCopyModel& model = *fitted.link(0).zero_copy;
    const auto at = [](std::string_view name, Bytes in_flight) {
      return fmt::format("zero copy {} with {} under way", name, to_string(in_flight));
    };
    for (const auto& [name, table] : zero_copy_rate_names)
      for (const ZeroCopyRate& row : model.*table)
        all.push_back({at(name, row.in_flight),
                       rate_at(planted.*table, static_cast<double>(row.in_flight.count)).bytes_per_second,
                       plain(row.rate)});
    for (const auto& [name, table] : zero_copy_beside_names)
      for (const ZeroCopyBeside& row : model.*table) {
        const auto in_flight = static_cast<double>(row.in_flight.count);
        all.push_back({at(name, row.in_flight) + ", kernel", kernel_rate_at(planted.*table, in_flight).bytes_per_second,
                       plain(row.kernel)});
        all.push_back({at(name, row.in_flight) + ", copy", copy_rate_at(planted.*table, in_flight).bytes_per_second,
                       plain(row.copy)});
      }
  }
  const auto& slowed = truth.link(0).waiting_streams;
  const auto& found_slowed = fitted.link(0).waiting_streams;
  EXPECT_TRUE(found_slowed);
  for (const auto& [name, member] : waiting_streams_names)
    if (found_slowed) {
      const Slowdown& planted = (*slowed).*member;
      const Slowdown& fitted_part = (*found_slowed).*member;
      all.push_back({fmt::format("waiting streams, {}, gap", name), planted.gap.value.count(), plain(fitted_part.gap)});
      all.push_back(
          {fmt::format("waiting streams, {}, G", name), planted.per_byte.value.seconds, plain(fitted_part.per_byte)});
    }
  for (const auto direction : {&LinkModel::h2d, &LinkModel::d2h}) {
    const std::string way = direction == &LinkModel::h2d ? "h2d " : "d2h ";
    const DirectionModel& planted = truth.link(0).*direction;
    const DirectionModel& model = fitted.link(0).*direction;
    all.push_back({way + "G", planted.per_byte.value.seconds, plain(model.per_byte)});
    for (const CopyCost& row : model.costs) {
      const CostAt cost = cost_at(planted, row.size);
      all.push_back(
          {way + "L+o at " + to_string(row.size), cost.latency_overhead.count(), plain(row.latency_overhead)});
      all.push_back({way + "g at " + to_string(row.size), cost.gap.count(), plain(row.gap)});
    }
    EXPECT_TRUE(model.duplex);
    if (!model.duplex) continue;
    all.push_back({way + "duplex G", planted.duplex->per_byte.value.seconds, plain(model.duplex->per_byte)});
    for (const GapAt& row : model.duplex->gaps)
      all.push_back(
          {way + "duplex g at " + to_string(row.size), duplex_gap_at(planted, row.size).count(), plain(row.gap)});
  }
  return all;
}

bool is(const std::string& name, std::string_view what) { return name.find(what) != std::string::npos; }

Profile measure_and_fit(MeasurableDevice& device, Effort effort, Bytes largest, const std::string& only = "*") {
  const MeasureResult result = measure(device, {.effort = effort, .largest = largest, .only = only, .progress = {}});
  for (const FailedPoint& point : result.failed) ADD_FAILURE() << point.point << ": " << point.reason;
  for (const SkippedPrimitive& row : result.skipped)
    if (row.reason != "left out of a quick measurement" && !is(row.reason, "is one GPU") &&
        !is(row.reason, "has one NUMA node"))
      ADD_FAILURE() << row.primitive << ": " << row.reason;
  return fit(result.measurements, device.info());
}

TEST(RoundTrip, recovers_every_planted_parameter_within_a_thousandth) {
  Profile truth = planted_profile();
  for (DirectionModel* direction : {&truth.links[0].h2d, &truth.links[0].d2h}) flatten_from(*direction, 16_MiB);
  const auto device = times_of(truth);
  const Profile fitted = measure_and_fit(*device, Effort::quick, 64_MiB);
  for (const Compared& parameter : compare_parameters(truth, fitted)) {
    const double allowed = is(parameter.name, "zero copy") ? 1e-2 : 1e-3;
    EXPECT_LT(parameter.relative_error(), allowed)
        << fmt::format("{}: planted {}, fitted {}", parameter.name, parameter.truth, parameter.fitted.value);
  }
  // The sizes at which the truth was planted, through the finished tables.
  for (const auto direction : {&LinkModel::h2d, &LinkModel::d2h}) {
    const DirectionModel& planted = truth.link(0).*direction;
    const DirectionModel& model = fitted.link(0).*direction;
    for (const CopyCost& row : planted.costs) {
      const CostAt cost = cost_at(model, row.size);
      EXPECT_NEAR(cost.latency_overhead / row.latency_overhead.value, 1, 1e-3) << to_string(row.size);
      EXPECT_NEAR(cost.gap / row.gap.value, 1, 1e-3) << to_string(row.size);
    }
    for (const GapAt& row : planted.duplex->gaps)
      EXPECT_NEAR(duplex_gap_at(model, row.size) / row.gap.value, 1, 1e-3) << to_string(row.size);
  }
}

TEST(RoundTrip, recovers_what_waiting_streams_cost_duplex_copies_whichever_direction_is_slower) {
  for (const double slower : {0.9, 1.1, 1.3}) {
    Profile truth = planted_profile();
    Interval<PerByte>& d2h = truth.links[0].d2h.duplex->per_byte;
    d2h = Interval<PerByte>::exact(PerByte{d2h.value.seconds * slower});
    const Profile fitted = measure_and_fit(*times_of(truth), Effort::quick, 64_MiB, "*.pinned.*");
    ASSERT_TRUE(fitted.link(0).waiting_streams);
    const Slowdown& planted = truth.link(0).waiting_streams->duplex;
    const Slowdown& found = fitted.link(0).waiting_streams->duplex;
    EXPECT_NEAR(found.gap.value / planted.gap.value, 1, 1e-3) << slower;
    EXPECT_NEAR(found.per_byte.value.seconds / planted.per_byte.value.seconds, 1, 1e-3) << slower;
  }
}

TEST(RoundTrip, explains_every_measured_time_even_where_fixed_costs_grow_with_large_copies) {
  // As planted, L+o and g go on growing up to 1 GiB; the fit counts that as rate, and its times are right all the same.
  const auto device = times_of(planted_profile());
  const Profile fitted = measure_and_fit(*device, Effort::quick, 64_MiB, "[cb]*");
  EXPECT_FALSE(fitted.residuals.empty());
  for (const Residual& residual : fitted.residuals)
    EXPECT_LT(residual.worst, 1e-3) << residual.parameter << " at " << residual.at;
  EXPECT_NEAR(fitted.link(0).h2d.per_byte.value.seconds, planted_profile().link(0).h2d.per_byte.value.seconds, 1e-14);
}

/// Breakpoints between the measured powers of two, and everything constant from 6 MiB on.
Profile off_grid_truth() {
  Profile truth = planted_profile();
  for (DirectionModel* direction : {&truth.links[0].h2d, &truth.links[0].d2h}) {
    std::vector<CopyCost>& costs = direction->costs;
    costs.resize(4);
    costs[1].size = 48_KiB;
    costs[2].size = 700_KiB;
    costs[3].size = 6_MiB;
    direction->duplex->gaps = {{300_KiB, costs[1].gap}, {3_MiB, costs[3].gap}};
    direction->duplex->gaps[1].gap.value *= 1.5;
  }
  return truth;
}

/// Times of a few µs, whose error is the step of the event clock and not the noise.
bool limited_by_the_clock(const std::string& name) {
  return name == "launch latency" || name == "resident threads" || (is(name, "L+o") && !is(name, "MiB"));
}

/// Intervals that cover everything would cover the truth as well: this wide, relative to the value, they may be.
/// Fixed costs of large copies drown in 2 % of the whole time and have no limit here.
double widest(const std::string& name) {
  if (limited_by_the_clock(name)) return 0.15;
  // What a long chain takes beyond its copies and kernels; and small differences of long times.
  if (is(name, "handover")) return std::numeric_limits<double>::infinity();
  if (is(name, "waiting streams")) return std::numeric_limits<double>::infinity();
  if (is(name, "launch of reads")) return std::numeric_limits<double>::infinity();
  // In a period in step, long kernels may leave the copies next to nothing.
  if ((is(name, "write_beside_h2d") || is(name, "read_beside_d2h")) && is(name, "copy"))
    return std::numeric_limits<double>::infinity();
  // Copies the other way outlast what is timed, so that the budget of a quick run holds few samples.
  if (is(name, "duplex G")) return 0.15;
  if (is(name, "copies inside")) return 0.03;  // a difference of two differences
  if (is(name, " G")) return 0.025;
  if (is(name, "MiB")) return std::numeric_limits<double>::infinity();
  if (is(name, "duplex g")) return 0.3;
  if (is(name, " g at")) return 0.1;
  if (is(name, "submission")) return 0.3;
  return 0.1;
}

/// What the middle one of several runs keeps within, where a single one may be unlucky with its samples.
double widest_of_the_middle(const std::string& name) {
  if (is(name, " G") && !is(name, "duplex") && !is(name, "waiting streams")) return 0.02;
  if (is(name, " g at") && !is(name, "MiB")) return is(name, "duplex") ? 0.15 : 0.075;
  return widest(name);
}

// Staging is left out of quick measurements. How long the threads wait for copies in the end differs from what the fit
// takes off by less than one piece.
TEST(RoundTrip, recovers_the_rates_through_rings) {
  const Profile planted = planted_profile();
  const auto device = times_of(planted);
  std::vector<Measurement> measurements;
  for (const char* only : {"copy.pinned.*", "burst.*", "duplex.*", "staged.*"})
    for (Measurement& m : measure(*device, {.effort = is(only, "staged") ? Effort::standard : Effort::quick,
                                           .largest = 64_MiB,
                                           .only = only,
                                           .progress = {}})
                              .measurements)
      measurements.push_back(std::move(m));
  const Profile fitted = fit(measurements, device->info());
  ASSERT_TRUE(fitted.host);
  EXPECT_EQ(fitted.host->staging.size(), 5u);
  for (const RateThroughRings& row : fitted.host->staging) {
    const double truth = rate_of(staging_rates(*planted.host, row.rings), row.threads).bytes_per_second;
    EXPECT_NEAR(row.rate.value.bytes_per_second / truth, 1, 0.03)
        << row.threads << " threads, rings of " << to_string(row.rings);
  }
  // Pieces of 1 MiB take the threads as long as the engine: nothing is seen there.
  ASSERT_GE(fitted.host->written.size(), 2u);
  for (const GapAt& row : fitted.host->written)
    EXPECT_NEAR(row.gap.value / just_written_delay(*planted.host, row.size), 1, 0.05) << to_string(row.size);
}

TEST(RoundTrip, covers_the_truth_with_its_intervals_under_noise_and_coarse_clocks) {
  const Profile truth = off_grid_truth();
  std::size_t parameters = 0;
  std::size_t covered = 0;
  std::size_t sharp = 0;  // those whose interval is not merely the resolution of the event clock
  std::size_t sharp_covered = 0;
  std::string missed;
  std::map<std::string, std::vector<double>> widths;
  for (const std::uint64_t seed : {7, 8, 9}) {
    const auto device = make_noisy(times_of(truth), {.seed = seed, .relative = 0.02, .event_step = microseconds(0.5)});
    const Profile fitted = measure_and_fit(*device, Effort::quick, 64_MiB);
    for (const Compared& parameter : compare_parameters(truth, fitted)) {
      ++parameters;
      covered += parameter.covered();
      if (!parameter.covered())
        missed += fmt::format("seed {}: {}: {} not in [{}, {}]\n", seed, parameter.name, parameter.truth,
                              parameter.fitted.low, parameter.fitted.high);
      if (!limited_by_the_clock(parameter.name)) {
        ++sharp;
        sharp_covered += parameter.covered();
      }
      EXPECT_LT(parameter.relative_half_width(), widest(parameter.name)) << parameter.name;
      widths[parameter.name].push_back(parameter.relative_half_width());
    }
  }
  for (const auto& [name, of_runs] : widths) EXPECT_LT(median(of_runs), widest_of_the_middle(name)) << name;
  RecordProperty("coverage_percent", static_cast<int>(100 * covered / parameters));
  EXPECT_GE(static_cast<double>(covered), 0.9 * static_cast<double>(parameters)) << missed;
  EXPECT_GE(static_cast<double>(sharp_covered), 0.9 * static_cast<double>(sharp)) << missed;
}

}  // namespace
}  // namespace shiplap
