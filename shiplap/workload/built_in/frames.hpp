// What the workloads on frames share: their sizes, pixels as functions of the index, and histograms on all cores.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/workload/parameters.hpp"

namespace shiplap {

/// `count` frames of the same size, one after the other.
struct Frames {
  std::uint64_t count = 1;
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  /// Pixels of a frame. They fit into 32 bits, and so does every bin of its histogram.
  std::uint32_t pixels() const { return width * height; }
  std::uint64_t all_pixels() const { return count * pixels(); }
};

/// The parameters frames, width and height. Throws UsageError when a frame has 2^32 pixels or more.
Frames frames_of(Parameters&, const std::string& count);

/// Writes what an array of bytes holds from index `first` on.
using ByteSource = std::function<void(std::uint64_t first, std::span<std::uint8_t>)>;

/// Bytes of hashes, eight of each: every value is equally likely. `stream` as in hash_of.
void hashed_bytes(std::uint64_t first, std::span<std::uint8_t>, std::uint64_t stream);

/// Fills an array, on all cores.
void generate_bytes(std::span<std::uint8_t>, const ByteSource&);

/// The first index at which an array differs, on all cores; its size when there is none.
std::uint64_t first_difference_of_bytes(std::span<const std::uint8_t>, const ByteSource&);

/// The 256 bins of each frame, whose pixels have these values, on all cores.
std::vector<std::uint32_t> histograms_of(const Frames&, const ByteSource& values);

/// "" if the array holds the histograms of these values, or the first bin that is wrong.
std::string wrong_histogram(const Frames&, const ByteSource& values, std::span<const std::uint32_t>);

/// Text of programs: initial_histograms, and expected_histograms of `pixels` values a frame that this function gives.
std::string histograms_program_data(std::string_view value_at);

}  // namespace shiplap
