// Copies over all links, on the virtual device. On real streams: tests/device/cuda/enqueue_test.cpp.
#include "shiplap/pipeline/copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/node.hpp"
#include "tests/support/linked_gpus.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

struct Copies : ::testing::Test {
  std::shared_ptr<MeasurableDevice> device = open_virtual(linked_gpus(3), "virtual:linked");
  Node node = node_of(*device, linked_gpus(3));

  Memory pinned(Bytes size) { return device->allocate(Place::host(), MemoryKind::pinned, size); }
  Memory on_gpu(Bytes size, std::uint16_t gpu) { return device->allocate(Place::gpu(gpu), MemoryKind::device, size); }
  /// Copies there and back, over other links or not.
  std::pair<Relay, Relay> round_trip(Copier& copier, Bytes size, std::uint16_t gpu) {
    const Memory from = pinned(size);
    const Memory there = on_gpu(size, gpu);
    const Memory back = pinned(size);
    for (std::size_t i = 0; i < size.count; ++i) from.data()[i] = static_cast<std::byte>(i * 31 + i / 4096);
    const Relay in = copier.copy(there.data(), from.data(), size, nullptr);
    const Relay out = copier.copy(back.data(), there.data(), size, nullptr);
    EXPECT_EQ(std::memcmp(back.data(), from.data(), size.count), 0) << to_string(size) << " by GPU " << gpu;
    return {in, out};
  }
};

TEST_F(Copies, go_over_the_links_of_all_gpus_to_whichever_of_them) {
  Copier copier(node);
  for (std::uint16_t gpu = 0; gpu < 3; ++gpu) {
    const auto [in, out] = round_trip(copier, 8_MiB + 12345_B, gpu);
    EXPECT_EQ(in.through.size(), 2u) << gpu;
    EXPECT_EQ(out.through.size(), 2u) << gpu;
    for (const RelayShare& one : in.through) EXPECT_NE(one.gpu, gpu);
  }
}

TEST_F(Copies, of_every_size_arrive_whole_and_small_ones_over_their_own_link) {
  Copier copier(node);
  for (const Bytes size : {1_B, 4095_B, 64_KiB, 1_MiB, 3_MiB + 1_B, 9_MiB}) round_trip(copier, size, 1);
  EXPECT_TRUE(round_trip(copier, 64_KiB, 0).first.through.empty());
}

TEST_F(Copies, go_over_their_own_link_where_that_is_asked_for_or_others_would_lose_too_much) {
  Copier own(node, {.relays = std::vector<std::uint16_t>{}});
  EXPECT_TRUE(round_trip(own, 8_MiB, 0).first.through.empty());
  Copier one(node, {.relays = std::vector<std::uint16_t>{2}});
  EXPECT_EQ(round_trip(one, 8_MiB, 0).first.through.at(0).gpu, 2);
  Copier careful(node, {.max_slowdown = 1e-6});
  EXPECT_TRUE(round_trip(careful, 8_MiB, 0).first.through.empty());
}

TEST_F(Copies, refuse_memory_that_no_copy_engine_reaches_and_say_what_to_do) {
  Copier copier(node);
  const Memory host = pinned(1_MiB);
  const Memory gpu = on_gpu(1_MiB, 0);
  std::vector<std::byte> pageable(1 << 20);
  const auto refusal = [&](void* to, const void* from) {
    return message_of<UsageError>([&] { copier.copy(to, from, 1_MiB, nullptr); });
  };
  EXPECT_THAT(refusal(gpu.data(), pageable.data()), HasSubstr("pin it"));
  EXPECT_THAT(refusal(host.data(), pageable.data()), HasSubstr("on a GPU of virtual:linked"));
  EXPECT_THAT(refusal(gpu.data(), gpu.data()), HasSubstr("from GPU to GPU"));
  EXPECT_THAT(refusal(nullptr, host.data()), HasSubstr("null"));
  EXPECT_THROW(Copier(node_of(linked_gpus(2))), UsageError) << "no device";
  for (const std::vector<std::uint16_t>& relays : {std::vector<std::uint16_t>{3}, {1, 1}})
    EXPECT_THROW(Copier(node, {.relays = relays}), UsageError) << relays.front();
}

TEST_F(Copies, of_one_function_keep_what_they_need_in_the_thread) {
  const Memory from = pinned(8_MiB);
  const Memory there = on_gpu(8_MiB, 0);
  EXPECT_FALSE(copy(node, there.data(), from.data(), 8_MiB, nullptr).through.empty());
  EXPECT_FALSE(copy(node, from.data(), there.data(), 8_MiB, nullptr).through.empty());
}

}  // namespace
}  // namespace shiplap
