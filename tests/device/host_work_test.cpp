#include "shiplap/device/host_work.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <numeric>
#include <random>
#include <vector>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

std::vector<std::byte> pattern(std::size_t size) {
  std::mt19937_64 random(size);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

TEST(PageSize, is_a_power_of_two_of_4_KiB_or_more) {
  EXPECT_GE(page_size(), 4096u);
  EXPECT_EQ(page_size() & (page_size() - 1), 0u);
}

TEST(TouchPages, keeps_what_the_memory_holds) {
  for (const std::size_t size : {std::size_t{1}, page_size() - 1, page_size(), 5 * page_size() + 3}) {
    std::vector<std::byte> memory = pattern(size + 2);
    const std::vector<std::byte> before = memory;
    touch_pages(std::span(memory).subspan(1, size));
    EXPECT_EQ(memory, before) << size;
  }
}

TEST(TouchPages, of_nothing_does_nothing) { EXPECT_NO_THROW(touch_pages({})); }

TEST(CopyPastCaches, brings_each_byte_from_any_address_to_any_other_and_no_byte_more) {
  constexpr std::size_t most = 300;
  std::vector<std::byte> from(most + 64);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (const std::size_t size : {0u, 1u, 15u, 63u, 64u, 65u, 127u, 128u, 200u, 300u})
    for (const std::size_t source : {0u, 1u, 16u, 63u})
      for (std::size_t target = 0; target < 64; ++target) {
        std::vector<std::byte> to(most + 128);
        std::vector<std::byte> expected = to;
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(source), size,
                    expected.begin() + static_cast<std::ptrdiff_t>(target));
        copy_past_caches(to.data() + target, from.data() + source, Bytes{size});
        ASSERT_EQ(to, expected) << size << " bytes from " << source << " to " << target;
      }
}

TEST(BeBusy, takes_at_least_its_time_and_computes_meanwhile) {
  using Steady = std::chrono::steady_clock;
  const auto computed = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  double most = 0;
  for (const double time : {1e-6, 200e-6, 0.01, 0.01, 0.01}) {
    const double computed_before = computed();
    const auto start = Steady::now();
    be_busy(Seconds{time});
    EXPECT_GE(std::chrono::duration<double>(Steady::now() - start).count(), time);
    most = std::max(most, computed() - computed_before);
  }
  EXPECT_GE(most, 0.001);  // it does not sleep; other programs may take most of the time
}

TEST(BeBusy, returns_at_once_for_no_time) {
  const auto start = std::chrono::steady_clock::now();
  be_busy(Seconds{0});
  be_busy(Seconds{-5});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
}

// Pages that the system has promised and not made yet; single ones, or touching one would make its neighbours too.
class Promised {
 public:
  explicit Promised(std::size_t pages)
      : size_(pages * page_size()),
        data_(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) throw Error("no memory");
    madvise(data_, size_, MADV_NOHUGEPAGE);
  }
  ~Promised() { munmap(data_, size_); }
  Promised(const Promised&) = delete;
  Promised& operator=(const Promised&) = delete;
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), size_}; }

 private:
  std::size_t size_;
  void* data_;
};

TEST(ShareOfPagesPresent, counts_the_pages_that_were_touched) {
  const Promised memory(64);
  const auto share = [&](std::span<const std::byte> part) { return fraction_of_pages_present(part); };
  const std::span<std::byte> all = memory.bytes();
  if (access("/proc/self/pagemap", R_OK) != 0) GTEST_SKIP() << "the system does not say which pages are present";
  EXPECT_EQ(share(all), 0.0);
  touch_pages(all.first(all.size() / 2));
  EXPECT_EQ(share(all), 0.5);
  EXPECT_EQ(share(all.first(all.size() / 2)), 1.0);
  EXPECT_EQ(share(all.subspan(all.size() / 2)), 0.0);
  touch_pages(all);
  EXPECT_EQ(share(all), 1.0);
}

TEST(ShareOfPagesPresent, counts_a_page_that_the_memory_has_a_part_of_as_a_whole_one) {
  const Promised memory(4);
  const std::span<std::byte> all = memory.bytes();
  if (access("/proc/self/pagemap", R_OK) != 0) GTEST_SKIP() << "the system does not say which pages are present";
  touch_pages(all.first(1));
  // From the last byte of the first page, which is present, to the first byte of the third.
  EXPECT_NEAR(fraction_of_pages_present(all.subspan(page_size() - 1, page_size() + 2)).value(), 1.0 / 3, 1e-12);
}

TEST(ShareOfPagesPresent, of_nothing_is_unknown) { EXPECT_FALSE(fraction_of_pages_present({})); }

TEST(FlushCaches, keeps_what_the_memory_holds) {
  if (!can_flush_caches()) GTEST_SKIP() << "this build cannot flush caches";
  for (const std::size_t size : {1, 63, 64, 65, 4096, 100'001}) {
    std::vector<std::byte> memory = pattern(size + 200);
    const std::vector<std::byte> before = memory;
    for (const std::size_t offset : {0, 1, 63, 64, 100}) flush_caches(std::span(memory).subspan(offset, size));
    EXPECT_EQ(memory, before) << size;
  }
}

TEST(FlushCaches, writes_back_what_was_changed_just_before) {
  if (!can_flush_caches()) GTEST_SKIP() << "this build cannot flush caches";
  std::vector<std::byte> memory(1 << 16);
  for (int value = 1; value < 20; ++value) {
    std::memset(memory.data(), value, memory.size());
    flush_caches(memory);
    EXPECT_TRUE(std::ranges::all_of(memory, [&](std::byte byte) { return byte == std::byte(value); })) << value;
  }
}

TEST(FlushCaches, of_nothing_does_nothing_and_without_an_instruction_for_it_throws) {
  if (can_flush_caches()) {
    EXPECT_NO_THROW(flush_caches({}));
  } else {
    std::byte one{};
    EXPECT_THROW(flush_caches(std::span(&one, 1)), Unsupported);
  }
}

// A chain of dependent loads through a small buffer, one for each line, in an order that no prefetcher foresees: its
// time is that of so many accesses one after the other, to the cache when they hit and to memory when they miss.
class LoadChain {
 public:
  static constexpr std::size_t lines = 1024;  // 64 KiB
  explicit LoadChain(std::uint64_t seed) : nodes_(lines) {
    std::vector<std::uint32_t> order(lines);
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937_64 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t i = 0; i < lines; ++i) nodes_[order[i]].next = order[(i + 1) % lines];
  }

  std::span<const std::byte> memory() const { return std::as_bytes(std::span(nodes_)); }

  // Once around.
  double seconds() const {
    const auto start = std::chrono::steady_clock::now();
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < lines; ++i) at = nodes_[at].next;
    // Nothing after the chain may be done before its end, nor may the chain be left out.
    volatile std::uint32_t last = at;
    const auto end = std::chrono::steady_clock::now();
    EXPECT_EQ(last, 0u);
    return std::chrono::duration<double>(end - start).count();
  }

 private:
  struct alignas(64) Node {
    std::uint32_t next = 0;
  };
  std::vector<Node> nodes_;
};

// The least of many repeats, each right after `prepare` on a warm chain: whatever else runs on the machine only adds to
// a time, and to that of flushed memory as much as to that of warm memory.
template <class Prepare>
double least(const LoadChain& chain, const Prepare& prepare) {
  double best = 1e9;
  for (int i = 0; i < 300; ++i) {
    chain.seconds();
    prepare();
    best = std::min(best, chain.seconds());
  }
  return best;
}

TEST(FlushCaches, makes_the_next_access_to_every_line_as_slow_as_memory) {
  if (!can_flush_caches()) GTEST_SKIP() << "this build cannot flush caches";
  const LoadChain chain(1);
  const double warm = least(chain, [] {});
  const double flushed = least(chain, [&] { flush_caches(chain.memory()); });
  EXPECT_GE(flushed, 1.5 * warm) << "warm " << warm * 1e9 / LoadChain::lines << " ns a line, flushed "
                                 << flushed * 1e9 / LoadChain::lines << " ns";
}

TEST(FlushCaches, leaves_other_memory_in_the_caches) {
  if (!can_flush_caches()) GTEST_SKIP() << "this build cannot flush caches";
  const LoadChain chain(1);
  const LoadChain other(2);
  const double flushed = least(chain, [&] { flush_caches(chain.memory()); });
  const double beside = least(chain, [&] { flush_caches(other.memory()); });
  EXPECT_GE(flushed, 1.5 * beside) << "flushed " << flushed * 1e9 / LoadChain::lines
                                   << " ns a line, after a flush of other "
                                   << "memory " << beside * 1e9 / LoadChain::lines << " ns";
}

TEST(FlushCaches, drops_just_the_part_that_it_is_given) {
  if (!can_flush_caches()) GTEST_SKIP() << "this build cannot flush caches";
  const LoadChain chain(1);
  const std::span<const std::byte> all = chain.memory();
  const double warm = least(chain, [] {});
  const double whole = least(chain, [&] { flush_caches(all); });
  const double eighth = least(chain, [&] { flush_caches(all.first(all.size() / 8)); });
  if (whole < 3 * warm) GTEST_SKIP() << "memory is hardly slower than the caches here";
  EXPECT_LT(eighth - warm, (whole - warm) / 2);
  EXPECT_GT(eighth - warm, (whole - warm) / 100);
}

}  // namespace
}  // namespace shiplap
