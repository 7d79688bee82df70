// Primitives of ops that are submitted in one call: copies in a batch (cudaMemcpyBatchAsync), and graphs.
#include <algorithm>

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
    points.push_back(point_over(fmt::format("{} x {}, {}", to_string(size), many / 4, many), "copies", {many / 4, many},
                                {{"bytes", in_bytes(size)}}));
  }
  if (points.empty()) throw Unsupported("the largest copy leaves no copies to submit together");
  return points;
}

Trial batch_of_copies(CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
  return in_one_batch(burst_of(way, device, arguments));
}
Trial graph_of_copies(CopyDirection way, MeasurableDevice& device, const Arguments& arguments) {
  return as_graph(burst_of(way, device, arguments));
}
Trial graph_of_kernels(MeasurableDevice& device, const Arguments& arguments) {
  return as_graph(kernel_row(device, whole(arguments, "kernels")));
}

}  // namespace

std::vector<PrimitiveRow> submission_rows() {
  const auto two_counts_of_kernels = counts_of("kernels", {28, 224});
  RowTable rows;
  rows.add_each_way("batch.pinned.{h2d|d2h}", "copies {to|from} the GPU that are submitted in one call",
                    copies_together, batch_of_copies);
  rows.add(
      "submit.batch", "host time to submit copies in one call", counts_of("copies", {28, 224}),
      [](MeasurableDevice&, const Arguments& arguments) {
        return in_one_batch(copy_burst(host_to_device, 4_KiB, whole(arguments, "copies")));
      },
      HostClock::submission);
  rows.add_each_way("graph.pinned.{h2d|d2h}", "copies {to|from} the GPU that are the nodes of a graph", copies_together,
                    graph_of_copies);
  rows.add("graph.kernels", "empty kernels that are the nodes of a graph, one after another", two_counts_of_kernels,
           graph_of_kernels);
  rows.add("submit.graph", "host time to launch a graph of empty kernels", two_counts_of_kernels, graph_of_kernels,
           HostClock::submission);
  return rows.all;
}

}  // namespace shiplap
