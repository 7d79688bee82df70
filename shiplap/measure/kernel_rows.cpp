// Primitives of kernels that use no host memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/core/error.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

// Grids around the ends of the first waves, where the time must increase if the GPU holds as many blocks as the driver
// reports.
std::vector<Point> grid_points(const Setting& setting) {
  const std::uint64_t wave = setting.info.resident_threads / spin_probe_threads;
  if (wave == 0) throw Unsupported(fmt::format("{} does not say how many threads it holds", setting.info.id));
  std::vector<std::uint64_t> grids{1,        wave / 2,     wave - 1, wave,         wave + 1, 3 * wave / 2,
                                   2 * wave, 2 * wave + 1, 3 * wave, 3 * wave + 1, 4 * wave};
  std::erase(grids, 0u);
  std::ranges::sort(grids);
  grids.erase(std::unique(grids.begin(), grids.end()), grids.end());
  std::vector<Point> points;
  for (const std::uint64_t blocks : grids)
    points.push_back({fmt::format("{} blocks", blocks), {{{"blocks", static_cast<double>(blocks)}}}});
  return points;
}

// The smallest amount is five times the L2 cache of an H200 (50 MB, NVIDIA's white paper on the Hopper architecture),
// so that time is proportional to the amount. The largest amount keeps the measurement short.
constexpr Bytes least_streamed = 256_MiB;
constexpr Bytes most_streamed = 4_GiB;
constexpr Bytes most_streamed_quick = 1_GiB;

std::vector<Point> traffic_points(const Setting& setting) {
  const Bytes most = std::min(quick(setting) ? most_streamed_quick : most_streamed, setting.largest * 4);
  const Bytes least = std::max(Bytes{64}, std::min(least_streamed, most / 4));
  std::vector<Point> points = size_points(powers_of_two(least, most));
  if (points.size() < 2) throw Unsupported("the largest copy leaves no two amounts of memory traffic to compare");
  return points;
}

// Numbers of fp32 operations. They take 0.16 to 2.6 ms at the 62 Tflop/s of an H200 (profiles/h200.json), which is long
// compared with a launch.
constexpr std::array amounts_of_arithmetic{1e10, 2e10, 4e10, 8e10, 1.6e11};

std::vector<Point> multiply_add_points(const Setting&) {
  std::vector<Point> points;
  for (const double flops : amounts_of_arithmetic)
    points.push_back({fmt::format("{:g} flop", flops), {{{"flops", flops}}}});
  return points;
}

}  // namespace

std::vector<PrimitiveRow> kernel_rows() {
  using Kind = ProbeKind;
  RowTable rows;
  rows.add("kernel.grid", "a kernel of busy blocks, over grid sizes", grid_points,
           [](MeasurableDevice& device, const Arguments& arguments) {
             return single_kernel(device, Kind::spin, whole(arguments, "blocks"), 0);
           });
  rows.add("kernel.stream", "a kernel that reads and writes device memory", traffic_points,
           [](MeasurableDevice& device, const Arguments& arguments) {
             return single_kernel(device, Kind::stream, 1, arguments.at("bytes"));
           });
  rows.add("kernel.multiply_add", "a kernel of fused multiply-adds in registers", multiply_add_points,
           [](MeasurableDevice& device, const Arguments& arguments) {
             return single_kernel(device, Kind::multiply_add, 1, arguments.at("flops"));
           });
  return rows.all;
}

}  // namespace shiplap
