#include "shiplap/workload/built_in/histogram.cuh"
#include "shiplap/workload/built_in/histogram.hpp"
#include "shiplap/workload/built_in/launching.cuh"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_histogram(const HistogramShape& shape) {
  if (shape.copies == 0 || shape.copies > most_copies || (shape.copies & (shape.copies - 1)) != 0)
    throw Error("the copies of a histogram are a power of two, 32 at most");
  return [shape](const Launch& launch) {
    require_operands(launch, "histogram", {launch.items * shape.pixels, launch.items * 1024});
    if (launch.items == 0) return;
    launch_histogram(operand<const std::uint8_t>(launch, 0), operand<std::uint32_t>(launch, 1), launch.items,
                     shape.pixels, shape.copies, grid_of(launch, launch.items), stream_of(launch));
  };
}

}  // namespace shiplap
