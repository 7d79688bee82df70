#include "shiplap/measure/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/measure/trial.hpp"
#include "tests/support/measurements.hpp"

namespace shiplap {
namespace {

using testing::events;
using testing::host;

DeviceInfo some_device() {
  DeviceInfo info;
  info.id = "cuda:0";
  info.name = "NVIDIA H200";
  info.memory = 141_GiB;
  info.sm_count = 132;
  info.copy_engines = 3;
  info.conditions = {{"driver", "580"}};
  return info;
}

constexpr double mib = 1024.0 * 1024;

/// Copies at 50 GB/s (20 ps a byte) with L+o = 5 µs and g = 3 µs, 6 and 4 from 16 MiB on.
std::vector<Measurement> copies() {
  std::vector<Measurement> all;
  for (const char* way : {"h2d", "d2h"}) {
    for (const double bytes : {1., 1 * mib, 16 * mib, 32 * mib, 64 * mib}) {
      const double large = bytes >= 16 * mib ? 1 : 0;
      const double flow = bytes * 20e-6;  // µs
      all.push_back(events(std::string("copy.pinned.") + way, {{"bytes", bytes}}, 5 + large + flow));
      for (const double n : {1., 9.})
        all.push_back(events(std::string("burst.pinned.") + way, {{"bytes", bytes}, {"copies", n}},
                             5 + large + n * flow + (n - 1) * (3 + large)));
    }
  }
  return all;
}

bool lists(const Profile& profile, std::string_view parameter) {
  return std::ranges::any_of(profile.missing, [&](const Missing& m) { return m.parameter == parameter; });
}

TEST(Fit, separates_latency_gap_and_rate_of_copies) {
  const Profile profile = fit(copies(), some_device());
  const DirectionModel& h2d = profile.link(0).h2d;
  EXPECT_NEAR(h2d.per_byte.value.seconds, 20e-12, 1e-18);
  for (const auto& [size, latency, gap] :
       {std::tuple{1_B, 5., 3.}, {1_MiB, 5., 3.}, {16_MiB, 6., 4.}, {1_GiB, 6., 4.}}) {
    EXPECT_NEAR(in_microseconds(cost_at(h2d, size).latency_overhead), latency, 1e-6);
    EXPECT_NEAR(in_microseconds(cost_at(h2d, size).gap), gap, 1e-6);
  }
  EXPECT_EQ(h2d.costs.back().size, 16_MiB) << "what holds for all large sizes stands once";
}

TEST(Fit, says_of_a_virtual_device_that_the_profile_is_simulated_also_when_it_is_fitted_again) {
  DeviceInfo info = some_device();
  info.is_virtual = true;
  const Profile profile = fit(copies(), info);
  EXPECT_EQ(profile.origin, Origin::simulated);
  EXPECT_EQ(profile.name, "nvidia-h200-simulated");
  EXPECT_EQ(fit_again(profile).origin, Origin::simulated);
  EXPECT_EQ(fit_again(profile).name, profile.name);
}

TEST(Fit, names_the_profile_after_the_device_and_takes_over_its_conditions) {
  const Profile profile = fit(copies(), some_device());
  EXPECT_EQ(profile.name, "nvidia-h200");
  EXPECT_EQ(profile.origin, Origin::measured);
  EXPECT_EQ(profile.source, "shiplap measure");
  EXPECT_EQ(profile.conditions.at("driver"), "580");
  EXPECT_EQ(profile.gpus.at(0).copy_engines, 2u) << "of three reported, the simulator uses one each way";
  EXPECT_EQ(profile.measurements.size(), copies().size());
}

TEST(Fit, lists_what_was_not_measured_instead_of_inventing_it) {
  const Profile profile = fit({}, some_device());
  EXPECT_TRUE(profile.links.empty());
  for (const char* parameter :
       {"links", "gpus[0].launch_latency", "gpus[0].kernel_gap", "gpus[0].engine_order", "gpus[0].implicit_sync",
        "gpus[0].handovers", "gpus[0].resident_threads", "gpus[0].memory_bandwidth", "gpus[0].flop_rate",
        "submission.copy", "submission.launch", "submission.event_record", "submission.event_wait"})
    EXPECT_TRUE(lists(profile, parameter)) << parameter;
  EXPECT_FALSE(profile.gpus[0].launch_latency);
  EXPECT_FALSE(profile.submission.copy);
  EXPECT_TRUE(lists(fit(copies(), some_device()), "links[0].h2d.duplex"));
}

TEST(Fit, gives_profiles_that_can_be_written_and_read_whatever_was_measured) {
  for (const auto& measurements : {std::vector<Measurement>{}, copies()}) {
    const Profile profile = fit(measurements, some_device());
    EXPECT_EQ(parameter_hash(profile_from_json(to_json(profile), "test")), parameter_hash(profile));
  }
}

TEST(Fit, does_not_use_points_that_were_not_verified) {
  std::vector<Measurement> measurements = copies();
  Measurement wrong = events("copy.pinned.h2d", {{"bytes", 128 * mib}}, 1.0);
  wrong.verified = false;
  measurements.push_back(wrong);
  EXPECT_NEAR(fit(measurements, some_device()).link(0).h2d.per_byte.value.seconds, 20e-12, 1e-18);
}

TEST(Fit, takes_gaps_as_zero_and_says_so_when_no_burst_was_measured) {
  std::vector<Measurement> measurements = copies();
  std::erase_if(measurements, [](const Measurement& m) { return m.primitive.starts_with("burst"); });
  const Profile profile = fit(measurements, some_device());
  EXPECT_EQ(cost_at(profile.link(0).h2d, 1_MiB).gap, Seconds{0});
  EXPECT_TRUE(lists(profile, "links[0].h2d.costs.gap"));
}

TEST(Fit, counts_the_resolution_of_the_events_in_every_interval) {
  // No two samples differ: 0.5 µs is assumed, ± 0.566 / 2 µs for a uniform error of that width at 1.96 σ.
  std::vector<Measurement> measurements{events("launch.latency", {{"kernels", 1}}, 2.5)};
  const auto latency = fit(measurements, some_device()).gpus[0].launch_latency;
  EXPECT_NEAR(in_microseconds(latency->high) - 2.5, 1.96 * 0.5 / std::sqrt(12.0), 1e-4);
  EXPECT_LE(in_microseconds(latency->low), 2.25);
  // The host's clock has no such steps.
  const std::vector<Measurement> submissions{host("submit.copy", {{"copies", 10}}, 25),
                                             host("submit.copy", {{"copies", 110}}, 225)};
  const auto copy = fit(submissions, some_device()).submission.copy;
  EXPECT_NEAR(in_microseconds(copy->value), 2, 1e-9);
  EXPECT_NEAR(in_microseconds(copy->high - copy->low), 0, 1e-9);
}

TEST(EventResolution, is_the_least_step_between_samples_of_a_short_point_and_at_most_half_a_microsecond) {
  EXPECT_DOUBLE_EQ(in_microseconds(event_resolution({})), 0.5);
  const std::vector<Measurement> fine{events("launch.latency", {{"kernels", 1}}, {2.016, 2.048, 2.112, 2.048, 2.016})};
  EXPECT_NEAR(in_microseconds(event_resolution(fine)), 0.032, 1e-9);
  const std::vector<Measurement> coarse{events("launch.latency", {{"kernels", 1}}, {2, 5, 2, 5, 5})};
  EXPECT_DOUBLE_EQ(in_microseconds(event_resolution(coarse)), 0.5);
  const std::vector<Measurement> by_host{host("submit.copy", {{"copies", 1}}, 2)};
  EXPECT_DOUBLE_EQ(in_microseconds(event_resolution(by_host)), 0.5);
}

TEST(Fit, has_no_negative_costs) {
  // A fixed cost that seems negative (single copies ran 1 % faster than bursts) is none.
  std::vector<Measurement> measurements;
  for (const char* way : {"h2d", "d2h"})
    for (const double bytes : {16 * mib, 32 * mib, 64 * mib})
      measurements.push_back(events(std::string("copy.pinned.") + way, {{"bytes", bytes}}, bytes * 20e-6 - 3));
  const Profile profile = fit(measurements, some_device());
  const CopyCost& cost = profile.link(0).h2d.costs.front();
  EXPECT_EQ(cost.latency_overhead.value, Seconds{0});
  EXPECT_EQ(cost.latency_overhead.low, Seconds{0});
  EXPECT_NO_THROW(profile_from_json(to_json(profile), "test"));
}

TEST(Fit, finds_the_order_of_copy_engines_and_implicit_synchronisation_by_copies_behind_kernels) {
  // Times in µs of a copy alone, behind a kernel of one wave of 10 µs, and behind one of four waves.
  const auto found = [](const std::array<double, 3>& h2d, const std::array<double, 3>& d2h) {
    std::vector<Measurement> measurements;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::map<std::string, double> which{{"bytes", 65536}, {"blocks", i == 0 ? 0. : i == 1 ? 264. : 1056.}};
      measurements.push_back(events("behind.h2d", which, h2d[i]));
      measurements.push_back(events("behind.d2h", which, d2h[i]));
    }
    const GpuModel gpu = fit(measurements, some_device()).gpus[0];
    return std::pair{gpu.engine_order, gpu.implicit_sync};
  };
  using Found = std::pair<EngineOrder, ImplicitSync>;
  EXPECT_EQ(found({4, 4.5, 5}, {4, 5, 4.5}), (Found{EngineOrder::readiness, ImplicitSync::none}));
  EXPECT_EQ(found({4, 16, 46}, {4, 5, 5}), (Found{EngineOrder::submission, ImplicitSync::none}));
  EXPECT_EQ(found({4, 5, 5}, {4, 5, 34}), (Found{EngineOrder::readiness, ImplicitSync::until_started}));
  EXPECT_EQ(found({4, 5, 5}, {4, 14, 44}), (Found{EngineOrder::readiness, ImplicitSync::until_ended}));
}

TEST(Fit, finds_the_groups_of_streams_by_the_turns_that_the_first_and_the_second_have) {
  // Copies of 1 MiB take 20.97 µs and are 3 apart, in copies(). A kernel waits for the copy, a fifth of one longer.
  using Turns = std::vector<double>;
  const auto groups = [](const Turns& of_the_first, const Turns& of_the_second) {
    std::vector<Measurement> measurements = copies();
    for (const auto& [stream, turns] : {std::pair{0.0, of_the_first}, {1.0, of_the_second}}) {
      std::vector<double> samples;
      for (const double turn : turns) samples.push_back((turn + 0.2) * (mib * 20e-6 + 3));
      measurements.push_back(events("order.streams", {{"bytes", mib}, {"streams", 16}, {"stream", stream}}, samples));
    }
    return fit(measurements, some_device()).gpus[0].stream_groups;
  };
  // As seen on an H200: an engine begins with any of the groups.
  EXPECT_EQ(groups({1, 13, 13, 5, 1, 5, 13, 9, 1, 9.5}, {9, 9, 13, 5, 9, 9, 1, 5, 13, 9.3}), 4u);
  EXPECT_EQ(groups({1, 1, 1}, {5, 5, 5}), 4u) << "with the first group";
  EXPECT_EQ(groups({1, 1, 9}, {9, 9, 1}), 2u);
  EXPECT_EQ(groups({1, 3, 15}, {5, 9, 1}), 8u);
  EXPECT_EQ(groups({1, 1, 1}, {2, 2, 2}), 1u) << "one after the other";
  EXPECT_FALSE(groups({0.8, 0.8}, {0.8, 0.8})) << "clocks that began with the copy";
  EXPECT_FALSE(fit(copies(), some_device()).gpus[0].stream_groups);
  EXPECT_TRUE(lists(fit(copies(), some_device()), "gpus[0].stream_groups"));
}

TEST(Fit, again_gives_the_profile_that_was_measured) {
  Profile measured = fit(copies(), some_device());
  measured.name = "node";
  measured.source = "shiplap measure --quick";
  const Profile again = fit_again(measured);
  EXPECT_EQ(to_json(again), to_json(measured));
  measured.measurements.clear();
  EXPECT_THROW(fit_again(measured), UsageError);
}

TEST(Fit, finds_the_launch_gap_by_differences) {
  const std::vector<Measurement> measurements{events("launch.gap", {{"kernels", 28}}, 2.5 + 27 * 1.25),
                                              events("launch.gap", {{"kernels", 228}}, 2.5 + 227 * 1.25)};
  EXPECT_NEAR(in_microseconds(fit(measurements, some_device()).gpus[0].kernel_gap->value), 1.25, 1e-9);
}

TEST(Fit, finds_handovers_from_chains) {
  // Launch 2.5; a copy of 1 MiB takes 5 + 20.97 in copies(). A chain starts with anything, here 100.
  std::vector<Measurement> measurements = copies();
  measurements.push_back(events("launch.latency", {{"kernels", 1}}, 2.5));
  const double pair = 2.5 + 5 + mib * 20e-6;
  for (const auto& [name, more] : {std::pair{"chain.h2d", 0.0}, {"chain.d2h", 0.1}})
    for (const double streams : {1., 4.})
      for (const double count : {8., 40.})
        measurements.push_back(events(name, {{"bytes", mib}, {"streams", streams}, {"count", count}},
                                      100 + count * (pair + 2 * (streams + more))));
  const auto found = fit(measurements, some_device()).gpus[0].handovers;
  ASSERT_TRUE(found);
  EXPECT_NEAR(in_microseconds(found->h2d_same_stream.value), 1, 1e-6);
  EXPECT_NEAR(in_microseconds(found->h2d_other_stream.value), 4, 1e-6);
  EXPECT_NEAR(in_microseconds(found->d2h_same_stream.value), 1.1, 1e-6);
  EXPECT_NEAR(in_microseconds(found->d2h_other_stream.value), 4.1, 1e-6);
}

TEST(Fit, finds_how_far_waiting_streams_slow_copies_down) {
  // To the GPU a copy takes 2 µs more when four streams wait, and 1 µs more for each MiB; nothing on the way back.
  std::vector<Measurement> measurements = copies();
  for (const char* way : {"h2d", "d2h"})
    for (const double size : {1., 8.})
      for (const double streams : {1., 4.})
        for (const double count : {8., 40.}) {
          const double more = std::string_view(way) == "h2d" && streams == 4 ? 2 + size : 0;
          measurements.push_back(events(std::string("waiting.pinned.") + way,
                                        {{"bytes", size * mib}, {"copies", count}, {"streams", streams}},
                                        50 + count * (20 * size + more)));
        }
  const auto found = fit(measurements, some_device()).link(0).waiting_streams;
  ASSERT_TRUE(found);
  EXPECT_NEAR(in_microseconds(found->h2d.gap.value), 2, 1e-6);
  EXPECT_NEAR(found->h2d.per_byte.value.seconds * mib, 1e-6, 1e-12);
  EXPECT_NEAR(in_microseconds(found->d2h.gap.value), 0, 1e-6);
  EXPECT_NEAR(in_microseconds(found->duplex.gap.value), 2, 1e-6) << "not measured, taken as the slower direction";
}

/// Runs of 1 and 5 launches of 8 MiB by 16 blocks, concurrent with copies of so many bytes where that counts.
void add_mapped(std::vector<Measurement>& measurements, const char* primitive, double period_us, double copy) {
  for (const double count : {1., 5.}) {
    std::map<std::string, double> arguments{{"bytes", 8 * mib}, {"count", count}, {"blocks", 16}, {"width", 16}};
    if (copy > 0) arguments["copy"] = copy;
    measurements.push_back(events(primitive, arguments, count * period_us));
  }
}

TEST(Fit, finds_what_kernels_on_host_memory_and_copies_leave_each_other) {
  // Launches of 8 MiB in 161 µs and a gap of 1 by themselves, in 172 concurrent with copies; these take 430 µs for 16
  // MB.
  std::vector<Measurement> measurements = copies();
  const auto add = [&](const char* primitive, double period_us, double copy = 0) {
    add_mapped(measurements, primitive, period_us, copy);
  };
  for (const char* primitive : {"mapped.read", "mapped.both", "mapped.write"}) add(primitive, 161);
  for (const char* kernels : {"mapped.read.beside.d2h", "mapped.write.beside.h2d"}) add(kernels, 172, 16e6);
  for (const char* beside : {"copies.d2h.beside.read", "copies.h2d.beside.write"}) add(beside, 430, 16e6);
  measurements.push_back(events("launch.latency", {{"kernels", 1}}, 3));
  measurements.push_back(events("launch.gap", {{"kernels", 1}}, 5));
  measurements.push_back(events("launch.gap", {{"kernels", 2}}, 6));
  const Profile profile = fit(measurements, some_device());
  const auto& model = profile.link(0).zero_copy;
  ASSERT_TRUE(model);
  ASSERT_EQ(model->write.size(), 1u);
  EXPECT_EQ(model->write[0].in_flight, Bytes{16 * 256 * 16});
  EXPECT_NEAR(in_gigabytes_per_second(model->write[0].rate.value), 8388.608 / 160, 1e-6);
  ASSERT_EQ(model->write_beside_h2d.size(), 1u);
  const ZeroCopyBeside& row = model->write_beside_h2d[0];
  EXPECT_NEAR(in_gigabytes_per_second(row.kernel.value), 8388.608 / 171, 1e-6);
  const double gap = in_microseconds(cost_at(profile.link(0).h2d, Bytes{16'000'000}).gap);
  EXPECT_NEAR(in_gigabytes_per_second(row.copy.value), 16000 / (430 - gap), 1e-6) << "the longest copies count";
}

TEST(Fit, separates_record_and_wait_by_the_number_of_followers) {
  // launch 2, record 0.5, wait 0.75, and 40 of whatever else a run costs.
  const auto run = [](double launches, double followers) {
    return 40 + launches * ((1 + followers) * 2 + 0.5 + followers * 0.75);
  };
  const std::vector<Measurement> measurements{host("submit.launch", {{"kernels", 10}}, 60),
                                              host("submit.launch", {{"kernels", 100}}, 240),
                                              host("submit.record", {{"launches", 10}, {"followers", 1}}, run(10, 1)),
                                              host("submit.record", {{"launches", 90}, {"followers", 1}}, run(90, 1)),
                                              host("submit.wait", {{"launches", 6}, {"followers", 4}}, run(6, 4)),
                                              host("submit.wait", {{"launches", 48}, {"followers", 4}}, run(48, 4))};
  const SubmissionModel submission = fit(measurements, some_device()).submission;
  EXPECT_NEAR(in_microseconds(submission.launch->value), 2, 1e-9);
  EXPECT_NEAR(in_microseconds(submission.event_record->value), 0.5, 1e-9);
  EXPECT_NEAR(in_microseconds(submission.event_wait->value), 0.75, 1e-9);
}

TEST(Fit, reads_the_number_of_resident_threads_from_the_steps_between_waves) {
  // 20 blocks at once, 10 µs each, 2 µs to launch. 19 and 20 in one wave, 21 and 40 in two, 41 in three.
  std::vector<Measurement> exact;
  for (const auto& [blocks, us] : {std::pair{1., 12.}, {19., 12.}, {20., 12.}, {21., 22.}, {40., 22.}, {41., 32.}})
    exact.push_back(events("kernel.grid", {{"blocks", blocks}}, us));
  const auto threads = fit(exact, some_device()).gpus[0].resident_threads;
  EXPECT_EQ(threads, Estimate::exact(20 * 1024));
  // Without the grids next to the step only a range is known: 15 < blocks at once, 25 need two waves.
  std::vector<Measurement> coarse;
  for (const auto& [blocks, us] : {std::pair{1., 12.}, {15., 12.}, {25., 22.}})
    coarse.push_back(events("kernel.grid", {{"blocks", blocks}}, us));
  const auto range = fit(coarse, some_device()).gpus[0].resident_threads;
  EXPECT_EQ(range->low, 15 * 1024);
  EXPECT_EQ(range->high, 24 * 1024);
}

TEST(Fit, takes_rates_of_kernels_from_the_slope) {
  std::vector<Measurement> measurements;
  for (const double gib : {1., 2., 4.})
    measurements.push_back(events("kernel.stream", {{"bytes", gib * 1e9}}, 5 + gib * 250));  // 4 TB/s
  for (const double tera : {0.01, 0.1})
    measurements.push_back(events("kernel.multiply_add", {{"flops", tera * 1e12}}, 5 + tera * 20'000));  // 50 TFLOP/s
  const Profile profile = fit(measurements, some_device());
  EXPECT_NEAR(in_gigabytes_per_second(profile.gpus[0].memory_bandwidth->value), 4000, 1e-3);
  EXPECT_NEAR(profile.gpus[0].flop_rate->value, 50e12, 1e6);
}

TEST(Fit, says_how_far_the_worst_point_is_from_the_table) {
  std::vector<Measurement> measurements = copies();
  for (Measurement& m : measurements)
    if (m.primitive == "burst.pinned.h2d" && m.arguments.at("bytes") == 1 && m.arguments.at("copies") == 1)
      m.samples_us.assign(5, 4);  // what a single copy does in 5
  const Profile profile = fit(measurements, some_device());
  const auto costs = std::ranges::find(profile.residuals, std::string("links[0].h2d.costs"), &Residual::parameter);
  ASSERT_NE(costs, profile.residuals.end());
  EXPECT_NEAR(costs->worst, 0.25, 1e-4);
  EXPECT_EQ(costs->at, "1 B");
}

/// Bursts concurrent with copies the other way, at 25 ps a byte and 3.5 µs a copy (5 from 16 MiB on).
void add_duplex(std::vector<Measurement>& measurements) {
  for (const char* way : {"h2d", "d2h"})
    for (const double bytes : {1 * mib, 16 * mib, 32 * mib, 64 * mib})
      for (const double n : {1., 9.})
        measurements.push_back(events(std::string("duplex.pinned.") + way, {{"bytes", bytes}, {"copies", n}},
                                      7 + n * (bytes * 25e-6 + (bytes >= 16 * mib ? 5 : 3.5))));
}

TEST(FitDuplex, separates_rate_and_gap_beside_copies_the_other_way) {
  std::vector<Measurement> measurements = copies();
  add_duplex(measurements);
  const Profile profile = fit(measurements, some_device());
  for (const DirectionModel* direction : {&profile.link(0).h2d, &profile.link(0).d2h}) {
    ASSERT_TRUE(direction->duplex);
    EXPECT_NEAR(direction->duplex->per_byte.value.seconds, 25e-12, 1e-18);
    EXPECT_NEAR(in_microseconds(duplex_gap_at(*direction, 1_MiB)), 3.5, 1e-6);
    EXPECT_NEAR(in_microseconds(duplex_gap_at(*direction, 1_GiB)), 5, 1e-6);
  }
}

TEST(FitDuplex, is_never_faster_than_a_direction_alone_however_far_its_samples_scatter) {
  std::vector<Measurement> measurements = copies();
  add_duplex(measurements);
  for (Measurement& m : measurements)
    if (m.primitive == "duplex.pinned.h2d")
      for (std::size_t i = 0; i < m.samples_us.size(); ++i) m.samples_us[i] *= i % 2 == 0 ? 0.4 : 1.6;
  const Profile profile = fit(measurements, some_device());
  const DirectionModel& h2d = profile.link(0).h2d;
  ASSERT_TRUE(h2d.duplex);
  EXPECT_GE(h2d.duplex->per_byte.low.seconds, h2d.per_byte.value.seconds);
  EXPECT_GE(h2d.duplex->per_byte.value.seconds, h2d.duplex->per_byte.low.seconds);
  EXPECT_NO_THROW(profile_from_json(to_json(profile), "scattered"));
}

TEST(FitDuplex, refuses_directions_of_which_one_is_done_before_the_other) {
  std::vector<Measurement> measurements = copies();
  for (Measurement& m : measurements)
    if (m.primitive.ends_with("d2h"))
      for (double& us : m.samples_us) us *= 4;
  add_duplex(measurements);
  const Profile profile = fit(measurements, some_device());
  ASSERT_FALSE(profile.links.empty());
  EXPECT_FALSE(profile.link(0).h2d.duplex);
  EXPECT_TRUE(lists(profile, "links[0].h2d.duplex"));
  EXPECT_TRUE(lists(profile, "links[0].d2h.duplex"));
}

}  // namespace
}  // namespace shiplap
