#include "shiplap/device/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "shiplap/device/virtual/virtual_device.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NodeLoad, is_work_of_others_only_above_what_an_idle_node_shows) {
  struct Case {
    const char* name;
    NodeLoad load;
    std::vector<std::string> work;
  };
  const GpuProcess process{.id = 4242, .name = "python3"};
  for (const Case& c : std::initializer_list<Case>{
           {"nothing is known", {}, {}},
           {"an idle node", {.gpu = {.busy = 0.01, .link = Bandwidth{2e6}}, .host = 0.02}, {}},
           {"an idle process", {.gpu = {.busy = 0.0, .processes = {process}}}, {}},
           {"kernels", {.gpu = {.busy = 0.87}}, {"the GPU is in use 87 % of the time"}},
           {"kernels of a process",
            {.gpu = {.busy = 0.87, .processes = {process, {.id = 7}}}},
            {"the GPU is in use 87 % of the time (process 4242, python3; process 7)"}},
           {"copies", {.gpu = {.busy = 0.0, .link = Bandwidth{3.1e9}}}, {"the link of the GPU carries 3.100 GB/s"}},
           {"the host", {.host = 0.78}, {"other programs use 78 % of the time of all CPUs"}}})
    EXPECT_EQ(work_of_others(c.load), c.work) << c.name;
}

TEST(NodeLoad, names_idle_processes_as_possible_work) {
  EXPECT_THAT(possible_work_of_others({.gpu = {.processes = {{.id = 4242, .name = "python3"}}}}),
              ElementsAre("process 4242, python3 holds memory of the GPU"));
  EXPECT_THAT(possible_work_of_others({.gpu = {.busy = 0.9}, .host = 0.9}), IsEmpty());
}

TEST(CpuTimes, are_the_first_line_of_proc_stat_without_idle_and_waiting_time) {
  // user nice system idle iowait irq softirq steal guest guest_nice; guests are counted in user and nice.
  const auto times = cpu_times("cpu  100 5 20 1000 50 3 2 10 40 0\ncpu0 1 1 1 1\n");
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->busy, 140);
  EXPECT_DOUBLE_EQ(times->all, 1190);
  for (const char* other : {"", "cpu", "cpu a b", "intr 1 2 3 4 5\n"}) EXPECT_FALSE(cpu_times(other)) << other;
}

TEST(CpuTimes, can_be_read_on_this_host) {
  std::ifstream file("/proc/stat");
  EXPECT_TRUE(cpu_times(std::string(std::istreambuf_iterator<char>(file), {})));
}

TEST(NodeLoad, is_none_on_a_virtual_device) {
  const NodeLoad load = observe_load(*open_virtual(planted_profile(), "virtual:planted"), Seconds{0});
  EXPECT_FALSE(load.host);
  EXPECT_THAT(work_of_others(load), IsEmpty());
}

/// A device that claims to be a GPU, used by somebody else.
class UsedGpu : public ForwardingDevice {
 public:
  UsedGpu() : ForwardingDevice(open_virtual(planted_profile(), "virtual:planted")) {}
  DeviceInfo info() const override {
    DeviceInfo info = ForwardingDevice::info();
    info.is_virtual = false;
    return info;
  }
  GpuLoad load(std::uint16_t) const override { return {.busy = 0.5}; }
};

TEST(NodeLoad, is_that_of_the_gpu_and_of_the_host_of_this_process) {
  const NodeLoad load = observe_load(UsedGpu(), milliseconds(50));
  EXPECT_EQ(load.gpu.busy, 0.5);
  ASSERT_TRUE(load.host);
  EXPECT_GE(*load.host, 0);
  EXPECT_LE(*load.host, 1);
}

}  // namespace
}  // namespace shiplap
