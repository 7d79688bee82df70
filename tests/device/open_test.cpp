#include "shiplap/device/open.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_profile.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Without CUDA in the build, without a driver or GPU, and with fewer GPUs than that.
TEST(OpenDevice, says_of_a_gpu_that_is_not_there_what_is_missing) {
  EXPECT_THAT(
      message_of<Unsupported>([] { open("cuda:99"); }),
      AnyOf("cannot open cuda:99: this shiplap was built without CUDA; configure and build it again where nvcc "
            "is found, or use a virtual device",
            HasSubstr("cannot open cuda:99: cudaGetDeviceCount failed"),
            HasSubstr("cannot open cuda:99: the CUDA runtime sees no GPU"), HasSubstr("there is no cuda:99: ")));
}

TEST(OpenDevice, opens_several_simulated_gpus_by_their_number_or_one_by_one) {
  for (const char* name : {"virtual:h200:2", "virtual:h200,h200"}) {
    const auto gpus = open(name);
    EXPECT_EQ(gpus->info().gpus, 2u) << name;
    EXPECT_EQ(gpus->info().id, name);
    EXPECT_EQ(gpus->info().simulated->links.size(), 2u);
  }
  EXPECT_EQ(open("virtual:h200:1")->info().gpus, 1u);
}

/// A file with the planted profile of two GPUs, of which the second has half as much memory.
std::string two_gpus_in(const TemporaryFolder& folder) {
  Profile profile = with_gpus(planted_profile(), 2);
  profile.gpus[1].memory = profile.gpus[0].memory / 2;
  const std::filesystem::path file = folder.path() / "two.json";
  save_profile(profile, file);
  return file.string();
}

TEST(OpenDevice, has_the_gpus_of_the_profile_unless_their_number_is_given) {
  const TemporaryFolder folder;
  const std::string file = two_gpus_in(folder);
  const Profile planted = planted_profile();
  const auto memory_of = [&](const std::string& name) {
    std::vector<std::uint64_t> bytes;
    const DeviceInfo info = open(name)->info();
    EXPECT_EQ(info.gpus, info.simulated->gpus.size());
    for (const GpuModel& gpu : info.simulated->gpus) bytes.push_back(gpu.memory.count);
    return bytes;
  };
  const std::uint64_t all = planted.gpus[0].memory.count;
  EXPECT_THAT(memory_of("virtual:" + file), ElementsAre(all, all / 2));
  EXPECT_THAT(memory_of("virtual:" + file + ":1"), ElementsAre(all));
  EXPECT_THAT(memory_of("virtual:" + file + ":2"), ElementsAre(all, all / 2));
  EXPECT_THAT(memory_of("virtual:" + file + "," + file), ElementsAre(all, all / 2));
  EXPECT_THAT(memory_of("virtual:" + file + ":3"), ElementsAre(all, all / 2, all));
}

TEST(OpenDevice, counts_the_memory_of_each_simulated_gpu_by_itself) {
  const auto gpus = open_virtual(with_gpus(planted_profile(), 2), "virtual:two", VirtualBytes::left_out);
  const Bytes all = gpus->info().memory;
  const Memory on_first = gpus->allocate(Place::gpu(0), MemoryKind::device, all);
  EXPECT_NO_THROW(gpus->allocate(Place::gpu(1), MemoryKind::device, all));
  EXPECT_THROW(gpus->allocate(Place::gpu(0), MemoryKind::device, 1_MiB), Error);
  EXPECT_THROW(gpus->allocate(Place::gpu(2), MemoryKind::device, 1_MiB), UsageError);
}

TEST(OpenDevice, refuses_simulated_gpus_that_differ_or_are_none_or_too_many) {
  EXPECT_THAT(message_of<UsageError>([] { open("virtual:h200,h100"); }), HasSubstr("virtual:h200,h200"));
  for (const char* name : {"virtual:h200:0", "virtual:h200:65", "virtual:h200:4294967297"})
    EXPECT_THAT(message_of<UsageError>([&] { open(name); }), HasSubstr("has 1 to 64 GPUs")) << name;
  EXPECT_THAT(message_of<UsageError>([] { open("virtual:h200:x"); }), HasSubstr("the number of its GPUs, not \"x\""));
}

TEST(OpenDevice, runs_a_job_on_several_simulated_gpus_as_it_is_planned_for_them) {
  const auto gpus = open("virtual:h200:2");
  WorkloadData data(*gpus, find_workload("saxpy:n=1Mi"));
  const PlanOptions two{.space = {.gpus = 2}};
  const Plan made = plan(node_of(*gpus, *gpus->info().simulated), data.job(), two);
  EXPECT_EQ(made.chosen.predicted.value, plan(node_of(find_profile("h200")), data.job(), two).chosen.predicted.value);
  run(*gpus, made, data.job());
  EXPECT_EQ(data.verify(), "");
}

TEST(OpenDevice, says_of_an_unknown_name_in_one_short_line_what_there_is) {
  const std::string said = message_of<UsageError>([] { open("foo"); });
  EXPECT_LT(said.size(), 200u) << said;
  EXPECT_THAT(said, HasSubstr("`shiplap devices`"));
  EXPECT_THAT(message_of<UsageError>([] { open("h200"); }), HasSubstr("did you mean virtual:h200?"));
  for (const char* name : {"virtual", "virtual:"})
    EXPECT_LT(message_of<UsageError>([&] { open(name); }).size(), 200u) << "not every profile was meant by " << name;
  for (const char* name : {"cuda", "cuda:", "cuda:banana"})
    EXPECT_THAT(message_of<UsageError>([&] { open(name); }), HasSubstr("cuda:0 ")) << name;
}

}  // namespace
}  // namespace shiplap
