// Pages that memory of a caller lacks. Needs no GPU.
#include "shiplap/device/cuda/host_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <span>

#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "tests/device/cuda/fake_api.hpp"

namespace shiplap {
namespace {

/// Memory that nobody has written, between two pages that cannot be accessed.
class Fresh {
 public:
  explicit Fresh(Bytes size, int protection = PROT_READ | PROT_WRITE) : length_(size.count + 2 * page_size()) {
    start_ = static_cast<std::byte*>(mmap(nullptr, length_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(start_ + page_size(), size.count, protection);
  }
  ~Fresh() { munmap(start_, length_); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;

  std::span<std::byte> bytes() const { return {start_ + page_size(), length_ - 2 * page_size()}; }
  double present() const { return fraction_of_pages_present(bytes()).value_or(-1); }

 private:
  std::size_t length_;
  std::byte* start_ = nullptr;
};

struct MissingPagesFixture : ::testing::Test {
  void SetUp() override {
    const Fresh one(4_KiB);
    if (one.present() < 0) GTEST_SKIP() << "the system does not say which pages exist";
    if (madvise(one.bytes().data(), one.bytes().size(), 23 /* MADV_POPULATE_WRITE */) != 0)
      GTEST_SKIP() << "the system makes no pages on request";
  }
};
using MissingPages = MissingPagesFixture;

TEST_F(MissingPages, are_made_by_any_number_of_threads_and_the_content_stays) {
  for (const Bytes size : {4_KiB, 1_MiB, 40_MiB + 12_KiB}) {
    const Fresh fresh(size);
    fresh.bytes().back() = std::byte{7};
    make_missing_pages(fresh.bytes().subspan(1, size.count - 2));
    EXPECT_EQ(fresh.present(), 1) << size.count;
    EXPECT_EQ(fresh.bytes().back(), std::byte{7});
    EXPECT_EQ(std::ranges::count(fresh.bytes(), std::byte{0}), static_cast<std::ptrdiff_t>(size.count) - 1);
  }
}

TEST_F(MissingPages, of_memory_that_cannot_be_written_stay_missing) {
  const Fresh fresh(16_MiB, PROT_READ);
  make_missing_pages(fresh.bytes());
  EXPECT_EQ(fresh.present(), 0);
}

TEST_F(MissingPages, of_results_are_made_before_a_run_and_those_of_inputs_are_not) {
  const Api api = testing::fake_api();
  const auto device = open_cuda(0, api);
  const Fresh in(256_KiB);
  const Fresh out(256_KiB);
  Schedule schedule;
  const auto on_host = [&](const char* name) {
    return schedule.add_buffer({.name = name, .place = Place::host(), .memory = MemoryKind::pageable, .size = 256_KiB});
  };
  const BufferId from = on_host("in");
  const BufferId to = on_host("out");
  const BufferId gpu =
      schedule.add_buffer({.name = "gpu", .place = Place::gpu(), .memory = MemoryKind::device, .size = 256_KiB});
  const StreamId stream = schedule.add_stream("copies");
  const Memory memory = device->allocate(Place::gpu(), MemoryKind::device, 256_KiB);
  const OpId sent =
      schedule.add({.what = Copy{{from, Bytes{0}, 256_KiB}, {gpu, Bytes{0}, 256_KiB}}, .stream = stream, .after = {}});
  schedule.add({.what = Copy{{gpu, Bytes{0}, 256_KiB}, {to, Bytes{0}, 256_KiB}}, .stream = stream, .after = {sent}});
  const auto execution =
      device->prepare(schedule, {.buffers = {in.bytes().data(), out.bytes().data(), memory.data()}, .kernels = {}});
  EXPECT_EQ(out.present(), 1);
  EXPECT_EQ(in.present(), 0);
  const Memory pinned = device->pin(in.bytes().data(), 256_KiB);
  EXPECT_EQ(in.present(), 1) << "the call that pins would make them one after another";
}

}  // namespace
}  // namespace shiplap
