// Primitives of copies by host threads: from pageable to pinned memory, and between pageable memory and the GPU through
// pinned rings.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/measure/host_trial.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

/// Bytes that are copied in one direction, several times the private caches of a core.
constexpr Bytes copied_one_way = 128_MiB;
constexpr Bytes copied_one_way_quick = 64_MiB;
/// Bytes that are copied in each direction in duplex. They exceed the caches of a CPU, so the CPU writes back to memory
/// what the threads write.
constexpr Bytes copied_in_duplex = 512_MiB;
constexpr Bytes copied_in_duplex_quick = 256_MiB;
/// Size of large pieces, of which only many threads together keep enough in flight.
constexpr Bytes large_piece = 16_MiB;
constexpr double threads_of_large_pieces = 8;
/// Sizes of pieces that stay in the CPU caches between the thread and the copy engine.
constexpr std::array small_pieces{64_KiB, 256_KiB, 1_MiB};
constexpr std::uint64_t number_of_small_pieces = 128;
constexpr double threads_of_small_pieces = 8;

std::vector<double> thread_counts(const Setting& setting) {
  if (quick(setting)) return {1, 4, 8, 16};
  return {1, 2, 4, 8, 16};
}

std::vector<Point> copies_by_threads(const Setting& setting, Bytes size, double least) {
  std::vector<Point> points;
  for (const double t : thread_counts(setting))
    if (t >= least) points.push_back(point_by_threads(size, t));
  return points;
}

std::vector<Point> copies_one_way(const Setting& setting) {
  return copies_by_threads(setting, std::min(quick(setting) ? copied_one_way_quick : copied_one_way, setting.largest),
                           1);
}
std::vector<Point> copies_both_ways(const Setting& setting) {
  not_in_quick(setting);
  return copies_by_threads(setting, std::min(copied_one_way, setting.largest), 2);
}

Point staged_point(Bytes size, Bytes piece, double threads) {
  return {fmt::format("{} in pieces of {} by {} thread(s)", to_string(size), to_string(piece), threads),
          {{{"bytes", in_bytes(size)}, {"piece", in_bytes(piece)}, {"threads", threads}}}};
}

// Each ring has at least two pieces, so that one is copied while the next is filled.
std::vector<Point> staged_points(const Setting& setting, const std::vector<double>& thread_counts) {
  const Bytes size = staging_piece * (std::min(copied_one_way, setting.largest).count / staging_piece.count);
  std::vector<Point> points;
  for (const double t : thread_counts)
    if (t * 2 * in_bytes(staging_piece) <= in_bytes(size)) points.push_back(staged_point(size, staging_piece, t));
  if (points.empty()) throw Unsupported("the largest copy leaves nothing to cut into pieces of 4 MiB");
  return points;
}

std::vector<Point> staged_to_gpu_points(const Setting& setting) {
  // With one thread, the rate of a thread through its ring; the other rates are those of duplex copies.
  std::vector<Point> points = staged_points(setting, quick(setting) ? std::vector{1.0} : thread_counts(setting));
  for (const Bytes piece : no_larger_than(setting.largest, {small_pieces.begin(), small_pieces.end()})) {
    const std::uint64_t pieces = std::min(number_of_small_pieces, setting.largest.count / piece.count);
    points.push_back(staged_point(piece * pieces, piece, threads_of_small_pieces));
  }
  return points;
}

std::vector<Point> staged_to_host_points(const Setting& setting) {
  not_in_quick(setting);
  return staged_points(setting, thread_counts(setting));
}

std::vector<Point> staged_both_points(const Setting& setting) {
  const Bytes most = std::min(quick(setting) ? copied_in_duplex_quick : copied_in_duplex, setting.largest);
  std::vector<Bytes> pieces{staging_piece};
  if (!quick(setting)) pieces.push_back(large_piece);
  std::vector<Point> points;
  for (const double t : thread_counts(setting))
    for (const Bytes piece : pieces) {
      const Bytes size = piece * (most.count / piece.count);
      if (t < 2 || (t < threads_of_large_pieces && piece != staging_piece) || in_bytes(size) < in_bytes(piece) * t)
        continue;
      points.push_back(staged_point(size, piece, t));
    }
  if (points.empty()) throw Unsupported("the largest copy leaves nothing to cut into pieces");
  return points;
}

auto copies_of_threads(bool both) {
  return [both](MeasurableDevice&, const Arguments& arguments) {
    return host_copies(bytes(arguments), whole(arguments, "threads"), both);
  };
}
Trial through_rings(std::optional<CopyDirection> way, MeasurableDevice&, const Arguments& arguments) {
  return staged_copies({.way = way,
                        .size = bytes(arguments),
                        .piece = {static_cast<std::uint64_t>(arguments.at("piece"))},
                        .threads = whole(arguments, "threads")});
}

}  // namespace

std::vector<PrimitiveRow> host_rows() {
  constexpr HostClock clock = HostClock::completion;
  RowTable rows;
  rows.add("host.copy", "host threads that copy from pageable to pinned memory", copies_one_way,
           copies_of_threads(false), clock);
  rows.add("host.copy.both", "host threads that copy, half of them from pageable to pinned memory", copies_both_ways,
           copies_of_threads(true), clock);
  rows.add_way(host_to_device, "staged.h2d", "pageable memory to the GPU through the pinned ring of each thread",
               staged_to_gpu_points, through_rings, clock);
  rows.add_way(device_to_host, "staged.d2h",
               "the GPU's memory to pageable memory through the pinned ring of each thread", staged_to_host_points,
               through_rings, clock);
  rows.add(
      "staged.both", "duplex copies of pageable memory through pinned rings, half of the threads for each direction",
      staged_both_points,
      [](MeasurableDevice& device, const Arguments& arguments) { return through_rings({}, device, arguments); }, clock);
  return rows.all;
}

}  // namespace shiplap
