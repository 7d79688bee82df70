// What NVML says, from a table that is faked. Needs no GPU.
#include "shiplap/device/cuda/nvml.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace shiplap {
namespace {

NvmlApi fake_nvml() {
  NvmlApi api;
  api.handle_by_pci_bus_id = [](const char* id, NvmlApi::Device* gpu) {
    *gpu = gpu;
    return std::strcmp(id, "0000:ff:00.0") == 0 ? 0 : 6;
  };
  api.clock = [](NvmlApi::Device, int type, unsigned* mhz) {
    *mhz = type == 1 ? 1755 : 3201;
    return 0;
  };
  api.throttle_reasons = [](NvmlApi::Device, unsigned long long* bits) {
    *bits = 0x1 | 0x4 | 0x40;
    return 0;
  };
  api.temperature = [](NvmlApi::Device, int, unsigned* celsius) {
    *celsius = 39;
    return 0;
  };
  api.power = [](NvmlApi::Device, unsigned* milliwatts) {
    *milliwatts = 145120;
    return 0;
  };
  api.pcie_generation = [](NvmlApi::Device, unsigned* generation) {
    *generation = 4;
    return 0;
  };
  api.pcie_width = [](NvmlApi::Device, unsigned* lanes) {
    *lanes = 8;
    return 0;
  };
  api.pcie_replays = [](NvmlApi::Device, unsigned* replays) {
    *replays = 3;
    return 0;
  };
  api.persistence = [](NvmlApi::Device, int* on) {
    *on = 1;
    return 0;
  };
  api.mig = [](NvmlApi::Device, unsigned*, unsigned*) { return 3; };  // not supported
  return api;
}

TEST(Nvml, tells_clocks_and_link_as_they_are_and_unknown_for_what_fails) {
  const Conditions state = gpu_state(fake_nvml(), "0000:ff:00.0");
  const Conditions expected{{"gpu.sm_clock", "1755 MHz"},
                            {"gpu.memory_clock", "3201 MHz"},
                            {"gpu.clocks_held_by", "power cap, heat (hardware)"},
                            {"gpu.temperature", "39 °C"},
                            {"gpu.power", "145 W"},
                            {"gpu.link_loaded", "16.0 GT/s PCIe x8"},
                            {"gpu.pcie_replays", "3"},
                            {"gpu.persistence", "on"},
                            {"gpu.mig", "unknown"}};
  EXPECT_EQ(state, expected);
}

TEST(Nvml, calls_nothing_a_reason_when_the_gpu_merely_rests) {
  NvmlApi api = fake_nvml();
  api.throttle_reasons = [](NvmlApi::Device, unsigned long long* bits) {
    *bits = 0x1;
    return 0;
  };
  EXPECT_EQ(gpu_state(api, "0000:ff:00.0").at("gpu.clocks_held_by"), "nothing");
}

TEST(Nvml, knows_nothing_without_the_library_or_of_another_gpu) {
  for (const Conditions& state : {gpu_state(NvmlApi{}, "0000:ff:00.0"), gpu_state(fake_nvml(), "0000:01:00.0")}) {
    EXPECT_EQ(state.size(), 9u);
    for (const auto& [name, value] : state) EXPECT_EQ(value, "unknown") << name;
  }
}

NvmlApi fake_nvml_in_use() {
  NvmlApi api = fake_nvml();
  api.utilization = [](NvmlApi::Device, NvmlApi::Utilization* of) {
    *of = {.gpu = 87, .memory = 12};
    return 0;
  };
  api.pcie_throughput = [](NvmlApi::Device, int counter, unsigned* kb) {
    *kb = counter == 0 ? 1'000'000 : 500'000;
    return 0;
  };
  api.compute_processes = [](NvmlApi::Device, unsigned* count, NvmlApi::Process* processes) {
    *count = 2;
    processes[0].id = 4242;
    processes[1].id = 77;
    return 0;
  };
  api.process_name = [](unsigned id, char* name, unsigned) {
    if (id != 4242) return 6;
    std::strcpy(name, "/usr/bin/python3");
    return 0;
  };
  return api;
}

TEST(Nvml, tells_how_much_others_use_the_gpu_and_its_link_and_who_they_are) {
  const GpuLoad in_use = gpu_load(fake_nvml_in_use(), "0000:ff:00.0", 77);
  EXPECT_DOUBLE_EQ(in_use.busy.value(), 0.87);
  EXPECT_DOUBLE_EQ(in_use.link.value().bytes_per_second, 1.5e9);
  ASSERT_EQ(in_use.processes.size(), 1u);
  EXPECT_EQ(in_use.processes[0].id, 4242u);
  EXPECT_EQ(in_use.processes[0].name, "/usr/bin/python3");
}

TEST(Nvml, takes_one_process_of_the_list_for_its_own_where_a_container_hides_its_number) {
  EXPECT_EQ(gpu_load(fake_nvml_in_use(), "0000:ff:00.0", 1).processes.size(), 1u);
}

TEST(Nvml, tells_no_load_that_it_cannot_read) {
  for (const GpuLoad& unknown : {gpu_load(NvmlApi{}, "0000:ff:00.0", 77), gpu_load(fake_nvml(), "0000:ff:00.0", 77)}) {
    EXPECT_FALSE(unknown.busy);
    EXPECT_FALSE(unknown.link);
    EXPECT_TRUE(unknown.processes.empty());
  }
}

}  // namespace
}  // namespace shiplap
