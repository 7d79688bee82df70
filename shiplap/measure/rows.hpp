// Helpers that the files of the table of primitives share: declarations of the rows, and makers of points.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/primitives.hpp"
#include "shiplap/measure/trial_variants.hpp"

namespace shiplap {

using CopyDirection::device_to_host;
using CopyDirection::host_to_device;

std::span<const PrimitiveRow> link_rows();
std::span<const PrimitiveRow> memory_kind_rows();
std::span<const PrimitiveRow> managed_rows();
std::span<const PrimitiveRow> host_rows();
std::span<const PrimitiveRow> call_rows();
std::span<const PrimitiveRow> peer_rows();
std::span<const PrimitiveRow> launch_rows();
std::span<const PrimitiveRow> submission_rows();
std::span<const PrimitiveRow> numa_rows();
std::span<const PrimitiveRow> zero_copy_rows();
std::span<const PrimitiveRow> kernel_rows();
std::span<const PrimitiveRow> event_rows();
std::span<const PrimitiveRow> block_rows();
std::span<const PrimitiveRow> beside_rows();

inline unsigned whole(const Arguments& arguments, const char* name) {
  return static_cast<unsigned>(arguments.at(name));
}
inline Bytes bytes(const Arguments& arguments) { return {static_cast<std::uint64_t>(arguments.at("bytes"))}; }
inline bool quick(const Setting& setting) { return setting.effort == Effort::quick; }

/// One point with a single variant for each size.
inline std::vector<Point> size_points(const std::vector<Bytes>& sizes, const Arguments& fixed = {}) {
  std::vector<Point> points;
  for (const Bytes size : sizes) {
    Arguments arguments = fixed;
    arguments["bytes"] = in_bytes(size);
    points.push_back({to_string(size), {std::move(arguments)}});
  }
  return points;
}

/// One point whose variants differ in a count.
inline Point count_point(const char* name, const std::vector<unsigned>& values, const Arguments& fixed = {}) {
  Point point{fmt::format("{} {}", fmt::join(values, ", "), name), {}};
  for (const unsigned value : values) {
    Arguments arguments = fixed;
    arguments[name] = value;
    point.variants.push_back(std::move(arguments));
  }
  return point;
}

/// Throws Unsupported in a quick measurement: these points take too long for it.
inline void not_in_quick(const Setting& setting) {
  if (quick(setting)) throw Unsupported("left out of a quick measurement");
}

inline void require_two_engines(const Setting& setting) {
  if (setting.info.copy_engines < 2)
    throw Unsupported(fmt::format("{} has one copy engine: the two directions take turns", setting.info.name));
}

/// Powers of two from `first` to `last`: all of them, or every `stride`-th.
inline std::vector<Bytes> powers_of_two(Bytes first, Bytes last, unsigned stride = 1) {
  std::vector<Bytes> sizes;
  for (Bytes size = first; size <= last; size = {size.count << stride}) sizes.push_back(size);
  return sizes;
}

inline std::vector<Bytes> no_larger_than(Bytes largest, std::vector<Bytes> sizes) {
  std::erase_if(sizes, [&](Bytes size) { return size > largest; });
  return sizes;
}

// The next functions make trials that several files use.
template <CopyDirection way, MemoryKind kind = MemoryKind::pinned>
Trial copy_of(MeasurableDevice&, const Arguments& arguments) {
  return copy_burst(way, bytes(arguments), 1, kind);
}
template <CopyDirection way>
Trial burst_of(MeasurableDevice&, const Arguments& arguments) {
  return copy_burst(way, bytes(arguments), whole(arguments, "copies"));
}
template <CopyDirection way, MemoryKind kind = MemoryKind::pinned>
Trial flushed_copy_of(MeasurableDevice&, const Arguments& arguments) {
  return flushed_copy(way, bytes(arguments), kind);
}
template <MemoryKind kind>
Trial duplex_of(MeasurableDevice&, const Arguments& arguments) {
  return duplex_copies(bytes(arguments), kind);
}
template <MemoryKind kind>
Trial flushed_duplex_of(MeasurableDevice&, const Arguments& arguments) {
  return flushed(duplex_copies(bytes(arguments), kind));
}

}  // namespace shiplap
