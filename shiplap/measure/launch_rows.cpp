// Primitives for the time that host and GPU take for launches and dependencies.
#include <fmt/format.h>

#include <array>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

// Chains in one stream and over several, alone and beside copies. Each is measured in two lengths, whose difference
// contains no start and no end.
template <Chain::Link link>
std::vector<Point> chain_points(const Setting& setting) {
  std::vector<Point> points;
  for (const double streams : {1.0, 4.0}) {
    for (const double busy : {0.0, 1.0}) {
      if (busy > 0 && setting.info.copy_engines < 2) continue;
      Point point{fmt::format("over {} stream(s){}", streams, busy > 0 ? " beside copies" : ""), {}};
      for (const double count : {8.0, 40.0}) {
        Arguments arguments{{"count", count}, {"streams", streams}, {"busy", busy}};
        if (link != Chain::Link::kernels) arguments["bytes"] = in_bytes(256_KiB);
        point.variants.push_back(std::move(arguments));
      }
      points.push_back(std::move(point));
    }
  }
  return points;
}
template <Chain::Link link>
Trial chain_of(MeasurableDevice& device, const Arguments& arguments) {
  return chain(device, {.link = link,
                        .count = whole(arguments, "count"),
                        .streams = whole(arguments, "streams"),
                        .busy = arguments.at("busy") > 0,
                        .size = link == Chain::Link::kernels ? Bytes{} : bytes(arguments)});
}
Trial empty_kernels(MeasurableDevice& device, const Arguments& arguments) {
  return kernel_row(device, whole(arguments, "kernels"));
}

}  // namespace

std::span<const PrimitiveRow> launch_rows() {
  static const std::array rows{
      PrimitiveRow{{"submit.copy", "host time to submit a copy", "host"},
                   [](const Setting&) -> std::vector<Point> {
                     return {count_point("copies", {28, 224})};
                   },
                   [](MeasurableDevice&, const Arguments& arguments) {
                     return copy_burst(host_to_device, 4_KiB, whole(arguments, "copies"));
                   }},
      PrimitiveRow{{"submit.launch", "host time to launch a kernel", "host"},
                   [](const Setting&) -> std::vector<Point> {
                     return {count_point("kernels", {28, 224})};
                   },
                   empty_kernels},
      PrimitiveRow{{"submit.record", "host time of launches, each waited for by one stream", "host"},
                   [](const Setting&) -> std::vector<Point> {
                     return {count_point("launches", {16, 112}, {{"followers", 1}})};
                   },
                   [](MeasurableDevice& device, const Arguments& arguments) {
                     return followers(device, whole(arguments, "launches"), whole(arguments, "followers"));
                   }},
      PrimitiveRow{{"submit.wait", "host time of launches, each waited for by four streams", "host"},
                   [](const Setting&) -> std::vector<Point> {
                     return {count_point("launches", {6, 48}, {{"followers", 4}})};
                   },
                   [](MeasurableDevice& device, const Arguments& arguments) {
                     return followers(device, whole(arguments, "launches"), whole(arguments, "followers"));
                   }},
      PrimitiveRow{{"launch.latency", "one empty kernel", "events"},
                   [](const Setting&) -> std::vector<Point> { return {count_point("kernels", {1})}; },
                   empty_kernels},
      PrimitiveRow{{"launch.gap", "empty kernels back to back", "events"},
                   [](const Setting&) -> std::vector<Point> {
                     return {count_point("kernels", {28, 224})};
                   },
                   empty_kernels},
      PrimitiveRow{{"chain.kernels", "empty kernels, each waiting for the one before it", "events"},
                   chain_points<Chain::Link::kernels>,
                   chain_of<Chain::Link::kernels>},
      PrimitiveRow{
          {"chain.h2d", "a copy to the GPU, an empty kernel, and so on, each waiting for the one before", "events"},
          chain_points<Chain::Link::to_device>,
          chain_of<Chain::Link::to_device>},
      PrimitiveRow{
          {"chain.d2h", "a copy from the GPU, an empty kernel, and so on, each waiting for the one before", "events"},
          chain_points<Chain::Link::from_device>,
          chain_of<Chain::Link::from_device>},
  };
  return rows;
}

}  // namespace shiplap
