// Helpers that the files of the table of primitives share: declarations of the rows, and makers of points.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/primitives.hpp"
#include "shiplap/measure/trial_variants.hpp"

namespace shiplap {

std::vector<PrimitiveRow> link_rows();
std::vector<PrimitiveRow> memory_kind_rows();
std::vector<PrimitiveRow> managed_rows();
std::vector<PrimitiveRow> host_rows();
std::vector<PrimitiveRow> call_rows();
std::vector<PrimitiveRow> peer_rows();
std::vector<PrimitiveRow> launch_rows();
std::vector<PrimitiveRow> submission_rows();
std::vector<PrimitiveRow> numa_rows();
std::vector<PrimitiveRow> zero_copy_rows();
std::vector<PrimitiveRow> kernel_rows();
std::vector<PrimitiveRow> block_rows();
std::vector<PrimitiveRow> beside_rows();

/// The rows of a file, in the order of the table. A row is timed by events, or by the host's clock when one is given.
struct RowTable {
  using MakePoints = std::function<std::vector<Point>(const Setting&)>;
  using MakeTrial = std::function<Trial(MeasurableDevice&, const Arguments&)>;
  using MakeDirectedTrial = std::function<Trial(CopyDirection, MeasurableDevice&, const Arguments&)>;

  std::vector<PrimitiveRow> all;

  void add(std::string name, std::string summary, MakePoints, MakeTrial, std::optional<HostClock> = {});
  /// Adds the row of one direction. "{to|from}" in a text stands for "to" in the row of H2D and for "from" in that of
  /// D2H.
  void add_way(CopyDirection, std::string_view name, std::string_view summary, MakePoints, MakeDirectedTrial,
               std::optional<HostClock> = {});
  /// Adds the row of H2D and then that of D2H.
  void add_each_way(std::string_view name, std::string_view summary, const MakePoints&, const MakeDirectedTrial&,
                    std::optional<HostClock> = {});
};

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

/// One point whose variants differ in an argument.
inline Point point_over(std::string label, const char* name, const std::vector<double>& values,
                        const Arguments& fixed = {}) {
  Point point{std::move(label), {}};
  for (const double value : values) (point.variants.emplace_back(fixed))[name] = value;
  return point;
}
/// One point whose variants differ in a count.
inline Point count_point(const char* name, const std::vector<double>& values, const Arguments& fixed = {}) {
  return point_over(fmt::format("{} {}", fmt::join(values, ", "), name), name, values, fixed);
}
/// One point whose variants differ in a count, on every device.
inline auto counts_of(const char* name, const std::vector<double>& values, const Arguments& fixed = {}) {
  return [points = std::vector{count_point(name, values, fixed)}](const Setting&) { return points; };
}
/// One point in which a number of threads copies or touches memory of this size.
inline Point point_by_threads(Bytes size, double threads) {
  return {fmt::format("{} by {} thread(s)", to_string(size), threads),
          {{{"bytes", in_bytes(size)}, {"threads", threads}}}};
}

/// Number of waves of the longer kernel behind which a copy is submitted.
constexpr double waves_behind = 4;

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

/// One copy between the GPU and memory of this kind.
inline auto copy_of(MemoryKind kind) {
  return [kind](CopyDirection way, MeasurableDevice&, const Arguments& arguments) {
    return copy_burst(way, bytes(arguments), 1, kind);
  };
}
inline Trial burst_of(CopyDirection way, MeasurableDevice&, const Arguments& arguments) {
  return copy_burst(way, bytes(arguments), whole(arguments, "copies"));
}
inline auto duplex_of(MemoryKind kind) {
  return [kind](MeasurableDevice&, const Arguments& arguments) { return duplex_copies(bytes(arguments), kind); };
}
/// The trials of `make` with nothing in the CPU's caches.
inline auto flushed_of(auto make) {
  return [make](auto&&... how) { return flushed(make(how...)); };
}

}  // namespace shiplap
