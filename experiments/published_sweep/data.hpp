// Published measurements of a program that overlaps transfers and a kernel, read from its authors' files: the arccos
// program of "Overlapping data transfer and computation on GPU" (ETH Zürich, 2025).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap::experiments::published_sweep {

/// One row. `size` fp32 elements are cut into `streams` equal chunks with a stream each (copy in, kernel, copy out),
/// and the kernel computes `calls` scaled arccosines of each element. `time` is the mean of ten runs by the host's
/// clock, from the first submission until the device is synchronised. Memory is pinned and allocated before.
struct PublishedPoint {
  std::uint32_t calls = 1;
  std::uint64_t size = 1;
  std::uint32_t streams = 1;
  Seconds time{0};
};

/// The rows of one file, which is one run of the sweep on one node. Times of different files are not comparable.
struct PublishedData {
  std::string name;  ///< name of the file, without its folder
  std::vector<PublishedPoint> points;
};

/// Reads "Calls,Size,NUM_STREAMS,Time" or, for one call, "Size,NUM_STREAMS,Time". Times are in seconds. Lines that
/// begin with # are comments. Throws Error naming `source`, the line and what was expected, for another header, a wrong
/// number of cells, values that are not positive numbers, streams that do not divide the size, a repeated point, and a
/// file without rows.
PublishedData parse_published(std::string_view text, const std::string& source);
PublishedData load_published(const std::filesystem::path&);

}  // namespace shiplap::experiments::published_sweep
