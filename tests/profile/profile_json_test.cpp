#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/profile/parameter_table.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/profile/full_profile.hpp"
#include "tests/profile/refusals.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// A folder of its own for each test, gone when the test ends.
class ProfileFile : public ::testing::Test {
 protected:
  ProfileFile() { std::filesystem::create_directories(folder_); }
  ~ProfileFile() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ("shiplap-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

void expect_same(const Interval<Seconds>& a, const Interval<Seconds>& b) { EXPECT_EQ(a, b); }

/// For values that no number of the file's unit gives exactly (a few per cent of all doubles): the last bit may differ.
void expect_same_but_last_bit(const Interval<PerByte>& a, const Interval<PerByte>& b) {
  const auto near = [](PerByte x, PerByte y) {
    EXPECT_NEAR(x.seconds, y.seconds, y.seconds * std::numeric_limits<double>::epsilon());
  };
  near(a.value, b.value);
  near(a.low, b.low);
  near(a.high, b.high);
}

// ---- round trip ----

TEST_F(ProfileFile, loading_what_was_saved_gives_the_same_values) {
  const Profile saved = full_profile();
  save_profile(saved, path("full.json"));
  const Profile loaded = load_profile(path("full.json"));

  EXPECT_EQ(loaded.name, saved.name);
  EXPECT_EQ(loaded.origin, saved.origin);
  EXPECT_EQ(loaded.source, saved.source);
  EXPECT_EQ(loaded.conditions, saved.conditions);

  ASSERT_EQ(loaded.gpus.size(), 1u);
  const GpuModel& gpu = loaded.gpus[0];
  EXPECT_EQ(gpu.name, "planted GPU");
  EXPECT_EQ(gpu.memory, 141_GiB);
  EXPECT_EQ(gpu.sm_count, 132u);
  EXPECT_EQ(gpu.copy_engines, 2u);
  EXPECT_EQ(gpu.engine_order, EngineOrder::readiness);
  EXPECT_EQ(gpu.implicit_sync, ImplicitSync::none);
  EXPECT_TRUE(gpu.concurrent_kernels);
  expect_same(*gpu.launch_latency, Interval<Seconds>::exact(microseconds(2.3)));
  expect_same(*gpu.kernel_gap, Interval<Seconds>::exact(microseconds(1.1)));
  ASSERT_TRUE(gpu.handovers);
  expect_same(gpu.handovers->h2d_same_stream, saved.gpus[0].handovers->h2d_same_stream);
  expect_same(gpu.handovers->h2d_other_stream, saved.gpus[0].handovers->h2d_other_stream);
  expect_same(gpu.handovers->d2h_same_stream, saved.gpus[0].handovers->d2h_same_stream);
  expect_same(gpu.handovers->d2h_other_stream, saved.gpus[0].handovers->d2h_other_stream);
  EXPECT_EQ(gpu.resident_threads, Estimate::exact(270336));
  EXPECT_EQ(gpu.memory_bandwidth, Interval<Bandwidth>::exact({4.3e12}));
  EXPECT_FALSE(gpu.flop_rate.has_value());

  ASSERT_EQ(loaded.links.size(), 1u);
  const LinkModel& link = loaded.links[0];
  expect_same_but_last_bit(link.h2d.per_byte, saved.links[0].h2d.per_byte);
  expect_same_but_last_bit(link.d2h.per_byte, saved.links[0].d2h.per_byte);
  ASSERT_EQ(link.h2d.costs.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(link.d2h.costs[i].size, saved.links[0].d2h.costs[i].size);
    expect_same(link.d2h.costs[i].latency_overhead, saved.links[0].d2h.costs[i].latency_overhead);
    expect_same(link.h2d.costs[i].gap, saved.links[0].h2d.costs[i].gap);
  }
  EXPECT_EQ(link.h2d.costs[1].gap.low, microseconds(2.6));
  EXPECT_EQ(link.h2d.costs[1].gap.high, microseconds(2.8));
  ASSERT_TRUE(link.h2d.duplex.has_value());
  expect_same_but_last_bit(link.h2d.duplex->per_byte, saved.links[0].h2d.duplex->per_byte);
  ASSERT_EQ(link.h2d.duplex->gaps.size(), 3u);
  EXPECT_EQ(link.h2d.duplex->gaps[1].size, 4_MiB);
  EXPECT_EQ(link.h2d.duplex->gaps[1].gap.value, microseconds(4.4));

  EXPECT_EQ(loaded.submission.copy->value, microseconds(1.9));
  EXPECT_EQ(loaded.submission.launch->value, microseconds(2.1));
  EXPECT_EQ(loaded.submission.event_record->value, microseconds(0.35));
  EXPECT_EQ(loaded.submission.event_wait->value, microseconds(0.4));
  ASSERT_EQ(loaded.missing.size(), 1u);
  EXPECT_EQ(loaded.missing[0].reason, "left out by the test");
  ASSERT_EQ(loaded.residuals.size(), 1u);
  EXPECT_EQ(loaded.residuals[0].worst, 0.0123);
  EXPECT_EQ(loaded.residuals[0].at, "4 MiB x 64");
}

TEST_F(ProfileFile, samples_keep_four_decimals_of_a_microsecond) {
  save_profile(full_profile(), path("full.json"));
  const Profile loaded = load_profile(path("full.json"));
  ASSERT_EQ(loaded.measurements.size(), 1u);
  EXPECT_EQ(loaded.measurements[0].samples_us, (std::vector<double>{4.6, 4.6123, 5}));
  EXPECT_EQ(loaded.measurements[0].arguments, (std::map<std::string, double>{{"bytes", 4096}, {"copies", 16}}));
  EXPECT_EQ(loaded.measurements[0].clock, "events");
  EXPECT_TRUE(loaded.measurements[0].verified);
}

TEST_F(ProfileFile, saving_what_was_loaded_gives_the_same_file_whatever_the_values) {
  std::mt19937_64 random(20140526);
  std::uniform_real_distribution<double> exponent(-9, -3);
  const auto any_time = [&] { return Seconds{std::pow(10, exponent(random))}; };
  for (int round = 0; round < 50; ++round) {
    Profile profile = planted_profile();
    for (CopyCost& row : profile.links[0].h2d.costs) {
      const Seconds low = any_time();
      // Neighbours in the last place are the hardest to keep apart.
      const Seconds value{std::nextafter(low.count(), 1)};
      row.gap = {value, low, any_time() + value};
    }
    profile.links[0].d2h.per_byte = Interval<PerByte>::exact({any_time().count() * 1e-5});
    save_profile(profile, path("first.json"));
    const Profile loaded = load_profile(path("first.json"));
    save_profile(loaded, path("second.json"));
    ASSERT_EQ(read_text_file(path("first.json")), read_text_file(path("second.json")));
    ASSERT_EQ(parameter_hash(loaded), parameter_hash(profile));
  }
}

TEST(ProfileJson, states_units_and_leaves_out_limits_that_equal_the_value) {
  const Json json = to_json(full_profile());
  EXPECT_EQ(json.at("/links/0/h2d/costs/0/gap"_json_pointer).dump(), R"({"value":2.6,"unit":"us"})");
  EXPECT_EQ(json.at("/links/0/h2d/costs/1/gap"_json_pointer).dump(),
            R"({"value":2.65,"low":2.6,"high":2.8,"unit":"us"})");
  EXPECT_EQ(json.at("/links/0/h2d/costs/1/size"_json_pointer).dump(), "65536");
  EXPECT_EQ(json.at("/links/0/h2d/per_byte/unit"_json_pointer), "ns/byte");
  EXPECT_NEAR(json.at("/links/0/h2d/per_byte/value"_json_pointer).get<double>(), 1.0 / 55, 1e-17);
  EXPECT_EQ(json.at("/gpus/0/memory_bandwidth"_json_pointer).dump(), R"({"value":4300.0,"unit":"GB/s"})");
  EXPECT_EQ(json.at("/gpus/0/memory"_json_pointer).get<std::uint64_t>(), 141ull << 30);
  EXPECT_TRUE(json.at("/gpus/0/flop_rate"_json_pointer).is_null());
}

TEST(ProfileJson, accepts_one_limit_alone_and_whole_numbers) {
  Json json = to_json(planted_profile());
  json["/submission/copy"_json_pointer] = {{"value", 2}, {"high", 3}, {"unit", "us"}};
  const Profile profile = profile_from_json(json, "text");
  expect_same(*profile.submission.copy, {microseconds(2), microseconds(2), microseconds(3)});
}

// ---- the hash ----

TEST(ParameterHash, ignores_what_does_not_change_a_prediction) {
  Profile profile = full_profile();
  const std::string hash = parameter_hash(profile);
  EXPECT_EQ(hash.size(), 16u);
  profile.name = "another";
  profile.source = "another";
  profile.origin = Origin::measured;
  profile.conditions["driver"] = "another";
  profile.gpus[0].name = "another";
  profile.measurements.clear();
  profile.residuals.clear();
  EXPECT_EQ(parameter_hash(profile), hash);
}

TEST(ParameterHash, differs_when_any_parameter_differs) {
  const std::string hash = parameter_hash(planted_profile());
  const std::vector<std::function<void(Profile&)>> changes{
      [](Profile& p) { p.gpus[0].kernel_gap->high += microseconds(0.001); },
      [](Profile& p) { p.gpus[0].handovers->d2h_other_stream.value += microseconds(0.001); },
      [](Profile& p) { p.gpus[0].handovers.reset(); },
      [](Profile& p) { p.links[0].zero_copy->read[0].rate.value.bytes_per_second += 1000; },
      [](Profile& p) { p.links[0].zero_copy->write_beside_h2d.pop_back(); },
      [](Profile& p) { p.gpus[0].flop_rate.reset(); },
      [](Profile& p) { p.gpus[0].copy_engines = 1; },
      [](Profile& p) { p.gpus[0].implicit_sync = ImplicitSync::until_ended; },
      [](Profile& p) { p.gpus[0].engine_order = EngineOrder::submission; },
      [](Profile& p) { p.gpus[0].memory = 140_GiB; },
      [](Profile& p) { p.links[0].h2d.costs[2].size = 2_MiB; },
      [](Profile& p) { p.links[0].d2h.duplex->gaps.pop_back(); },
      [](Profile& p) { p.links[0].d2h.per_byte.value.seconds *= 1.0000001; },
      [](Profile& p) { p.submission.event_wait->value = microseconds(0.41); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Profile profile = planted_profile();
    changes[i](profile);
    EXPECT_NE(parameter_hash(profile), hash) << "change " << i;
  }
}

TEST(ParameterHash, is_that_of_the_parameters_however_often_it_is_asked) {
  const Profile profile = find_profile("h200");
  const std::string hash = parameter_hash(profile);
  std::size_t parameters = 0;
  for_each_parameter(profile, [&](const ParameterInfo&, const auto&) { ++parameters; });
  for (std::size_t changed = 0; changed < parameters; changed += 97) {
    Profile other = profile;
    std::size_t number = 0;
    bool is_zero = false;
    for_each_parameter(other, [&]<class T>(const ParameterInfo&, Interval<T>& interval) {
      if (number++ != changed) return;
      is_zero = interval.high == T{};
      interval.high = T{};
    });
    if (is_zero) continue;
    const std::string others = parameter_hash(other);
    EXPECT_NE(others, hash) << "parameter " << changed;
    EXPECT_EQ(parameter_hash(profile), hash);
    EXPECT_EQ(parameter_hash(other), others);
  }
}

TEST(ProfileJson, of_earlier_versions_is_read_without_what_is_no_longer_used) {
  Json json = to_json(planted_profile());
  json["gpus"][0]["event_gap"] = {{"idle", {{"value", 0.2}, {"low", 0.1}, {"high", 0.3}, {"unit", "us"}}}};
  EXPECT_EQ(parameter_hash(profile_from_json(json, "test")), parameter_hash(planted_profile()));
  json["gpus"][0]["event_gap"] = nullptr;
  json["missing"].push_back({{"parameter", "gpus[0].event_gap"}, {"reason", "not measured"}});
  EXPECT_EQ(parameter_hash(profile_from_json(json, "test")), parameter_hash(planted_profile()));
}

TEST(ProfileJson, may_lack_what_is_absent_with_a_reason_only) {
  Profile lacking = planted_profile();
  lacking.gpus[0].handovers.reset();
  lacking.gpus[0].stream_groups.reset();
  EXPECT_NE(refusal(to_json(lacking)), "");
  lacking.missing.push_back({"gpus[0].handovers", "not measured"});
  lacking.missing.push_back({"gpus[0].stream_groups", "not measured"});
  const Profile read = profile_from_json(to_json(lacking), "test");
  EXPECT_FALSE(read.gpus[0].handovers);
  EXPECT_FALSE(read.gpus[0].stream_groups);
  EXPECT_EQ(parameter_hash(read), parameter_hash(lacking));
}

TEST(ProfileJson, has_the_schema_that_is_documented_and_follows_it) {
  const Json documented = read_json_file(SHIPLAP_SOURCE_DIR "/docs/schema/profile.schema.json");
  EXPECT_EQ(documented, profile_schema()) << "shiplap profiles schema > docs/schema/profile.schema.json";
}

// ---- files that cannot be written or read ----

TEST_F(ProfileFile, saving_refuses_what_could_not_be_loaded_and_leaves_the_old_file) {
  save_profile(planted_profile(), path("bad.json"));
  const std::string before = read_text_file(path("bad.json"));
  Profile broken = planted_profile();
  broken.submission.copy.reset();
  try {
    save_profile(broken, path("bad.json"));
    FAIL() << "saved";
  } catch (const Error& error) {
    expect_names(error.what(), "submission.copy", "\"missing\"");
  }
  broken = planted_profile();
  broken.links[0].h2d.costs[0].gap.value = Seconds{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(save_profile(broken, path("bad.json")), Error);
  EXPECT_EQ(read_text_file(path("bad.json")), before);
}

TEST_F(ProfileFile, a_profile_in_a_folder_that_is_not_there_is_an_error_that_names_it) {
  try {
    load_profile(path("nowhere/bad.json"));
    FAIL() << "loaded";
  } catch (const Error& error) {
    expect_names(error.what(), "nowhere", "");
  }
  EXPECT_THROW(save_profile(planted_profile(), path("nowhere/bad.json")), Error);
}

}  // namespace
}  // namespace shiplap
