// Published measurements of a program that overlaps transfers and a kernel, as their authors' files give them: the
// arccos program of "Overlapping data transfer and computation on GPU" (ETH Zürich, 2025).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap::experiments::published_sweep {

/// One row: `size` fp32 elements, each taken through `calls` scaled arccosines in one kernel, cut into `streams` equal
/// chunks with a stream each (copy in, kernel, copy out). `time` is the mean of ten runs by the host's clock, from the
/// first submission until the device is synchronised; memory is pinned and allocated before.
struct PublishedPoint {
  std::uint32_t calls = 1;
  std::uint64_t size = 1;
  std::uint32_t streams = 1;
  Seconds time{0};
};

/// The rows of one file: one run of the sweep on one node. Times of different files are not comparable.
struct PublishedData {
  std::string name;  ///< of the file, without its folder
  std::vector<PublishedPoint> points;
};

/// Reads "Calls,Size,NUM_STREAMS,Time" or, for one call, "Size,NUM_STREAMS,Time"; times in seconds; lines that begin
/// with # are comments. Throws Error naming `source`, the line and what was expected: another header, another number of
/// cells, anything but positive numbers, streams that do not divide the size, a point that was there already, no rows.
PublishedData parse_published(std::string_view text, const std::string& source);
PublishedData load_published(const std::filesystem::path&);

}  // namespace shiplap::experiments::published_sweep
