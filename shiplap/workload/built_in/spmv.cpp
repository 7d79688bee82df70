// spmv: y = A·x with a sparse matrix in compressed rows, cut along the rows. Rows have different lengths, so chunks
// with the same number of rows have different sizes.
#include "shiplap/workload/built_in/spmv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/built_in/efficiency.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

// Expected number of nonzeros before a row. Their density falls from 3/2 of the mean to 1/2 of it.
std::uint64_t trend(const SpmvShape& shape, std::uint64_t row) {
  const auto wide = static_cast<unsigned __int128>(shape.nonzeros) * row * (3 * shape.rows - row);
  return static_cast<std::uint64_t>(wide / (2 * static_cast<unsigned __int128>(shape.rows) * shape.rows));
}
}  // namespace

std::uint64_t first_nonzero(const SpmvShape& shape, std::uint64_t row) {
  if (row == 0) return 0;
  const std::uint64_t least = trend(shape, row);
  if (row == shape.rows) return least;
  return least + hash_of(row, 12) % (trend(shape, row + 1) - least + 1);
}

namespace {

float nonzero_at(std::uint64_t i) { return static_cast<float>(small_whole(i, 13)); }
float vector_at(std::uint64_t i) { return static_cast<float>(small_whole(i, 14)); }

struct Row {
  std::uint64_t first;   // index of its first nonzero
  std::uint64_t length;  // number of nonzeros
};
Row row_at(const SpmvShape& shape, std::uint64_t row) {
  const std::uint64_t first = first_nonzero(shape, row);
  return {first, first_nonzero(shape, row + 1) - first};
}

// The column of nonzero k of a row, somewhere in the k-th of `length` equal parts of the row. So columns are sorted and
// distinct.
std::int32_t column_at(const SpmvShape& shape, const Row& row, std::uint64_t k) {
  const std::uint64_t begin = k * shape.rows / row.length;
  const std::uint64_t end = (k + 1) * shape.rows / row.length;
  return static_cast<std::int32_t>(begin + hash_of(row.first + k, 16) % (end - begin));
}

float expected_y(const SpmvShape& shape, std::uint64_t i) {
  const Row row = row_at(shape, i);
  float sum = 0;
  for (std::uint64_t k = 0; k < row.length; ++k)
    sum += nonzero_at(row.first + k) * vector_at(static_cast<std::uint64_t>(column_at(shape, row, k)));
  return sum;
}

void multiply_rows(Chunk chunk, View<const std::uint64_t> offsets, View<const std::int32_t> columns,
                   View<const float> values, View<const float> x, View<float> y) {
  for (std::uint64_t row = chunk.first; row < chunk.end(); ++row) {
    float sum = 0;
    for (std::uint64_t k = offsets[row]; k < offsets[row + 1]; ++k)
      sum += values[k] * x[static_cast<std::uint64_t>(columns[k])];
    y[row] = sum;
  }
}

void fill(const SpmvShape& shape, std::span<const std::span<std::byte>> arrays) {
  generate(as_elements<std::uint64_t>(arrays[0]), [&](std::uint64_t row) { return first_nonzero(shape, row); });
  const auto columns = as_elements<std::int32_t>(arrays[1]);
  parallel_for(shape.rows, 256, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const Row row = row_at(shape, i);
      for (std::uint64_t k = 0; k < row.length; ++k) columns[row.first + k] = column_at(shape, row, k);
    }
  });
  generate(as_elements<float>(arrays[2]), nonzero_at);
  generate(as_elements<float>(arrays[3]), vector_at);
  generate(as_elements<float>(arrays[4]), [](std::uint64_t i) { return not_whole(i, 15); });
}

std::string difference(const SpmvShape& shape, std::span<const std::span<std::byte>> arrays) {
  const auto offsets = as_elements<const std::uint64_t>(arrays[0]);
  const auto columns = as_elements<const std::int32_t>(arrays[1]);
  const auto values = as_elements<const float>(arrays[2]);
  const auto x = as_elements<const float>(arrays[3]);
  const auto y = as_elements<const float>(arrays[4]);
  const auto offset_at = [&](std::uint64_t row) { return first_nonzero(shape, row); };
  if (const auto i = first_difference(offsets, offset_at); i < offsets.size())
    return fmt::format("input offsets[{}] was overwritten: {} instead of {}", i, offsets[i], offset_at(i));
  const auto first_wrong_column = [&](std::uint64_t i) {
    const Row row = row_at(shape, i);
    std::uint64_t k = 0;
    while (k < row.length && columns[row.first + k] == column_at(shape, row, k)) ++k;
    return row.first + k;
  };
  const std::uint64_t row_of_columns = first_failure(
      shape.rows, 256, [&](std::uint64_t row) { return first_wrong_column(row) == first_nonzero(shape, row + 1); });
  if (row_of_columns < shape.rows)
    return fmt::format("input columns[{}] (row {}) was overwritten", first_wrong_column(row_of_columns),
                       row_of_columns);
  if (const auto i = first_difference(values, nonzero_at); i < values.size())
    return fmt::format("input values[{}] was overwritten: {} instead of {}", i, values[i], nonzero_at(i));
  if (const auto i = first_difference(x, vector_at); i < x.size())
    return fmt::format("input x[{}] was overwritten: {} instead of {}", i, x[i], vector_at(i));
  const std::uint64_t row = first_failure(shape.rows, 256, [&](std::uint64_t i) {
    // Bits are compared, because -0 equals 0.
    return std::bit_cast<std::uint32_t>(y[i]) == std::bit_cast<std::uint32_t>(expected_y(shape, i));
  });
  return row < shape.rows ? fmt::format("y[{}] is {} instead of {}", row, y[row], expected_y(shape, row)) : "";
}

ProgramText program_text(const SpmvShape& shape) {
  return {.kernel = kernel_text({"grid_stride", "spmv"}),
          .launch = fmt::format(
              "launch_spmv<{}>(as<std::uint64_t>({{0}}), as<std::int32_t>({{1}}), as<float>({{2}}), as<float>({{3}}), "
              "as<float>({{4}}), {{items}}, {{blocks}}, {{stream}})",
              shape.row_threads),
          .data = fmt::format("constexpr std::uint64_t rows = {}, nonzeros = {};\n", shape.rows, shape.nonzeros) +
                  R"(std::uint64_t mix(std::uint64_t i) {
  std::uint64_t z = i + 12 * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
// The offsets are those that the plan was made for, because chunks of columns and values end where rows end.
// Expected number of nonzeros before a row. Their density falls from 3/2 of the mean to 1/2 of it.
std::uint64_t trend(std::uint64_t row) {
  using Wide = unsigned __int128;
  return std::uint64_t(Wide(nonzeros) * row * (3 * rows - row) / (Wide(2) * rows * rows));
}
std::uint64_t initial_offsets(std::uint64_t row) {
  if (row == 0 || row == rows) return trend(row);
  return trend(row) + mix(row) % (trend(row + 1) - trend(row) + 1);
}
struct Row {
  std::uint64_t index = 0, first = 0, end = initial_offsets(1);
};
const Row& row_of(std::uint64_t i) {  // fast for increasing i
  static Row row;
  if (i < row.first) row = Row{};
  while (i >= row.end) row = {row.index + 1, row.end, initial_offsets(row.index + 2)};
  return row;
}
// The column is somewhere in the k-th of `length` equal parts of the row, so that columns are sorted and distinct.
std::uint64_t column_of(const Row& row, std::uint64_t i) {
  const std::uint64_t k = i - row.first, length = row.end - row.first;
  const std::uint64_t begin = k * rows / length, end = (k + 1) * rows / length;
  return begin + mix(i) % (end - begin);
}
std::int32_t initial_columns(std::uint64_t i) { return std::int32_t(column_of(row_of(i), i)); }
// Values are whole numbers from 1 to 4, so that all sums are exact in float.
float initial_values(std::uint64_t i) { return float(1 + i * 7 % 11 % 4); }
float initial_x(std::uint64_t i) { return float(1 + i * 5 % 13 % 4); }
float initial_y(std::uint64_t i) { return float(i % 1000) + 0.5f; }  // must be overwritten
float expected_y(std::uint64_t row) {
  const Row nonzeros_of_row{row, initial_offsets(row), initial_offsets(row + 1)};
  float sum = 0;
  for (std::uint64_t i = nonzeros_of_row.first; i < nonzeros_of_row.end; ++i)
    sum += initial_values(i) * initial_x(column_of(nonzeros_of_row, i));
  return sum;
}
)",
          .arrays = {{"std::uint64_t", "initial_offsets", "initial_offsets"},
                     {"std::int32_t", "initial_columns", "initial_columns"},
                     {"float", "initial_values", "initial_values"},
                     {"float", "initial_x", "initial_x"},
                     {"float", "initial_y", "expected_y"}}};
}

// Number of threads for a row, so that each has about four nonzeros.
unsigned row_threads(std::uint64_t rows, std::uint64_t nonzeros) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>(std::bit_floor(nonzeros / rows / 4), 2, 32));
}

Workload spmv(Parameters& parameters, const CudaKernels& cuda) {
  const std::uint64_t rows = parameters.count("rows", "128Ki", 2);
  if (rows > std::numeric_limits<std::int32_t>::max())
    parameters.refuse("rows must be below 2^31, as columns are int32");
  const std::uint64_t nonzeros =
      parameters.count("nonzeros", fmt::format("{}", std::max<std::uint64_t>(1, rows * rows / 1000)));
  if (nonzeros > rows * rows / 4) parameters.refuse("nonzeros must be at most a quarter of rows * rows");
  if (3 * (nonzeros / rows) + 5 > exact_terms)
    parameters.refuse("rows must have at most about 349,000 nonzeros on average, so that the sums are exact");
  const SpmvShape shape{.rows = rows, .nonzeros = nonzeros, .row_threads = row_threads(rows, nonzeros)};
  const Reach nonzeros_of = mapped_by([shape](ItemRange range) {
    const std::uint64_t first = first_nonzero(shape, range.first);
    return ElementRange{.first = first, .count = first_nonzero(shape, range.first + range.count) - first};
  });
  Workload w;
  w.job = Job{.items = rows,
              .name = fmt::format("spmv:rows={},nonzeros={}", rows, nonzeros),
              .items_per_block = 256 / shape.row_threads,
              .threads_per_block = 256,
              .any_grid = true,
              .each_byte_once = true,
              .flops = 2.0 * static_cast<double>(nonzeros),
              .device_traffic = Bytes{8 * (rows + 1) + 8 * nonzeros + 8 * rows},
              .efficiency = efficiency::spmv}
              .shaped<const std::uint64_t>("offsets", Role::in, rows + 1, mapped_by([](ItemRange range) {
                                             return ElementRange{.first = range.first, .count = range.count + 1};
                                           }))
              .shaped<const std::int32_t>("columns", Role::in, nonzeros, nonzeros_of)
              .shaped<const float>("values", Role::in, nonzeros, nonzeros_of)
              .shaped<const float>("x", Role::broadcast, rows)
              .shaped<float>("y", Role::out, rows)
              .host_kernel(multiply_rows);
  if (cuda.spmv != nullptr) w.job.binding.cuda = cuda.spmv(shape);
  w.program = program_text(shape);
  w.fill = [shape](std::span<const std::span<std::byte>> arrays) { fill(shape, arrays); };
  w.verify = [shape](std::span<const std::span<std::byte>> arrays) { return difference(shape, arrays); };
  return w;
}

}  // namespace

const BuiltInWorkload spmv_workload{
    .help = {"spmv", "rows=COUNT (128Ki), nonzeros=COUNT (rows*rows/1000)",
             "y = A*x with a sparse matrix in compressed rows (CSR) of unequal length, cut along the rows"},
    .make = spmv,
    .sizes = [](Bytes size) {
      // Columns and values are the largest arrays.
      const auto rows = static_cast<std::uint64_t>(std::sqrt(in_bytes(size) / 4 * 1000));
      return fmt::format("rows={}", std::max<std::uint64_t>(2, rows));
    }};

}  // namespace shiplap
