// Primitives for the time that host and GPU take for launches and dependencies.
#include <fmt/format.h>

#include "shiplap/core/error.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

// Chains in one stream and over several. Each is measured in two lengths, whose difference contains no start and no
// end.
std::vector<Point> chain_points(const Setting&) {
  std::vector<Point> points;
  for (const double streams : {1.0, 4.0})
    points.push_back(point_over(fmt::format("over {} stream(s)", streams), "count", {8, 40},
                                {{"streams", streams}, {"bytes", in_bytes(256_KiB)}}));
  return points;
}
Trial chain_of_copies(CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
  return chain(device, {.way = way,
                        .count = whole(arguments, "count"),
                        .streams = whole(arguments, "streams"),
                        .size = bytes(arguments)});
}
Trial empty_kernels(MeasurableDevice& device, const Arguments& arguments) {
  return kernel_row(device, whole(arguments, "kernels"));
}
Trial followed_launches(MeasurableDevice& device, const Arguments& arguments) {
  return followers(device, whole(arguments, "launches"), whole(arguments, "followers"));
}

/// Copies behind no kernel, behind one of a single wave, and behind one of several waves.
std::vector<Point> points_behind(const Setting& setting) {
  const auto wave = static_cast<double>(setting.info.resident_threads / spin_probe_threads);
  if (wave == 0) throw Unsupported(fmt::format("{} does not say how many threads it holds", setting.info.id));
  return {point_over("64 KiB", "blocks", {0, wave, waves_behind * wave}, {{"bytes", in_bytes(64_KiB)}})};
}
Trial behind(CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
  return copy_behind_kernel(device, way, bytes(arguments), static_cast<std::uint64_t>(arguments.at("blocks")),
                            way == host_to_device);
}

}  // namespace

std::vector<PrimitiveRow> launch_rows() {
  constexpr HostClock clock = HostClock::submission;
  RowTable rows;
  rows.add(
      "submit.copy", "host time to submit a copy", counts_of("copies", {28, 224}),
      [](MeasurableDevice&, const Arguments& arguments) {
        return copy_burst(host_to_device, 4_KiB, whole(arguments, "copies"));
      },
      clock);
  rows.add("submit.launch", "host time to launch a kernel", counts_of("kernels", {28, 224}), empty_kernels, clock);
  rows.add("submit.record", "host time of launches, each waited for by one stream",
           counts_of("launches", {16, 112}, {{"followers", 1}}), followed_launches, clock);
  rows.add("submit.wait", "host time of launches, each waited for by four streams",
           counts_of("launches", {6, 48}, {{"followers", 4}}), followed_launches, clock);
  rows.add("launch.latency", "one empty kernel", counts_of("kernels", {1}), empty_kernels);
  rows.add("launch.gap", "empty kernels back to back", counts_of("kernels", {28, 224}), empty_kernels);
  rows.add_each_way("behind.{h2d|d2h}",
                    "a copy {to|from} the GPU submitted behind a kernel{ and its copy|} in another stream",
                    points_behind, behind);
  rows.add_each_way("chain.{h2d|d2h}",
                    "a copy {to|from} the GPU, an empty kernel, and so on, each waiting for the one before",
                    chain_points, chain_of_copies);
  return rows.all;
}

}  // namespace shiplap
