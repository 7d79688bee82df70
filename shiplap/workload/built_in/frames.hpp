// Common parts of the workloads on frames: their sizes, pixels as functions of the index, and reference histograms.
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
  /// Number of pixels of a frame. It fits into 32 bits, and so does every bin of a histogram.
  std::uint32_t pixels() const { return width * height; }
  std::uint64_t all_pixels() const { return count * pixels(); }
};

/// Takes the parameters frames (`count` by default), width and height. Throws UsageError when a frame has 2^32 pixels
/// or more.
Frames frames_of(Parameters&, const std::string& count);

/// Writes the bytes of an array from index `first` on.
using ByteSource = std::function<void(std::uint64_t first, std::span<std::uint8_t>)>;

/// Writes hashed bytes from index `first` on. Every value is equally likely. `stream` tells sequences apart, as in
/// hash_of.
void hashed_bytes(std::uint64_t first, std::span<std::uint8_t>, std::uint64_t stream);

/// Fills an array from its source, on all cores.
void generate_bytes(std::span<std::uint8_t>, const ByteSource&);

/// The first index at which an array differs from its source, found on all cores; the size of the array when there is
/// none.
std::uint64_t first_difference_of_bytes(std::span<const std::uint8_t>, const ByteSource&);

/// The 256 bins of each frame, whose pixels have the given values, counted on all cores.
std::vector<std::uint32_t> histograms_of(const Frames&, const ByteSource& values);

/// Compares histograms with those of the given values. Returns "" or a sentence about the first bin that is wrong.
std::string wrong_histogram(const Frames&, const ByteSource& values, std::span<const std::uint32_t>);

/// Program text of the functions initial_histograms and expected_histograms. `value_at` is the name of the function
/// from an index to a pixel's value; `pixels` must be defined before the text.
std::string histograms_program_data(std::string_view value_at);

}  // namespace shiplap
