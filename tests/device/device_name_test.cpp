// The names of devices with more GPUs.
#include "shiplap/device/device_name.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "shiplap/device/open.hpp"
#include "shiplap/profile/profile.hpp"
#include "tests/support/planted_profile.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

TEST(DeviceName, with_more_gpus_begins_with_those_of_the_device) {
  EXPECT_EQ(name_with_gpus("cuda:0", 4), "cuda:0,1,2,3");
  EXPECT_EQ(name_with_gpus("cuda:2", 4), "cuda:2,0,1,3");
  EXPECT_EQ(name_with_gpus("cuda:1,0", 3), "cuda:1,0,2");
  EXPECT_EQ(name_with_gpus("virtual:h200", 4), "virtual:h200:4");
  EXPECT_EQ(name_with_gpus("virtual:h200:2", 4), "virtual:h200:4");
  EXPECT_EQ(name_with_gpus("virtual:h200,h200", 4), "virtual:h200:4");
}

TEST(DeviceName, that_nobody_could_open_has_none_with_more_gpus) {
  EXPECT_EQ(name_with_gpus("mine", 2), std::nullopt);
  EXPECT_EQ(name_with_gpus("cuda:first", 2), std::nullopt);
  EXPECT_EQ(name_with_gpus("virtual:h200,h100", 2), std::nullopt);
}

TEST(DeviceName, of_a_profile_with_more_gpus_opens_so_many) {
  const TemporaryFolder folder;
  const std::string files[] = {(folder.path() / "node.json").string(), (folder.path() / "odd:2").string()};
  for (const std::string& file : files) {
    save_profile(planted_profile(), file);
    const auto device = open("virtual:" + file);
    ASSERT_EQ(device->info().gpus, 1u) << file;
    EXPECT_EQ(open(name_with_gpus(device->info().id, 4).value())->info().gpus, 4u) << file;
  }
}

}  // namespace
}  // namespace shiplap
