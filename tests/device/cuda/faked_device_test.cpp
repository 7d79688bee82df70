// Which GPUs there are, and memory on them and on the host, when CUDA refuses. Needs no GPU: every call is faked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/profile/topology.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/without_huge_pages.hpp"

namespace shiplap {
namespace {

using ::testing::AllOf;
using testing::fake_api;
using testing::fake_cuda;
using ::testing::HasSubstr;

struct CudaDeviceFake : ::testing::Test {
  Api api = fake_api();
  std::unique_ptr<Device> device = open_cuda(0, api);
};

TEST_F(CudaDeviceFake, has_no_pinned_memory_on_a_gpu) {
  EXPECT_THAT(message_of<Unsupported>([&] { device->allocate(Place::gpu(), MemoryKind::pinned, 1_MiB); }),
              HasSubstr("on the host, not on a GPU"));
}

/// KiB in huge pages of the mapping that holds this address; nullopt when the system does not say.
std::optional<std::uint64_t> in_huge_pages(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long first = 0, last = 0, kibibytes = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &first, &last) == 2) inside = first <= wanted && wanted < last;
    if (inside && std::sscanf(line.c_str(), "AnonHugePages: %llu kB", &kibibytes) == 1) return kibibytes;
  }
  return std::nullopt;
}

TEST_F(CudaDeviceFake, puts_pinned_memory_into_huge_pages_where_the_system_has_them) {
  const std::string setting = host_facts().at("host.huge_pages");
  if (setting != "madvise" && setting != "always") GTEST_SKIP() << "host.huge_pages: " << setting;
  const Memory pinned = device->allocate(Place::host(), MemoryKind::pinned, 63_MiB);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pinned.data()) % (2_MiB).count, 0u);
  const auto huge = in_huge_pages(pinned.data());
  if (!huge) GTEST_SKIP() << "the system does not say what pages memory is in";
  EXPECT_GE(*huge, 48u * 1024) << "of 64 MiB; the host's memory may be full or scattered";
}

TEST_F(CudaDeviceFake, pins_single_pages_where_there_are_no_huge_ones) {
  const WithoutHugePages without;
  if (!without.is_set()) GTEST_SKIP() << "this kernel cannot keep them from a process";
  const Memory pinned = device->allocate(Place::host(), MemoryKind::pinned, 63_MiB);
  const auto huge = in_huge_pages(pinned.data());
  if (!huge) GTEST_SKIP() << "the system does not say what pages memory is in";
  EXPECT_EQ(*huge, 0u);
  pinned.bytes().back() = std::byte{7};
  EXPECT_EQ(pinned.bytes().back(), std::byte{7});
}

TEST(ListCuda, gives_the_reason_when_the_runtime_sees_no_gpu) {
  const Api api = fake_api();
  fake_cuda().fail(0, cudaErrorNoDevice, "get_device_count");
  std::string why;
  EXPECT_TRUE(list_cuda(why, api).empty());
  EXPECT_THAT(why, AllOf(HasSubstr("cudaGetDeviceCount"), HasSubstr("cudaErrorNoDevice"), HasSubstr("nvidia-smi")));
  EXPECT_EQ(fake_cuda().last_error, cudaSuccess);
}

TEST(ListCuda, names_a_gpu_that_cuda_does_not_describe_and_lists_the_others) {
  const Api api = fake_api();
  fake_cuda().devices = 2;
  fake_cuda().fail(0, cudaErrorDevicesUnavailable, "get_device_properties");
  std::string why;
  const auto found = list_cuda(why, api);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "cuda:1");
  EXPECT_THAT(why, AllOf(HasSubstr("cuda:0"), HasSubstr("cudaErrorDevicesUnavailable")));
  EXPECT_EQ(fake_cuda().live(), 0);
}

TEST(OpenCuda, names_the_gpus_there_are_and_refuses_a_gpu_without_code) {
  const Api api = fake_api();
  EXPECT_THAT(message_of<Unsupported>([&] { open_cuda(3, api); }), AllOf(HasSubstr("cuda:3"), HasSubstr("cuda:0")));
  fake_cuda().fail(0, cudaErrorNoKernelImageForDevice, "func_get_attributes");
  EXPECT_THAT(message_of<Unsupported>([&] { open_cuda(0, api); }), HasSubstr("CMAKE_CUDA_ARCHITECTURES"));
  EXPECT_EQ(fake_cuda().live(), 0);
}

}  // namespace
}  // namespace shiplap
