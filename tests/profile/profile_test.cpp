#include "shiplap/profile/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/workload.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

CopyCost cost_row(Bytes size, double latency_overhead_us, double gap_us) {
  return {.size = size,
          .latency_overhead = Interval<Seconds>::exact(microseconds(latency_overhead_us)),
          .gap = Interval<Seconds>::exact(microseconds(gap_us))};
}

DirectionModel two_rows() {
  DirectionModel direction;
  direction.per_byte = Interval<PerByte>::exact({1e-11});
  direction.costs = {cost_row(100_B, 4, 2), cost_row(300_B, 8, 3)};
  return direction;
}

TEST(CostAt, is_linear_in_the_size_between_two_rows) {
  EXPECT_DOUBLE_EQ(in_microseconds(cost_at(two_rows(), 150_B).latency_overhead), 5);
  EXPECT_DOUBLE_EQ(in_microseconds(cost_at(two_rows(), 150_B).gap), 2.25);
  EXPECT_DOUBLE_EQ(in_microseconds(cost_at(two_rows(), 299_B).latency_overhead), 7.98);
}

TEST(CostAt, stays_at_the_first_and_the_last_row_outside_the_table) {
  EXPECT_EQ(cost_at(two_rows(), 0_B).latency_overhead, microseconds(4));
  EXPECT_EQ(cost_at(two_rows(), 99_B).gap, microseconds(2));
  EXPECT_EQ(cost_at(two_rows(), 1_GiB).latency_overhead, microseconds(8));
  EXPECT_EQ(cost_at(two_rows(), 1_GiB).gap, microseconds(3));
}

TEST(CostAt, gives_the_rows_themselves_to_the_last_bit) {
  const DirectionModel direction = planted_profile().links[0].h2d;
  for (const CopyCost& cost : direction.costs) {
    EXPECT_EQ(cost_at(direction, cost.size).latency_overhead, cost.latency_overhead.value);
    EXPECT_EQ(cost_at(direction, cost.size).gap, cost.gap.value);
  }
}

TEST(CostAt, is_constant_with_a_single_row) {
  const DirectionModel direction = paper_profile().links[0].h2d;
  for (const Bytes size : {0_B, 1_B, 1_MiB, 1_GiB}) {
    EXPECT_EQ(cost_at(direction, size).latency_overhead, microseconds(9.42));
    EXPECT_EQ(cost_at(direction, size).gap, microseconds(2.503));
  }
}

TEST(CostAt, refuses_a_direction_without_rows) { EXPECT_THROW(cost_at(DirectionModel{}, 1_B), Error); }

TEST(GapAt, interpolates_its_own_table) {
  DirectionModel direction = two_rows();
  direction.duplex = DuplexModel{.per_byte = Interval<PerByte>::exact({2e-11}),
                                 .gaps = {{1000_B, Interval<Seconds>::exact(microseconds(3))},
                                          {2000_B, Interval<Seconds>::exact(microseconds(5))}}};
  EXPECT_EQ(duplex_gap_at(direction, 100_B), microseconds(3));
  EXPECT_DOUBLE_EQ(in_microseconds(duplex_gap_at(direction, 1750_B)), 4.5);
  EXPECT_EQ(duplex_gap_at(direction, 1_MiB), microseconds(5));
}

TEST(GapAt, is_the_one_way_gap_where_no_duplex_gap_is_known) {
  DirectionModel direction = two_rows();
  EXPECT_DOUBLE_EQ(in_microseconds(duplex_gap_at(direction, 200_B)), 2.5);
  direction.duplex = DuplexModel{.per_byte = Interval<PerByte>::exact({2e-11}), .gaps = {}};
  EXPECT_DOUBLE_EQ(in_microseconds(duplex_gap_at(direction, 200_B)), 2.5);
}

TEST(Profile, finds_a_link_by_gpu_and_numa_node) {
  Profile profile = planted_profile();
  LinkModel far = profile.links[0];
  far.numa_node = 1;
  profile.links.push_back(far);
  EXPECT_EQ(&profile.link(0), &profile.links[0]);
  EXPECT_EQ(&profile.link(0, 1), &profile.links[1]);
}

TEST(Profile, a_link_that_is_not_there_is_unsupported_and_named) {
  try {
    planted_profile().link(2, 1);
    FAIL() << "found";
  } catch (const Unsupported& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("NUMA node 1 and GPU 2"), message.npos) << message;
    EXPECT_NE(message.find("NUMA node 0 to GPU 0"), message.npos) << message;
    EXPECT_NE(message.find("planted"), message.npos) << message;
  }
}

TEST(Origin, prints_as_the_word_of_the_file) {
  EXPECT_EQ(to_string(Origin::measured), "measured");
  EXPECT_EQ(to_string(Origin::simulated), "simulated");
  EXPECT_EQ(to_string(Origin::published), "published");
  EXPECT_EQ(to_string(Origin::derived), "derived");
  EXPECT_EQ(to_string(Origin::assumed), "assumed");
  EXPECT_EQ(to_string(Origin::planted), "planted");
}

// ---- the profiles that are shipped ----

/// Every figure of van Werkhoven et al. 2014, Table I, in the units of the paper.
void expect_published_titan(const Profile& profile) {
  EXPECT_EQ(profile.name, "gtx-titan-2014");
  EXPECT_EQ(profile.origin, Origin::published);
  const LinkModel& link = profile.link(0);
  EXPECT_NEAR(link.h2d.per_byte.value.seconds * 1e3, 8.318392e-08, 1e-22);
  EXPECT_NEAR(link.d2h.per_byte.value.seconds * 1e3, 7.924734e-08, 1e-22);
  EXPECT_NEAR(in_gigabytes_per_second(bandwidth(link.h2d.per_byte.value)), 12.0216, 5e-5);
  EXPECT_NEAR(in_gigabytes_per_second(bandwidth(link.d2h.per_byte.value)), 12.6187, 5e-5);
  for (const Bytes size : {1_B, 1_GiB}) {
    EXPECT_NEAR(in_milliseconds(cost_at(link.h2d, size).latency_overhead), 0.009420, 1e-15);
    EXPECT_NEAR(in_milliseconds(cost_at(link.h2d, size).gap), 0.002503, 1e-15);
    EXPECT_NEAR(in_milliseconds(cost_at(link.d2h, size).latency_overhead), 0.009023, 1e-15);
    EXPECT_NEAR(in_milliseconds(cost_at(link.d2h, size).gap), 0.002674, 1e-15);
  }
  ASSERT_EQ(profile.gpus.size(), 1u);
  EXPECT_EQ(profile.gpus[0].copy_engines, 1u);
  EXPECT_EQ(profile.gpus[0].implicit_sync, ImplicitSync::none);
  EXPECT_EQ(profile.gpus[0].engine_order, EngineOrder::submission);
  EXPECT_EQ(profile.gpus[0].memory, 6_GiB);
  EXPECT_EQ(profile.gpus[0].sm_count, 14u);
}

TEST(GtxTitan2014, holds_the_published_figures) {
  expect_published_titan(load_profile(SHIPLAP_SOURCE_DIR "/profiles/gtx-titan-2014.json"));
}

TEST(GtxTitan2014, claims_nothing_that_was_not_published) {
  const Profile profile = load_profile(SHIPLAP_SOURCE_DIR "/profiles/gtx-titan-2014.json");
  EXPECT_FALSE(profile.links[0].h2d.duplex.has_value());
  EXPECT_FALSE(profile.links[0].d2h.duplex.has_value());
  EXPECT_FALSE(profile.gpus[0].launch_latency.has_value());
  EXPECT_TRUE(profile.links[0].zero_copy->write.empty());
  EXPECT_FALSE(profile.submission.copy.has_value());
  EXPECT_TRUE(profile.measurements.empty());
  EXPECT_FALSE(profile.links[0].waiting_streams);
  EXPECT_FALSE(profile.links[0].pageable);
  EXPECT_FALSE(profile.links[0].managed);
  EXPECT_FALSE(profile.host);
  EXPECT_FALSE(profile.submission.graph_launch);
  EXPECT_TRUE(profile.links[0].h2d.batched.empty());
  EXPECT_EQ(profile.missing.size(), 8u);
}

// Table II, explicit-mapped, in the units of the paper.
TEST(GtxTitan2014, holds_the_rates_of_copies_and_mapped_writes_at_the_same_time) {
  const Profile profile = find_profile("gtx-titan-2014");
  ASSERT_EQ(profile.links[0].zero_copy->write_beside_h2d.size(), 1u);
  const ZeroCopyBeside& rates = profile.links[0].zero_copy->write_beside_h2d.front();
  EXPECT_NEAR(per_byte(rates.copy.value).seconds * 1e3, 1.193386e-07, 1e-15);
  EXPECT_NEAR(per_byte(rates.kernel.value).seconds * 1e3, 1.480396e-07, 1e-15);
}

// Kernel times of the published machines are derived from the products' theoretical rates: clock, width and cores.
TEST(BuiltInProfiles, have_the_theoretical_rates_of_published_gpus) {
  const auto expect = [](const char* name, double gigabytes, double gigaflops) {
    const GpuModel gpu = find_profile(name).gpus[0];
    EXPECT_NEAR(in_gigabytes_per_second(gpu.memory_bandwidth->value), gigabytes, 1e-6) << name;
    EXPECT_EQ(gpu.memory_bandwidth->value, gpu.memory_bandwidth->high) << name << ": no kernel is faster";
    EXPECT_NEAR(gpu.memory_bandwidth->low.bytes_per_second / gpu.memory_bandwidth->value.bytes_per_second, 0.7437, 1e-4)
        << name;
    EXPECT_NEAR(gpu.flop_rate->value * 1e-9, gigaflops, 1e-6) << name;
  };
  expect("gtx-280-2012", 2.214 * 512 / 8, 2 * 240 * 1.296);
  expect("gtx-480-2012", 3.696 * 384 / 8, 2 * 480 * 1.401);
  expect("gtx-680-2014", 6.008 * 256 / 8, 2 * 1536 * 1.006);
  expect("gtx-titan-2014", 6.008 * 384 / 8, 2 * 2688 * 0.837);
  expect("tesla-k20m-2014", 5.2 * 320 / 8, 2 * 2496 * 0.706);
}

// Of most machines of the papers no latency, rate and gap of one direction were published. What was is named.
TEST(BuiltInProfiles, of_machines_whose_link_was_not_published_say_so_and_are_refused_with_what_was) {
  struct Machine {
    const char* name;
    const char* published;
  };
  for (const auto& [name, published] :
       {Machine{"tesla-k20m-2014", "0.1741965 ns/byte"}, Machine{"gtx-680-2014", "L+o, G and g"},
        Machine{"gtx-280-2012", "36 % longer"}, Machine{"gtx-480-2012", "2 % less"},
        Machine{"tesla-m2050-2012", "no transfer"}, Machine{"ac922-v100-2019", "72 GB/s"},
        Machine{"s822lc-p100-2019", "10 GB/s less"}, Machine{"4029gp-v100-2019", "in pictures"}}) {
    const Profile profile = find_profile(name);
    EXPECT_EQ(profile.origin, Origin::published) << name;
    EXPECT_TRUE(profile.links.empty()) << name;
    try {
      profile.link(0);
      ADD_FAILURE() << name << " has a link";
    } catch (const Unsupported& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(published), std::string::npos) << refusal.what();
    }
  }
  // Gómez-Luna et al. 2012: what making a stream costs, 0.10 and 0.03 ms.
  EXPECT_EQ(find_profile("gtx-280-2012").host->calls.at("create stream").front().time.value, microseconds(100));
  EXPECT_EQ(find_profile("gtx-480-2012").host->calls.at("create stream").front().time.value, microseconds(30));
}

// Harris 2012: SAXPY takes 2.280032 ms for 12 bytes an element of 20 Mi.
TEST(BuiltInProfiles, of_the_tesla_m2050_gives_saxpy_its_published_time) {
  const Profile m2050 = find_profile("tesla-m2050-2012");
  EXPECT_NEAR(in_milliseconds(derived_cost(find_workload("saxpy:n=20Mi").job, m2050).launch_time(20 << 20)), 2.280032,
              1e-5);
}

// Copy engines, implicit synchronisation and concurrent kernels: Gomez-Luna et al. 2012, Table 1 (series GeForce 200
// and 400); van Werkhoven et al. 2014, Table III. The other papers have no such table: CUDA synchronises implicitly up
// to compute capability 3.0 (Harris' M2050 has 2.0, and two copy engines as a Tesla), later GPUs do not and have an
// engine for each direction.
TEST(BuiltInProfiles, have_the_features_of_the_papers_tables_of_devices) {
  struct Device {
    const char* profile;
    unsigned copy_engines;
    bool implicit_sync;
    bool concurrent_kernels;
  };
  const std::vector<Device> devices{
      {"gtx-280-2012", 1, false, false},     {"gtx-480-2012", 1, true, true},      {"gtx-680-2014", 1, true, true},
      {"gtx-titan-2014", 1, false, true},    {"tesla-k20m-2014", 2, false, true},  {"tesla-m2050-2012", 2, true, true},
      {"ac922-v100-2019", 2, false, true},   {"s822lc-p100-2019", 2, false, true}, {"4029gp-v100-2019", 2, false, true},
      {"gh200-2025-258389", 2, false, true}, {"gh200-2025-269302", 2, false, true}};
  for (const Device& device : devices) {
    const GpuModel gpu = find_profile(device.profile).gpus.at(0);
    EXPECT_EQ(gpu.copy_engines, device.copy_engines) << device.profile;
    EXPECT_EQ(gpu.implicit_sync != ImplicitSync::none, device.implicit_sync) << device.profile;
    EXPECT_EQ(gpu.concurrent_kernels, device.concurrent_kernels) << device.profile;
  }
  for (const std::string& name : built_in_profiles()) {
    if (find_profile(name).origin != Origin::published) continue;
    EXPECT_TRUE(std::ranges::any_of(devices, [&](const Device& d) { return d.profile == name; })) << name;
  }
}

TEST(BuiltInProfiles, every_profile_file_is_built_in_under_its_name_and_can_be_read) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SHIPLAP_SOURCE_DIR "/profiles"))
    if (entry.path().extension() == ".json") files.push_back(entry.path().stem().string());
  std::vector<std::string> names = built_in_profiles();
  std::sort(files.begin(), files.end());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, files);
  for (const std::string& name : names) {
    const Profile built_in = find_profile(name);
    EXPECT_EQ(built_in.name, name);
    const Profile file = find_profile(SHIPLAP_SOURCE_DIR "/profiles/" + name + ".json");
    EXPECT_EQ(parameter_hash(built_in), parameter_hash(file)) << name;
  }
}

TEST(FindProfile, knows_built_in_names_and_paths) {
  expect_published_titan(find_profile("gtx-titan-2014"));
  expect_published_titan(find_profile(SHIPLAP_SOURCE_DIR "/profiles/gtx-titan-2014.json"));
}

TEST(FindProfile, an_unknown_name_is_bad_usage_and_the_message_lists_the_names) {
  try {
    find_profile("gtx-titan");
    FAIL() << "found";
  } catch (const UsageError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'gtx-titan'"), message.npos) << message;
    EXPECT_NE(message.find("gtx-titan-2014"), message.npos) << message;
    EXPECT_NE(message.find(".json"), message.npos) << message;
  }
}

TEST(FindProfile, a_name_that_ends_with_json_or_has_a_slash_is_a_path) {
  for (const std::string path : {"no-such-profile.json", "no/such/profile"}) {
    try {
      find_profile(path);
      FAIL() << "found";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      EXPECT_EQ(error.code(), ExitCode::failure);
    }
  }
}

TEST(PlantedProfiles, are_profiles_that_can_be_written_and_read) {
  const PaperOptions one_engine_held{.copy_engines = 1, .implicit_sync = ImplicitSync::until_ended};
  for (const Profile& profile : {planted_profile(), paper_profile(), paper_profile(one_engine_held)})
    EXPECT_EQ(parameter_hash(profile_from_json(to_json(profile), profile.name)), parameter_hash(profile));
}

}  // namespace
}  // namespace shiplap
