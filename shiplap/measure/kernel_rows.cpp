// Kernels that work on the GPU alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

// The grids around the ends of the first waves, where the time steps up if the GPU holds what it says it holds.
std::vector<Point> grid_points(const Setting& setting) {
  const std::uint64_t wave = setting.info.resident_threads / 1024;
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

// Beyond the caches of the GPU, where the time is in proportion to the amount.
std::vector<Point> stream_points(const Setting& setting) {
  const Bytes most = std::min(quick(setting) ? 1_GiB : 4_GiB, setting.largest * 4);
  const Bytes least = std::max(Bytes{64}, std::min(256_MiB, most / 4));
  std::vector<Point> points;
  for (const Bytes amount : powers_of_two(least, most))
    points.push_back({to_string(amount), {{{"bytes", in_bytes(amount)}}}});
  if (points.size() < 2) throw Unsupported("the largest copy leaves no two amounts of memory traffic to compare");
  return points;
}

std::vector<Point> multiply_add_points(const Setting&) {
  std::vector<Point> points;
  for (const double flops : {1e10, 2e10, 4e10, 8e10, 1.6e11})
    points.push_back({fmt::format("{:g} flop", flops), {{{"flops", flops}}}});
  return points;
}

}  // namespace

std::span<const PrimitiveRow> kernel_rows() {
  static const std::array rows{
      PrimitiveRow{{"kernel.grid", "a kernel of busy blocks, over grid sizes", "events"},
                   grid_points,
                   [](MeasurableDevice& device, const Arguments& arguments) {
                     return single_kernel(device, ProbeKernel::Kind::spin, whole(arguments, "blocks"), 0);
                   }},
      PrimitiveRow{{"kernel.stream", "a kernel that reads and writes device memory", "events"},
                   stream_points,
                   [](MeasurableDevice& device, const Arguments& arguments) {
                     return single_kernel(device, ProbeKernel::Kind::stream, 1, arguments.at("bytes"));
                   }},
      PrimitiveRow{{"kernel.multiply_add", "a kernel of fused multiply-adds in registers", "events"},
                   multiply_add_points,
                   [](MeasurableDevice& device, const Arguments& arguments) {
                     return single_kernel(device, ProbeKernel::Kind::multiply_add, 1, arguments.at("flops"));
                   }},
  };
  return rows;
}

}  // namespace shiplap
