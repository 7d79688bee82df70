#include "shiplap/pipeline/profile_cache.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "shiplap/core/error.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/planted_gpu.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A device that says that it is a GPU, so that its profile is cached.
class CachedGpu : public ForwardingDevice {
 public:
  CachedGpu() : ForwardingDevice(planted_gpu()) {}
  std::string name = ForwardingDevice::info().name;
  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.name = name;
    info.id = "cuda:0";
    info.is_virtual = false;
    info.simulated.reset();
    return info;
  }
};

struct ProfileCache : ::testing::Test {
  TemporaryFolder temporary;
  std::filesystem::path folder = temporary.path();
  std::string cache_of_others;
  CachedGpu gpu;

  void SetUp() override {
    if (const char* before = std::getenv("XDG_CACHE_HOME")) cache_of_others = before;
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  void TearDown() override {
    setenv("XDG_CACHE_HOME", cache_of_others.c_str(), 1);  // an empty one counts as none
  }
  /// The profile of the GPU, which may be measured or not.
  Profile found(bool may_measure) {
    return profile_of(
        gpu,
        [&](const MeasureOptions&, const std::string&) {
          EXPECT_TRUE(may_measure);
          return Measured{.result = {}, .profile = planted_profile()};
        },
        [](std::string_view) {});
  }
};

TEST_F(ProfileCache, has_a_profile_after_it_was_measured_once) {
  EXPECT_EQ(parameter_hash(found(true)), parameter_hash(planted_profile()));
  EXPECT_EQ(parameter_hash(found(false)), parameter_hash(planted_profile()));
}

TEST_F(ProfileCache, is_replaced_by_the_built_in_profile_of_such_a_gpu_where_that_may_be_and_this_is_said) {
  std::string said;
  const auto assumed = [&] {
    return profile_of(
        gpu,
        [](const MeasureOptions&, const std::string&) { return Measured{.result = {}, .profile = planted_profile()}; },
        [&](std::string_view line) { said += line; }, true);
  };
  gpu.name = "NVIDIA H200";
  EXPECT_EQ(parameter_hash(assumed()), parameter_hash(find_profile("h200")));
  EXPECT_THAT(said, AllOf(HasSubstr("profile h200 (measured)"), HasSubstr("shiplap measure --device cuda:0 --quick")));
  EXPECT_FALSE(std::filesystem::exists(cache_path(gpu.info()).value())) << "it is not this GPU's";
  found(true);
  EXPECT_EQ(parameter_hash(assumed()), parameter_hash(planted_profile())) << "its own profile";
  gpu.name = "a GPU that nobody has measured";
  EXPECT_EQ(parameter_hash(assumed()), parameter_hash(planted_profile())) << "there is nothing to assume";
}

TEST_F(ProfileCache, that_cannot_be_read_is_an_error_and_not_measured_anew) {
  found(true);
  std::ofstream(cache_path(gpu.info()).value()) << "{";
  EXPECT_THAT(message_of([&] { found(false); }),
              AllOf(HasSubstr(cache_path(gpu.info())->string()),
                    HasSubstr("\nThis is the cached profile of cuda:0: write it anew with shiplap measure --device "
                              "cuda:0")));
}

TEST_F(ProfileCache, that_is_no_folder_keeps_nothing_and_says_so) {
  std::ofstream(folder / "shiplap") << "a file";
  EXPECT_THAT(keep_profile(planted_profile(), gpu.info()),
              StartsWith("the profile is not kept: cannot make the folder "));
  EXPECT_EQ(parameter_hash(found(true)), parameter_hash(planted_profile())) << "it is used all the same";
}

TEST_F(ProfileCache, has_another_file_for_other_gpus_and_the_same_as_ever_for_one) {
  DeviceInfo one = gpu.info();
  one.name = "NVIDIA H200";
  one.conditions = {{"gpu.driver", "580.159"}, {"gpu.pci_bus_id", "0000:00:06.0"}};
  EXPECT_EQ(cache_path(one)->filename(), "nvidia-h200-580-159-0000-00-06-0-" + kebab_case(host_name()) + ".json");
  DeviceInfo two = one;
  two.gpus = 2;
  two.id = "cuda:0,1";
  DeviceInfo others = two;
  others.id = "cuda:0,2";
  EXPECT_NE(cache_path(two), cache_path(one));
  EXPECT_NE(cache_path(two), cache_path(others));
  two.conditions["gpus.pci_bus_ids"] = "0000:00:06.0 0000:00:07.0";
  others.conditions["gpus.pci_bus_ids"] = "0000:00:06.0 0000:00:08.0";
  EXPECT_NE(cache_path(two), cache_path(others));
  others = two;
  others.id = "cuda:2,3";  // what CUDA_VISIBLE_DEVICES makes of the same GPUs
  EXPECT_EQ(cache_path(two), cache_path(others));
}

/// A device of `count` GPUs, from this number of the bus on.
DeviceInfo gpus_from(unsigned first, unsigned count) {
  DeviceInfo info;
  info.name = "NVIDIA H200";
  info.gpus = count;
  std::string addresses;
  for (unsigned g = first; g < first + count; ++g)
    addresses += fmt::format("{}0000:{:02x}:00.0", addresses.empty() ? "" : " ", g);
  info.conditions = {{"gpu.driver", "580.159"}, {"gpus.pci_bus_ids", addresses}};
  return info;
}

TEST_F(ProfileCache, of_many_gpus_has_a_name_that_file_systems_take) {
  for (const unsigned count : {2u, 16u, 64u}) {
    const DeviceInfo some = gpus_from(0, count);
    EXPECT_LT(cache_path(some)->filename().string().size(), 255u) << count;
    EXPECT_NE(cache_path(some), cache_path(gpus_from(1, count))) << count;
    EXPECT_NE(cache_path(some), cache_path(gpus_from(0, count - 1))) << count;
    EXPECT_THAT(keep_profile(planted_profile(), some), HasSubstr(" kept in ")) << count;
    EXPECT_TRUE(std::filesystem::exists(cache_path(some).value())) << count;
  }
}

TEST_F(ProfileCache, of_a_gpu_with_a_long_name_has_a_name_that_file_systems_take) {
  DeviceInfo one = gpus_from(0, 1);
  one.name = std::string(300, 'x');
  DeviceInfo other = one;
  other.conditions["gpu.driver"] = "590.1";
  EXPECT_LT(cache_path(one)->filename().string().size(), 255u);
  EXPECT_NE(cache_path(one), cache_path(other));
  EXPECT_THAT(keep_profile(planted_profile(), one), HasSubstr(" kept in "));
}

}  // namespace
}  // namespace shiplap
