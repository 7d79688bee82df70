// Primitives of ops that are submitted in one call: copies in a batch (cudaMemcpyBatchAsync), and graphs.
#include <algorithm>
#include <array>

#include "shiplap/measure/rows.hpp"
#include "shiplap/measure/trial_variants.hpp"

namespace shiplap {
namespace {

// A long sequence of copies and one a quarter as long. Their difference contains no start and no end.
std::vector<Point> copies_together(const Setting& setting) {
  const std::vector<Bytes> sizes =
      quick(setting) ? std::vector{1_MiB} : std::vector{4_KiB, 64_KiB, 256_KiB, 1_MiB, 4_MiB};
  std::vector<Point> points;
  for (const Bytes size : no_larger_than(setting.largest, sizes)) {
    const double many = std::clamp(in_bytes(64_MiB) / in_bytes(size), 16.0, 128.0);
    Point point{fmt::format("{} x {}, {}", to_string(size), many / 4, many), {}};
    for (const double copies : {many / 4, many})
      point.variants.push_back({{"bytes", in_bytes(size)}, {"copies", copies}});
    points.push_back(std::move(point));
  }
  if (points.empty()) throw Unsupported("the largest copy leaves no copies to submit together");
  return points;
}

template <CopyDirection way>
Trial batch_of_copies(MeasurableDevice& device, const Arguments& arguments) {
  return in_one_batch(burst_of<way>(device, arguments));
}
template <CopyDirection way>
Trial graph_of_copies(MeasurableDevice& device, const Arguments& arguments) {
  return as_graph(burst_of<way>(device, arguments));
}
Trial graph_of_kernels(MeasurableDevice& device, const Arguments& arguments) {
  return as_graph(kernel_row(device, whole(arguments, "kernels")));
}
std::vector<Point> two_counts_of_kernels(const Setting&) { return {count_point("kernels", {28, 224})}; }

}  // namespace

std::span<const PrimitiveRow> submission_rows() {
  static const std::array rows{
      PrimitiveRow{{"batch.pinned.h2d", "copies to the GPU that are submitted in one call", "events"},
                   copies_together,
                   batch_of_copies<host_to_device>},
      PrimitiveRow{{"batch.pinned.d2h", "copies from the GPU that are submitted in one call", "events"},
                   copies_together,
                   batch_of_copies<device_to_host>},
      PrimitiveRow{{"submit.batch", "host time to submit copies in one call", "host"},
                   [](const Setting&) -> std::vector<Point> {
                     return {count_point("copies", {28, 224})};
                   },
                   [](MeasurableDevice&, const Arguments& arguments) {
                     return in_one_batch(copy_burst(host_to_device, 4_KiB, whole(arguments, "copies")));
                   }},
      PrimitiveRow{{"graph.pinned.h2d", "copies to the GPU that are the nodes of a graph", "events"},
                   copies_together,
                   graph_of_copies<host_to_device>},
      PrimitiveRow{{"graph.pinned.d2h", "copies from the GPU that are the nodes of a graph", "events"},
                   copies_together,
                   graph_of_copies<device_to_host>},
      PrimitiveRow{{"graph.kernels", "empty kernels that are the nodes of a graph, one after another", "events"},
                   two_counts_of_kernels,
                   graph_of_kernels},
      PrimitiveRow{{"submit.graph", "host time to launch a graph of empty kernels", "host"},
                   two_counts_of_kernels,
                   graph_of_kernels},
  };
  return rows;
}

}  // namespace shiplap
