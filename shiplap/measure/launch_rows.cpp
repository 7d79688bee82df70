// Primitives for the time that host and GPU take for launches and dependencies.
#include <fmt/format.h>

#include "shiplap/core/error.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

// Chains in one stream and over several, alone and beside copies. Each is measured in two lengths, whose difference
// contains no start and no end.
auto chain_points(bool copies) {
  return [copies](const Setting& setting) {
    std::vector<Point> points;
    for (const double streams : {1.0, 4.0})
      for (const double busy : {0.0, 1.0}) {
        if (busy > 0 && setting.info.copy_engines < 2) continue;
        Arguments fixed{{"streams", streams}, {"busy", busy}};
        if (copies) fixed["bytes"] = in_bytes(256_KiB);
        points.push_back(point_over(fmt::format("over {} stream(s){}", streams, busy > 0 ? " beside copies" : ""),
                                    "count", {8, 40}, fixed));
      }
    return points;
  };
}
auto chain_of(Chain::Link link) {
  return [link](MeasurableDevice& device, const Arguments& arguments) {
    return chain(device, {.link = link,
                          .count = whole(arguments, "count"),
                          .streams = whole(arguments, "streams"),
                          .busy = arguments.at("busy") > 0,
                          .size = link == Chain::Link::kernels ? Bytes{} : bytes(arguments)});
  };
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
  rows.add("chain.kernels", "empty kernels, each waiting for the one before it", chain_points(false),
           chain_of(Chain::Link::kernels));
  rows.add_each_way("behind.{h2d|d2h}",
                    "a copy {to|from} the GPU submitted behind a kernel{ and its copy|} in another stream",
                    points_behind, behind);
  rows.add_each_way("chain.{h2d|d2h}",
                    "a copy {to|from} the GPU, an empty kernel, and so on, each waiting for the one before",
                    chain_points(true), [](CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
                      using enum Chain::Link;
                      return chain_of(way == host_to_device ? to_device : from_device)(device, arguments);
                    });
  return rows.all;
}

}  // namespace shiplap
