// Chunks with different amounts of data: a sparse matrix times a vector, cut along the rows. A mapping says which
// elements of an array the rows of a chunk need.
//   sparse_rows [DEVICE [ROWS]]
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "shiplap/shiplap.hpp"

namespace {

#ifdef __CUDACC__
/// Each thread multiplies one row. Views have the indices of the whole arrays.
__global__ void multiply(shiplap::Chunk rows, shiplap::View<const std::uint64_t> offsets,
                         shiplap::View<const std::uint32_t> columns, shiplap::View<const float> values,
                         shiplap::View<const float> x, shiplap::View<float> y) {
  const std::uint64_t row = rows.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (row >= rows.end()) return;
  float sum = 0;
  for (std::uint64_t i = offsets[row]; i < offsets[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}
#endif

}  // namespace

int main(int argc, char** argv) try {
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t rows = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1 << 18;

  std::vector<std::uint64_t> offsets(rows + 1);  // row r has the elements [offsets[r], offsets[r + 1])
  for (std::uint64_t row = 0; row < rows; ++row) offsets[row + 1] = offsets[row] + row % 32;
  std::vector<std::uint32_t> columns(offsets[rows]);
  std::vector<float> values(offsets[rows]);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    columns[i] = static_cast<std::uint32_t>(i * 2654435761u % rows);
    values[i] = static_cast<float>(i % 8);
  }
  std::vector<float> x(rows);
  std::vector<float> y(rows);
  for (std::uint64_t i = 0; i < rows; ++i) x[i] = static_cast<float>(i % 16);

  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto one_more = shiplap::mapped_by([](shiplap::ItemRange rows) {
    return shiplap::ElementRange{rows.first, rows.count + 1};
  });
  const auto of_rows = shiplap::mapped_by([&](shiplap::ItemRange rows) {
    const std::uint64_t first = offsets[rows.first];
    return shiplap::ElementRange{first, offsets[rows.first + rows.count] - first};
  });
  const auto job = shiplap::Job{rows, "sparse rows"}
                       .in("offsets", offsets, one_more)
                       .in("columns", columns, of_rows)
                       .in("values", values, of_rows)
                       .broadcast("x", x)
                       .out("y", y)
#ifdef __CUDACC__
                       .kernel([](cudaStream_t stream, shiplap::Chunk rows, auto offsets, auto columns, auto values,
                                  auto x, auto y) {
                         const auto blocks = static_cast<unsigned>((rows.count + 255) / 256);
                         multiply<<<blocks, 256, 0, stream>>>(rows, offsets, columns, values, x, y);
                       })
#endif
                       .host_kernel([](shiplap::Chunk rows, auto offsets, auto columns, auto values, auto x, auto y) {
                         for (std::uint64_t row = rows.first; row < rows.end(); ++row) {
                           y[row] = 0;
                           for (std::uint64_t i = offsets[row]; i < offsets[row + 1]; ++i)
                             y[row] += values[i] * x[columns[i]];
                         }
                       });
  const auto plan = shiplap::plan(node, job);
  std::cout << plan.explain() << '\n' << shiplap::run(*gpu, plan, job).to_string() << '\n';

  for (std::uint64_t row = 0; row < rows; ++row) {
    float sum = 0;  // exact in any order, because all terms are small whole numbers
    for (std::uint64_t i = offsets[row]; i < offsets[row + 1]; ++i) sum += values[i] * x[columns[i]];
    if (y[row] == sum) continue;
    std::cerr << "y[" << row << "] is " << y[row] << " instead of " << sum << '\n';
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
