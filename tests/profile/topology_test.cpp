#include "shiplap/profile/topology.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/without_huge_pages.hpp"

namespace shiplap {
namespace {

/// The value of the first line "key: value" of a file; empty when there is none.
std::string line_of(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == line.npos ? "" : line.substr(value);
  }
  return "";
}

TEST(HostFacts, names_every_fact_and_leaves_none_empty) {
  const Conditions facts = host_facts();
  for (const std::string key : {"host.cpu", "host.packages", "host.cores", "host.hardware_threads", "host.numa_nodes",
                                "host.memory", "host.page_size", "host.huge_pages", "host.governor", "host.turbo",
                                "host.iommu", "host.hypervisor", "host.kernel"}) {
    ASSERT_TRUE(facts.contains(key)) << key;
    EXPECT_FALSE(facts.at(key).empty()) << key;
  }
}

TEST(HostFacts, agrees_with_the_kernel_on_the_processor) {
  const std::string model = line_of("/proc/cpuinfo", "model name");
  if (model.empty()) GTEST_SKIP() << "/proc/cpuinfo names no model here";
  const std::string cpu = host_facts().at("host.cpu");
  if (cpu == "unknown") GTEST_SKIP() << "hwloc finds no model here";
  EXPECT_EQ(cpu, model);
}

TEST(HostFacts, says_when_this_process_gets_no_huge_pages_whatever_the_setting) {
  const WithoutHugePages without;
  if (!without.is_set()) GTEST_SKIP() << "this kernel cannot keep them from a process";
  EXPECT_EQ(host_facts().at("host.huge_pages"), "never in this process");
}

TEST(HostFacts, agrees_with_the_kernel_on_memory) {
  const std::string total = line_of("/proc/meminfo", "MemTotal");
  if (total.empty()) GTEST_SKIP() << "/proc/meminfo is not readable here";
  const Bytes expected{std::stoull(total) * 1024};
  const Bytes found = parse_bytes(host_facts().at("host.memory"), "host.memory");
  // The fact is rounded to 4 digits.
  EXPECT_NEAR(static_cast<double>(found.count), static_cast<double>(expected.count),
              static_cast<double>(expected.count) * 1e-3);
}

TEST(HostFacts, agrees_with_the_system_on_threads_pages_and_kernel) {
  const Conditions facts = host_facts();
  const int threads = std::stoi(facts.at("host.hardware_threads"));
  EXPECT_GE(threads, 1);
  EXPECT_LE(threads, sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_LE(std::stoi(facts.at("host.cores")), threads);
  EXPECT_GE(std::stoi(facts.at("host.numa_nodes")), 1);
  EXPECT_EQ(parse_bytes(facts.at("host.page_size"), "host.page_size").count, static_cast<std::uint64_t>(getpagesize()));
  utsname system{};
  ASSERT_EQ(uname(&system), 0);
  EXPECT_NE(facts.at("host.kernel").find(system.release), std::string::npos);
}

TEST(HostFacts, of_a_host_in_which_nothing_finds_processors_are_an_error_that_names_the_call) {
  const char* const before = getenv("HWLOC_COMPONENTS");
  const std::string old = before == nullptr ? "" : before;
  setenv("HWLOC_COMPONENTS", "stop", 1);  // hwloc then has no way to look at the host
  const std::string message = message_of([] { host_facts(); });
  if (before == nullptr)
    unsetenv("HWLOC_COMPONENTS");
  else
    setenv("HWLOC_COMPONENTS", old.c_str(), 1);
  EXPECT_NE(message.find("cannot examine the host: hwloc_topology_load failed: "), std::string::npos) << message;
  EXPECT_NO_THROW(host_facts());
}

/// A folder with the files by which the system tells the governor of each CPU.
class PlantedGovernors : public ::testing::Test {
 protected:
  void plant(unsigned cpu, const std::string& governor) const {
    const auto folder = folder_.path() / ("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq");
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    ASSERT_FALSE(error) << error.message();
    std::ofstream(folder / "scaling_governor") << governor << "\n";
  }
  std::string of(const std::vector<unsigned>& cpus) const { return governors_of(cpus, folder_.path()); }

 private:
  TemporaryFolder folder_;
};

TEST_F(PlantedGovernors, are_one_word_where_all_cpus_of_the_process_have_the_same) {
  for (const unsigned cpu : {0u, 1u, 2u, 11u}) plant(cpu, "performance");
  plant(3, "powersave");
  EXPECT_EQ(of({0, 1, 2, 11}), "performance") << "the process may not use CPU 3";
  EXPECT_EQ(of({3}), "powersave");
}

TEST_F(PlantedGovernors, are_listed_with_their_cpus_where_they_differ) {
  for (const unsigned cpu : {0u, 1u, 2u, 3u, 16u}) plant(cpu, "performance");
  for (const unsigned cpu : {8u, 9u, 10u}) plant(cpu, "powersave");
  EXPECT_EQ(of({0, 1, 2, 3, 8, 9, 10, 16}), "performance (CPUs 0-3,16), powersave (CPUs 8-10)");
  EXPECT_EQ(of({8, 16}), "powersave (CPUs 8), performance (CPUs 16)");
}

TEST_F(PlantedGovernors, are_unknown_where_the_system_has_no_file) {
  EXPECT_EQ(of({0, 1}), "unknown");
  EXPECT_EQ(of({}), "unknown");
  plant(0, "performance");
  EXPECT_EQ(of({0, 1, 2}), "performance (CPUs 0), unknown (CPUs 1-2)");
  plant(1, "");
  EXPECT_EQ(of({1}), "unknown") << "an empty file";
}

}  // namespace
}  // namespace shiplap
