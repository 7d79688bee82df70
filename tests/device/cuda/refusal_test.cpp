// What the CUDA device refuses before it does anything. Needs no GPU: every call is faked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/suite/transfers.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using testing::fake_api;
using testing::fake_cuda;
using testing::FaultMemory;
using ::testing::HasSubstr;

struct RefusalFixture : ::testing::Test {
  RefusalFixture() {
    fake_cuda().devices = 2;
    device = open_cuda(0, api);
    both = open_cuda(std::vector{0, 1}, api);
  }

  Api api = fake_api();
  std::unique_ptr<MeasurableDevice> device;
  std::unique_ptr<MeasurableDevice> both;  ///< GPUs
};
using CudaRefusal = RefusalFixture;

TEST_F(CudaRefusal, to_compare_what_lies_outside_of_the_memory) {
  for (const auto& [place, kind] :
       {std::pair{Place::gpu(), MemoryKind::device}, {Place::host(), MemoryKind::pageable}}) {
    const Memory memory = device->allocate(place, kind, 256_B);
    device->fill(memory, 1);
    EXPECT_EQ(device->mismatches(memory, 248_B, 8_B, 1, 248_B), 0u);
    fake_cuda().calls.clear();
    const auto message = [&](Bytes offset, Bytes length) {
      return message_of([&] { device->mismatches(memory, offset, length, 1, offset); });
    };
    EXPECT_EQ(message(0_B, 257_B), "cannot compare 257 B from byte 0 on: the memory has 256 B");
    EXPECT_EQ(message(248_B, 9_B), "cannot compare 9 B from byte 248 on: the memory has 256 B");
    EXPECT_EQ(message(264_B, 0_B), "cannot compare 0 B from byte 264 on: the memory has 256 B");
    EXPECT_THAT(message(16_B, Bytes{~std::uint64_t{0}}), HasSubstr("from byte 16 on")) << "whose sum wraps around";
    EXPECT_EQ(fake_cuda().count("launch_kernel"), 0u);
  }
}

TEST_F(CudaRefusal, to_compare_from_the_middle_of_a_word_of_the_pattern_on) {
  const Memory memory = device->allocate(Place::gpu(), MemoryKind::device, 256_B);
  device->fill(memory, 1);
  fake_cuda().calls.clear();
  EXPECT_EQ(message_of([&] { device->mismatches(memory, 4_B, 8_B, 1, 0_B); }),
            "the pattern can be compared at multiples of 8 bytes, not at 4 with 0");
  EXPECT_EQ(message_of([&] { device->mismatches(memory, 8_B, 8_B, 1, 12_B); }),
            "the pattern can be compared at multiples of 8 bytes, not at 8 with 12");
  EXPECT_EQ(fake_cuda().count("launch_kernel"), 0u);
}

TEST_F(CudaRefusal, to_manage_memory_whose_pages_the_gpu_does_not_move) {
  api.device_get_attribute = [](int* value, cudaDeviceAttr which, int) {
    *value = which == cudaDevAttrConcurrentManagedAccess ? 0 : 2;
    return cudaSuccess;
  };
  for (const Place place : {Place::host(), Place::gpu()})
    for (const Bytes size : {0_B, 256_B})
      EXPECT_EQ(message_of<Unsupported>([&] { device->allocate(place, MemoryKind::managed, size); }),
                "cuda:0 does not move pages of managed memory on demand");
  EXPECT_EQ(fake_cuda().count("malloc_managed"), 0u);
}

TEST_F(CudaRefusal, to_manage_memory_names_the_gpu_that_does_not_move_its_pages) {
  api.device_get_attribute = [](int* value, cudaDeviceAttr which, int gpu) {
    *value = which == cudaDevAttrConcurrentManagedAccess && gpu == 1 ? 0 : 2;
    return cudaSuccess;
  };
  EXPECT_NO_THROW(both->allocate(Place::gpu(0), MemoryKind::managed, 256_B));
  EXPECT_EQ(message_of<Unsupported>([&] { both->allocate(Place::gpu(1), MemoryKind::managed, 256_B); }),
            "cuda:1 does not move pages of managed memory on demand");
}

TEST_F(CudaRefusal, of_a_kernel_that_would_address_pageable_memory) {
  Schedule s;
  const BufferId buffer = s.add_buffer({"x", Place::host(), MemoryKind::pageable, 256_B});
  s.add({.what = Kernel{.kernel = s.add_kernel("read"),
                        .items = 1,
                        .operands = {{{buffer, 0_B, 256_B}, AccessMode::read}},
                        .flows = {}},
         .stream = s.add_stream("compute"),
         .agent = AgentId{0},
         .after = {}});
  const int before = fake_cuda().live();
  const Memory pageable = device->allocate(Place::host(), MemoryKind::pageable, 256_B);
  const Bindings bindings{.buffers = {pageable.data()}, .kernels = {testing::inverting_kernel(api)}};
  EXPECT_EQ(message_of<Unsupported>([&] { device->prepare(s, bindings); }),
            "kernel read of chunk 0 (op 0): a kernel cannot address the pageable buffer x: copy it, or have it mapped");
  EXPECT_EQ(fake_cuda().live(), before);
}

TEST_F(CudaRefusal, to_trace_several_gpus_by_events) {
  const Schedule schedule = testing::two_gpus_inverting_twice();
  const FaultMemory memory(*both, api, schedule, false);
  const auto execution = both->prepare(schedule, memory.bindings);
  for (const Trace trace : {Trace::events, Trace::kernels}) {
    fake_cuda().calls.clear();
    EXPECT_EQ(message_of<Unsupported>([&] { execution->run({.trace = trace}); }),
              "events of several GPUs have no common clock: trace by activity records, or without");
    EXPECT_EQ(fake_cuda().count("memcpy_async"), 0u);
  }
}

}  // namespace
}  // namespace shiplap
