// The commands on nodes and their profiles: measure, check, compare, profiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "cli/profile_cache.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

TEST_F(Cli, profiles_lists_and_shows) {
  const Json list = parsed(shiplap("profiles --json"));
  EXPECT_GE(list.at("profiles").size(), 2u);
  for (const char* name : {"h200", "gtx-titan-2014"}) {
    EXPECT_NE(shiplap("profiles").out.find(name), std::string::npos);
    EXPECT_EQ(parsed(shiplap("profiles show " + std::string(name) + " --json")).at("name"), name);
  }
  const Outcome titan = shiplap("profiles show gtx-titan-2014 --all");
  EXPECT_EQ(titan.code, 0);
  // Table I of the publication: G = 0.08318392 ns/byte is 12.02 GB/s, L+o = 9.42 µs, g = 2.503 µs.
  for (const char* figure : {"published", "12.02 GB/s", "9.420 µs", "2.503 µs", "not published"})
    EXPECT_NE(titan.out.find(figure), std::string::npos) << figure;
}

TEST_F(Cli, profiles_refit_fits_samples_again_and_wants_some) {
  const std::string file = (folder / "node.json").string();
  ASSERT_EQ(shiplap("measure --quick --only 'launch.*' --device virtual:h200 -o '" + file + "'").code, 0);
  // What an earlier version made of the same samples.
  Json earlier = Json::parse(read(file));
  const double gap = earlier["gpus"][0]["kernel_gap"]["value"].get<double>();
  earlier["gpus"][0]["kernel_gap"]["value"] = earlier["gpus"][0]["kernel_gap"]["high"] = 2 * gap;
  write("earlier.json", earlier.dump());
  const std::string again = (folder / "again.json").string();
  const Outcome refit = shiplap("profiles refit '" + (folder / "earlier.json").string() + "' -o '" + again + "'");
  EXPECT_EQ(refit.code, 0) << refit.err;
  EXPECT_NEAR(Json::parse(read(again))["gpus"][0]["kernel_gap"]["value"].get<double>(), gap, 1e-6)
      << "but for the rounding of samples";
  expect_refused(shiplap("profiles refit gtx-titan-2014 -o '" + again + "'"), 64, {"gtx-titan-2014", "samples"});
  expect_refused(shiplap("profiles refit '" + file + "'"), 64, {"--output"});
}

TEST_F(Cli, kept_profiles_are_found_by_name_and_a_broken_one_hides_nothing) {
  fs::create_directories(folder / "cache" / "shiplap");
  write("cache/shiplap/my-gpu-1-host.json", profile_text());
  write("cache/shiplap/broken.json", "{");
  const Outcome list = shiplap("profiles");
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.out.find("my-gpu-1-host"), std::string::npos);
  EXPECT_NE(list.err.find("broken.json"), std::string::npos);
  EXPECT_EQ(shiplap("plan --in 16MiB --kernel 1ms --profile my-gpu-1-host").code, 0);
}

TEST_F(Cli, measure_lists_measures_and_writes) {
  EXPECT_NE(shiplap("measure --list --all").out.find("copy.pinned.h2d"), std::string::npos);
  const auto begins_with_copy = [](const Json& p) { return p.at("name").get<std::string>().starts_with("copy."); };
  const auto copies =
      std::ranges::count_if(parsed(shiplap("measure --list --json")).at("primitives"), begins_with_copy);
  EXPECT_NE(shiplap("measure --list").out.find("copy.* (" + std::to_string(copies) + "),"), std::string::npos);
  EXPECT_FALSE(parsed(shiplap("measure --list --json")).at("primitives").empty());
  const fs::path file = folder / "profile.json";
  const Outcome human = shiplap("measure --quick --only 'submit.*' --device virtual:h200");
  EXPECT_EQ(human.code, 0) << human.err;
  EXPECT_NE(human.out.find("submit.copy"), std::string::npos) << human.out;
  const Json json =
      parsed(shiplap("measure --quick --only 'submit.*' --json --device virtual:h200 -o '" + file.string() + "'"));
  EXPECT_EQ(json.at("schema"), "shiplap/profile");
  EXPECT_EQ(Json::parse(read(file)), json);
  EXPECT_FALSE(fs::exists(folder / "cache" / "shiplap")) << "a part of a profile must not be kept as the whole";
}

TEST_F(Cli, measure_says_the_rate_of_a_copy_and_refuses_to_write_what_nothing_was_measured_for) {
  const Outcome copies = shiplap("measure --quick --only 'copy.pinned.h2d' --device virtual:h200");
  EXPECT_EQ(copies.code, 0) << copies.err;
  for (const char* text : {"rate", "GB/s", "bytes 256 MiB"})
    EXPECT_NE(copies.out.find(text), std::string::npos) << text;
  const auto file = folder / "numa.json";
  expect_refused(shiplap("measure --only 'numa.*' --device virtual:h200 -o '" + file.string() + "'"), 1,
                 {"skipped", "nothing was measured"});
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(Cli, without_a_gpu_what_measures_refuses_and_names_the_simulated_device) {
  if (parsed(shiplap("devices --json")).at("absent").empty()) GTEST_SKIP() << "this node has a CUDA device";
  for (const char* command : {"measure --quick", "check", "tune saxpy:n=1Ki", "evaluate saxpy:n=1Ki",
                              "evaluate --random 1", "measure -o p.json"})
    expect_refused(shiplap(command), 1, {"there is no GPU here", "nothing was measured", "--device virtual:h200"});
  EXPECT_FALSE(fs::exists(folder / "cache"));
}

TEST_F(Cli, plan_and_run_without_a_gpu_say_what_stands_in_for_one) {
  if (parsed(shiplap("devices --json")).at("absent").empty()) GTEST_SKIP() << "this node has a CUDA device";
  for (const char* command : {"plan", "run", "predict"}) {
    const Outcome outcome = shiplap(std::string(command) + " saxpy:n=64Ki");
    EXPECT_NE(outcome.out.find("Simulated: there is no GPU here, so virtual:h200 stands in for one"), std::string::npos)
        << outcome.out;
    const Outcome json = shiplap(std::string(command) + " saxpy:n=64Ki --json");
    parsed(json);
    EXPECT_NE(json.err.find("virtual:h200 stands in"), std::string::npos) << json.err;
  }
}

TEST_F(Cli, a_measurement_of_a_virtual_device_is_called_simulated_and_claims_no_real_node) {
  const std::string file = (folder / "p.json").string();
  const Outcome measured = shiplap("measure --quick --only 'launch.*' --device virtual:h200 -o '" + file + "'");
  ASSERT_EQ(measured.code, 0) << measured.err;
  const Json profile = Json::parse(read(file));
  EXPECT_EQ(profile.at("origin"), "simulated");
  EXPECT_EQ(profile.at("name"), "nvidia-h200-simulated");
  for (const char* fact : {"gpu.driver", "gpu.pci_bus_id", "gpu.power", "gpu.uuid", "host.cpu", "gpu.temperature"})
    EXPECT_FALSE(profile.at("conditions").contains(fact)) << fact;
  EXPECT_TRUE(profile.at("conditions").at("simulated.profile").get<std::string>().starts_with("h200 ("));
  EXPECT_NE(measured.out.find("was measured on a simulated device (h200 ("), std::string::npos) << measured.out;
  const Outcome again = shiplap("profiles refit '" + file + "' -o '" + file + "'");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(Json::parse(read(file)).at("origin"), "simulated");
  EXPECT_EQ(Json::parse(read(file)).at("name"), "nvidia-h200-simulated");
}

TEST_F(Cli, a_simulated_profile_is_called_so_wherever_it_is_used) {
  Json profile = parsed(shiplap("profiles show h200 --json"));
  profile["origin"] = "simulated";
  const std::string file = write("p.json", profile.dump()).string();
  for (const std::string command :
       {"profiles show ", "check --profile ", "plan saxpy:n=64Ki --profile ", "predict saxpy:n=64Ki --profile ",
        "run saxpy:n=64Ki --device virtual:h200 --profile ",
        "evaluate saxpy:n=64Ki --strategies explicit --device virtual:h200 --profile "}) {
    const Outcome outcome = shiplap(command + "'" + file + "'");
    EXPECT_NE(outcome.out.find("Profile h200 was measured on a simulated device"), std::string::npos)
        << command << outcome.out.substr(0, 500) << outcome.err;
  }
  const Outcome check = shiplap("check --json --profile '" + file + "'");
  EXPECT_EQ(check.code, 1) << "no node can be judged by it";
  EXPECT_EQ(Json::parse(check.out).at("origin"), "simulated");
  EXPECT_EQ(parsed(shiplap("plan saxpy:n=64Ki --json --profile '" + file + "'")).at("profile_origin"), "simulated");
  const Outcome compared = shiplap("compare '" + file + "' h200");
  EXPECT_NE(compared.out.find("The baseline was measured on a simulated device"), std::string::npos) << compared.out;
}

TEST_F(Cli, measure_goes_on_where_it_was_interrupted_and_only_there) {
  const std::string file = (folder / "node.json").string();
  const std::string measure = "measure --quick --only 'launch.*' --device virtual:h200 -o '" + file + "'";
  EXPECT_EQ(shiplap(measure + " --resume").code, 0) << "nothing to go on with is no error";
  Json half = Json::parse(read(file));
  ASSERT_EQ(half["measurements"].size(), 3u);
  half["measurements"].erase(2);
  half["measurements"][0]["samples_us"] = {2.5, 2.5, 2.5};
  write("node.json", half.dump());
  EXPECT_EQ(shiplap(measure + " --resume").code, 0);
  const Json whole = Json::parse(read(file));
  ASSERT_EQ(whole["measurements"].size(), 3u);
  EXPECT_EQ(whole["measurements"][0]["samples_us"], Json({2.5, 2.5, 2.5})) << "taken over";

  EXPECT_FALSE(fs::exists(file + ".partial"));
  fs::rename(file, file + ".partial");
  EXPECT_EQ(shiplap(measure + " --resume").code, 0);
  EXPECT_EQ(Json::parse(read(file))["measurements"][0]["samples_us"], Json({2.5, 2.5, 2.5})) << "what was interrupted";
  EXPECT_FALSE(fs::exists(file + ".partial"));

  // A measurement that is killed after it has written the file leaves what it kept before.
  half["measurements"][0]["samples_us"] = {9.5, 9.5, 9.5};
  fs::last_write_time(write("node.json.partial", half.dump()), fs::last_write_time(file) - std::chrono::seconds(3));
  EXPECT_EQ(shiplap(measure + " --resume").code, 0);
  EXPECT_EQ(Json::parse(read(file))["measurements"][0]["samples_us"], Json({2.5, 2.5, 2.5})) << "what was finished";
  EXPECT_FALSE(fs::exists(file + ".partial"));

  half["source"] = "shiplap measure --device cuda:7";
  write("node.json", half.dump());
  expect_refused(shiplap(measure + " --resume"), 1, {"--resume", "another measurement", "cuda:7"});
  EXPECT_EQ(shiplap("measure --quick --resume --device virtual:h200").code, 64) << "there is no file to go on with";
}

TEST_F(Cli, compare_exits_2_and_names_the_figure_that_is_a_tenth_worse) {
  const Outcome same = shiplap("compare h200 h200");
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_NE(same.out.find("NOT DEGRADED: 0 of "), std::string::npos) << same.out;

  const Outcome shown = shiplap("profiles show h200 --json");
  Json profile = Json::parse(shown.out);
  bool found = false;
  for (Json& m : profile["measurements"]) {
    if (m["primitive"] != "copy.pinned.d2h" || m["arguments"]["bytes"] != 1 << 30) continue;
    found = true;
    for (Json& t : m["samples_us"]) t = t.get<double>() * 1.1;
  }
  ASSERT_TRUE(found);
  const std::string worse = write("worse.json", profile.dump()).string();
  const Outcome outcome = shiplap("compare h200 " + worse);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("copy.pinned.d2h, 1 GiB"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("DEGRADED: 1 of "), std::string::npos) << outcome.out;
  const Outcome tolerant = shiplap("compare h200 " + worse + " --tolerance 15% --json");
  EXPECT_EQ(tolerant.code, 0);
  EXPECT_FALSE(Json::parse(tolerant.out)["degraded"]);
  EXPECT_EQ(shiplap("compare h200 " + worse + " --tolerance much").code, 64);
  EXPECT_EQ(shiplap("compare h200").code, 64);
}

TEST_F(Cli, compare_shows_a_screen_of_the_figures_that_changed_most_and_all_of_them_on_request) {
  Json profile = Json::parse(shiplap("profiles show h200 --json").out);
  for (Json& m : profile["measurements"]) {
    const bool slower = m["primitive"] == "copy.pinned.d2h";
    if (slower || m["primitive"] == "copy.pinned.h2d")
      for (Json& t : m["samples_us"]) t = t.get<double>() * (slower ? 1.5 : 0.5);
  }
  profile["conditions"]["gpu.driver"] = "another";
  const std::string changed = write("changed.json", profile.dump()).string();
  const Outcome brief = shiplap("compare h200 " + changed);
  EXPECT_EQ(brief.code, 2);
  EXPECT_LE(std::ranges::count(brief.out, '\n'), 25) << brief.out;
  for (const char* said : {"copy.pinned.d2h", "copy.pinned.h2d", "1 condition differs: gpu.driver (", "--all shows"})
    EXPECT_NE(brief.out.find(said), std::string::npos) << said << brief.out;
  EXPECT_NE(brief.err.find(" more\n"), std::string::npos) << brief.err;
  EXPECT_LT(brief.err.size(), 400u) << brief.err;
  const Outcome all = shiplap("compare h200 " + changed + " --all");
  EXPECT_NE(all.out.find("copy.pinned.d2h, 1 MiB"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("another"), std::string::npos) << all.out;
}

/// A device whose host has this governor.
class DeviceOfGovernor : public ForwardingDevice {
 public:
  explicit DeviceOfGovernor(std::string governor)
      : ForwardingDevice(open_virtual(planted_profile(), "virtual:planted", VirtualBytes::left_out)),
        governor_(std::move(governor)) {}

  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.conditions["host.governor"] = governor_;
    return info;
  }

 private:
  std::string governor_;
};

TEST(MeasureProfile, warns_once_of_a_governor_that_lowers_the_clock_of_cpus) {
  const auto said = [](const std::string& governor) {
    DeviceOfGovernor device(governor);
    MeasureOptions options;
    options.effort = Effort::quick;
    options.only = "launch.latency";
    ::testing::internal::CaptureStderr();
    const Measured measured = cli::measure_profile(device, options, "shiplap measure");
    std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(condition(measured.profile.conditions, "host.governor"), governor);
    return text;
  };
  const std::string start = "note: the frequency governor of the CPUs is ";
  const std::string warning = said("performance (CPUs 0-7), powersave (CPUs 8-15)");
  EXPECT_NE(warning.find(start + "performance (CPUs 0-7), powersave"), std::string::npos) << warning;
  EXPECT_EQ(warning.find(start), warning.rfind(start)) << warning;
  for (const char* harmless : {"performance", "unknown"}) EXPECT_EQ(said(harmless), "") << harmless;
}

TEST_F(Cli, check_warns_of_the_governor_that_a_profile_records) {
  Json profile = Json::parse(shiplap("profiles show h200 --json").out);
  profile["conditions"]["host.governor"] = "powersave";
  const Outcome outcome = shiplap("check --profile " + write("slow.json", profile.dump()).string());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("the frequency governor of the CPUs is powersave"), std::string::npos) << outcome.err;
  const Outcome harmless = shiplap("check --profile h200");
  EXPECT_EQ((harmless.out + harmless.err).find("governor"), std::string::npos) << harmless.out << harmless.err;
}

TEST_F(Cli, check_passes_the_built_in_node_and_exits_2_for_one_whose_link_trained_down) {
  const Outcome good = shiplap("check --profile h200");
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE(good.out.find("63.02 GB/s, 32.0 GT/s PCIe x16"), std::string::npos) << good.out;

  Json profile = Json::parse(shiplap("profiles show h200 --json").out);
  profile["conditions"]["gpu.link"] = "32.0 GT/s PCIe x32";  // as fast a card in this link would be half used
  const std::string path = write("half.json", profile.dump()).string();
  const Outcome outcome = shiplap("check --profile " + path);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("copies to the GPU"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("trained down"), std::string::npos) << outcome.out;
  EXPECT_EQ(shiplap("check --profile h200 --device virtual:h200").code, 64);
  EXPECT_EQ(shiplap("check --device virtual:h200").code, 0);
}

}  // namespace
}  // namespace shiplap
