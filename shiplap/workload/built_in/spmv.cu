#include "shiplap/workload/built_in/launching.cuh"
#include "shiplap/workload/built_in/spmv.cuh"
#include "shiplap/workload/built_in/spmv.hpp"

namespace shiplap {

using namespace kernels;

KernelFunction cuda_spmv(const SpmvShape& shape) {
  const auto launch_rows = shape.row_threads == 32   ? launch_spmv<32>
                           : shape.row_threads == 16 ? launch_spmv<16>
                           : shape.row_threads == 8  ? launch_spmv<8>
                           : shape.row_threads == 4  ? launch_spmv<4>
                           : shape.row_threads == 2  ? launch_spmv<2>
                                                     : nullptr;
  if (launch_rows == nullptr) throw Error("spmv has 2, 4, 8, 16 or 32 threads for a row");
  return [shape, launch_rows](const Launch& launch) {
    const std::uint64_t rows = launch.items;
    if (rows == 0) return;
    const std::uint64_t nonzeros =
        first_nonzero(shape, launch.first_item + rows) - first_nonzero(shape, launch.first_item);
    require_operands(launch, "spmv", {8 * (rows + 1), 4 * nonzeros, 4 * nonzeros, 4 * shape.rows, 4 * rows});
    const std::uint64_t rows_of_block = threads / shape.row_threads;
    launch_rows(operand<const std::uint64_t>(launch, 0), operand<const std::int32_t>(launch, 1),
                operand<const float>(launch, 2), operand<const float>(launch, 3), operand<float>(launch, 4), rows,
                grid_of(launch, (rows + rows_of_block - 1) / rows_of_block), stream_of(launch));
  };
}

}  // namespace shiplap
