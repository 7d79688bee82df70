#include "shiplap/device/host_work.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/host_limits.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace shiplap {
namespace {

/// Bytes between flushed addresses. Some CPUs have longer cache lines; no supported CPU has shorter ones.
[[maybe_unused]] constexpr std::size_t cache_line = 64;

#if defined(__x86_64__)
constexpr bool has_flush = true;
void fence() { _mm_mfence(); }
// The flush instruction's operand must be the memory itself, not the variable that holds its address.
void flush_line(const std::byte* line) { _mm_clflush(line); }
// CLFLUSHOPT does not wait for the flush of the line before it, which makes it many times faster than CLFLUSH.
[[gnu::target("clflushopt")]] void flush_in_any_order(std::uintptr_t begin, std::uintptr_t end) {
  for (std::uintptr_t line = begin; line < end; line += cache_line) _mm_clflushopt(reinterpret_cast<void*>(line));
}
bool can_flush_in_any_order() {
  constexpr unsigned leaf = 7;
  constexpr unsigned clflushopt_bit = 1u << 23;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(leaf, 0, &a, &b, &c, &d) != 0 && (b & clflushopt_bit) != 0;
}
#elif defined(__aarch64__)
constexpr bool has_flush = true;
void fence() { asm volatile("dsb sy" ::: "memory"); }
void flush_line(const std::byte* line) { asm volatile("dc civac, %0" ::"r"(line) : "memory"); }
#elif defined(__powerpc64__)
constexpr bool has_flush = true;
void fence() { asm volatile("sync" ::: "memory"); }
void flush_line(const std::byte* line) { asm volatile("dcbf 0, %0" ::"r"(line) : "memory"); }
#else
constexpr bool has_flush = false;
void fence() {}
void flush_line(const std::byte*) {}
#endif

}  // namespace

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

namespace {

std::optional<Bytes> of_meminfo(std::string_view wanted) {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (file >> key >> kibibytes >> unit)
    if (key == wanted) return Bytes{kibibytes * 1024};
  return std::nullopt;
}

std::optional<HostMemory> tightest(std::optional<Bytes> of_host, std::optional<Bytes> of_cgroup) {
  std::optional<HostMemory> memory;
  const auto limit = [&](std::optional<Bytes> size, const char* by) {
    if (size && (!memory || *size < memory->size)) memory = HostMemory{*size, by};
  };
  limit(of_host, "");
  limit(of_cgroup, "the memory limit of the cgroup");
  limit(address_space_left(), "`ulimit -v`");
  return memory;
}

}  // namespace

std::string to_string(const HostMemory& memory) {
  return memory.limit.empty() ? to_string(memory.size)
                              : fmt::format("{} under {}", to_string(memory.size), memory.limit);
}

std::optional<HostMemory> available_host_memory() {
  return tightest(of_meminfo("MemAvailable:"), cgroup_limits().memory_left);
}

std::optional<HostMemory> total_host_memory() { return tightest(of_meminfo("MemTotal:"), cgroup_limits().memory); }

void touch_pages(std::span<std::byte> memory) {
  for (std::size_t at = 0; at < memory.size(); at += page_size()) {
    volatile std::byte& first = memory[at];
    first = first;
  }
}

#if defined(__x86_64__)
void copy_past_caches(std::byte* to, const std::byte* from, Bytes size) {
  constexpr std::size_t word = sizeof(__m128i);
  const std::size_t before = std::min<std::size_t>(size.count, -reinterpret_cast<std::uintptr_t>(to) % cache_line);
  std::memcpy(to, from, before);
  std::size_t at = before;
  for (; at + cache_line <= size.count; at += cache_line)
    for (std::size_t i = 0; i < cache_line; i += word)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + i)));
  _mm_sfence();
  std::memcpy(to + at, from + at, size.count - at);
}
#else
void copy_past_caches(std::byte* to, const std::byte* from, Bytes size) { std::memcpy(to, from, size.count); }
#endif

void be_busy(Seconds time) {
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time.count()));
  while (Clock::now() < end) {
  }
}

std::optional<double> fraction_of_pages_present(std::span<const std::byte> memory) {
  constexpr std::uint64_t present_bit = 1ull << 63;
  if (memory.empty()) return std::nullopt;
  const std::uint64_t first = reinterpret_cast<std::uintptr_t>(memory.data()) / page_size();
  const std::uint64_t last = (reinterpret_cast<std::uintptr_t>(memory.data()) + memory.size() - 1) / page_size();
  std::vector<std::uint64_t> entries(last - first + 1);
  const auto length = static_cast<std::streamsize>(entries.size() * sizeof(std::uint64_t));
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);  // the system refuses to read parts of entries, which fill a buffer
  file.open("/proc/self/pagemap", std::ios::binary);
  file.seekg(static_cast<std::streamoff>(first * sizeof(std::uint64_t)));
  file.read(reinterpret_cast<char*>(entries.data()), length);
  if (!file || file.gcount() != length) return std::nullopt;
  const auto present = std::ranges::count_if(entries, [](std::uint64_t entry) { return (entry & present_bit) != 0; });
  return static_cast<double>(present) / static_cast<double>(entries.size());
}

bool can_flush_caches() { return has_flush; }

void flush_caches(std::span<const std::byte> memory) {
  if (!has_flush) throw Unsupported("this build has no instruction that flushes the caches of this CPU");
  if (memory.empty()) return;
  fence();
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()) / cache_line * cache_line;
  const auto end = reinterpret_cast<std::uintptr_t>(memory.data()) + memory.size();
#if defined(__x86_64__)
  static const bool in_any_order = can_flush_in_any_order();
  if (in_any_order) {
    flush_in_any_order(begin, end);
    return fence();
  }
#endif
  for (std::uintptr_t line = begin; line < end; line += cache_line)
    flush_line(reinterpret_cast<const std::byte*>(line));
  fence();
}

}  // namespace shiplap
