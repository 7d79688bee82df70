#include "shiplap/workload/built_in/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>

#include "shiplap/core/parallel.hpp"
#include "shiplap/workload/data.hpp"

namespace shiplap {
namespace {

constexpr std::uint64_t frame_grain = 1 << 16;

}  // namespace

Frames frames_of(Parameters& parameters, const std::string& count) {
  const std::uint64_t frames = parameters.count("frames", count);
  const std::uint64_t width = parameters.count("width", "704");
  const std::uint64_t height = parameters.count("height", "576");
  if (width > std::numeric_limits<std::uint32_t>::max() / height)
    parameters.refuse(fmt::format("a frame of {} x {} pixels has 2^32 or more", width, height));
  return {frames, static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
}

void hashed_bytes(std::uint64_t first, std::span<std::uint8_t> out, std::uint64_t stream) {
  const auto write = [&](std::uint64_t length) {
    const std::uint64_t word = hash_of(first / 8, stream);
    std::memcpy(out.data(), reinterpret_cast<const char*>(&word) + first % 8, length);
    first += length;
    out = out.subspan(length);
  };
  if (first % 8 != 0) write(std::min<std::uint64_t>(8 - first % 8, out.size()));
  while (out.size() >= 8) write(8);
  if (!out.empty()) write(out.size());
}

void generate_bytes(std::span<std::uint8_t> bytes, const ByteSource& source) {
  parallel_for(bytes.size(), frame_grain, [&](std::uint64_t begin, std::uint64_t end) {
    for (; begin < end; begin += frame_grain) source(begin, bytes.subspan(begin, std::min(frame_grain, end - begin)));
  });
}

std::uint64_t first_difference_of_bytes(std::span<const std::uint8_t> bytes, const ByteSource& source) {
  std::atomic<std::uint64_t> first = bytes.size();
  parallel_for(bytes.size(), frame_grain, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint8_t> expected(std::min(frame_grain, end - begin));
    for (; begin < end; begin += frame_grain) {
      expected.resize(std::min(frame_grain, end - begin));
      source(begin, expected);
      if (std::memcmp(expected.data(), bytes.data() + begin, expected.size()) == 0) continue;
      const auto found = std::ranges::mismatch(expected, bytes.subspan(begin)).in1 - expected.begin();
      const std::uint64_t index = begin + static_cast<std::uint64_t>(found);
      std::uint64_t known = first;
      while (index < known && !first.compare_exchange_weak(known, index)) {
      }
      return;
    }
  });
  return first;
}

std::vector<std::uint32_t> histograms_of(const Frames& frames, const ByteSource& values) {
  std::vector<std::atomic<std::uint32_t>> sums(256 * frames.count);
  const std::uint64_t pixels = frames.pixels();
  parallel_for(frames.all_pixels(), frame_grain, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint8_t> buffer;
    while (begin < end) {
      const std::uint64_t frame = begin / pixels;
      buffer.resize(std::min({frame_grain, end - begin, (frame + 1) * pixels - begin}));
      values(begin, buffer);
      std::array<std::uint32_t, 256> bins{};
      for (const std::uint8_t value : buffer) ++bins[value];
      for (std::uint64_t v = 0; v < 256; ++v)
        if (bins[v] > 0) sums[256 * frame + v].fetch_add(bins[v], std::memory_order_relaxed);
      begin += buffer.size();
    }
  });
  return {sums.begin(), sums.end()};
}

std::string wrong_histogram(const Frames& frames, const ByteSource& values, std::span<const std::uint32_t> found) {
  const std::vector<std::uint32_t> expected = histograms_of(frames, values);
  const auto [wrong, right] = std::ranges::mismatch(found, expected);
  if (wrong == found.end()) return "";
  const auto i = wrong - found.begin();
  return fmt::format("histograms[{}] is {} instead of {} (bin {} of frame {})", i, *wrong, *right, i % 256, i / 256);
}

std::string histograms_program_data(std::string_view value_at) {
  return fmt::format(
      R"(std::uint32_t initial_histograms(std::uint64_t) {{ return ~0u; }}  // must be overwritten
std::uint32_t expected_histograms(std::uint64_t i) {{
  static std::vector<std::uint32_t> bins;  // histogram of the last frame that was counted
  static std::uint64_t counted = 0;
  if (bins.empty() || counted != i / 256) {{
    counted = i / 256;
    bins.assign(256, 0);
    for (std::uint64_t p = 0; p < pixels; ++p) ++bins[{}(counted * pixels + p)];
  }}
  return bins[i % 256];
}}
)",
      value_at);
}

}  // namespace shiplap
