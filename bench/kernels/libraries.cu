#include <cublas_v2.h>
#include <cusparse.h>

#include <cub/device/device_histogram.cuh>
#include <memory>

#include "bench/kernels/libraries.cuh"

namespace kernel_bench {
namespace {

using shiplap::Error;
using shiplap::Job;

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw Error(cublasGetStatusString(status));
}
void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw Error(cusparseGetErrorString(status));
}
using kernel_bench::check;

/// Device memory that is freed with its last user.
std::shared_ptr<void> allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes == 0 ? 1 : bytes));
  return {memory, [](void* p) { cudaFree(p); }};
}

std::uint64_t elements(const Job& job, std::size_t array) {
  return job.arrays[array].size.count / job.arrays[array].element.count;
}

/// C = A·B in single precision, row-major, computed as Cᵀ = Bᵀ·Aᵀ.
Library cublas(const Job& job, const std::vector<std::byte*>& operands) {
  cublasHandle_t made = nullptr;
  check(cublasCreate(&made));
  const std::shared_ptr<cublasContext> handle(made, [](cublasHandle_t h) { cublasDestroy(h); });
  check(cublasSetMathMode(made, CUBLAS_PEDANTIC_MATH));
  const auto m = static_cast<int>(job.items);
  const auto p = static_cast<int>(elements(job, 0) / job.items);
  const auto n = static_cast<int>(elements(job, 2) / job.items);
  const auto result = allocate(job.arrays[2].size.count);
  return {"cuBLAS sgemm", [=](cudaStream_t stream) {
            const float one = 1, zero = 0;
            check(cublasSetStream(handle.get(), stream));
            check(cublasSgemm(
                handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, p, &one, reinterpret_cast<const float*>(operands[1]), n,
                reinterpret_cast<const float*>(operands[0]), p, &zero, static_cast<float*>(result.get()), n));
          }};
}

/// One histogram of all frames, because CUB has none for each frame.
Library cub_histogram(const Job& job, const std::vector<std::byte*>& operands) {
  const auto bins = allocate(256 * sizeof(int));
  const auto* samples = reinterpret_cast<const unsigned char*>(operands[0]);
  const auto count = static_cast<long long>(job.arrays[0].size.count);
  std::size_t bytes = 0;
  auto* histogram = static_cast<int*>(bins.get());
  check(cub::DeviceHistogram::HistogramEven(nullptr, bytes, samples, histogram, 257, 0, 256, count));
  const auto scratch = allocate(bytes);
  return {"CUB, one histogram of all", [=](cudaStream_t stream) {
            std::size_t needed = bytes;
            (void)bins;
            check(cub::DeviceHistogram::HistogramEven(scratch.get(), needed, samples, histogram, 257, 0, 256, count,
                                                      stream));
          }};
}

/// y = A·x with 32-bit offsets, which cuSPARSE requires with 32-bit columns.
Library cusparse(const Job& job, const std::vector<std::byte*>& operands) {
  cusparseHandle_t made = nullptr;
  check(cusparseCreate(&made));
  const std::shared_ptr<cusparseContext> handle(made, [](cusparseHandle_t h) { cusparseDestroy(h); });
  const auto rows = static_cast<std::int64_t>(job.items);
  const auto nonzeros = static_cast<std::int64_t>(elements(job, 1));
  const auto columns = static_cast<std::int64_t>(elements(job, 3));
  std::vector<std::byte> given(job.arrays[0].size.count);
  check(cudaMemcpy(given.data(), operands[0], given.size(), cudaMemcpyDeviceToHost));
  std::vector<std::int32_t> narrow;
  for (std::int64_t row = 0; row <= rows; ++row)
    narrow.push_back(static_cast<std::int32_t>(job.arrays[0].element.count == 8
                                                   ? reinterpret_cast<const std::int64_t*>(given.data())[row]
                                                   : reinterpret_cast<const std::int32_t*>(given.data())[row]));
  const auto offsets = allocate(narrow.size() * sizeof(std::int32_t));
  check(cudaMemcpy(offsets.get(), narrow.data(), narrow.size() * sizeof(std::int32_t), cudaMemcpyHostToDevice));
  const auto y = allocate(static_cast<std::size_t>(rows) * sizeof(float));
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t in = nullptr, out = nullptr;
  check(cusparseCreateCsr(&matrix, rows, columns, nonzeros, offsets.get(), operands[1], operands[2], CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  check(cusparseCreateDnVec(&in, columns, operands[3], CUDA_R_32F));
  check(cusparseCreateDnVec(&out, rows, y.get(), CUDA_R_32F));
  const float one = 1, zero = 0;
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(made, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, in, &zero, out, CUDA_R_32F,
                                CUSPARSE_SPMV_CSR_ALG1, &bytes));
  const auto scratch = allocate(bytes);
  check(cusparseSpMV_preprocess(made, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, in, &zero, out, CUDA_R_32F,
                                CUSPARSE_SPMV_CSR_ALG1, scratch.get()));
  return {"cuSPARSE, CSR algorithm 1", [=](cudaStream_t stream) {
            const float factor = 1, none = 0;
            (void)offsets, (void)y;
            check(cusparseSetStream(handle.get(), stream));
            check(cusparseSpMV(handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &factor, matrix, in, &none, out,
                               CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG1, scratch.get()));
          }};
}

Library copy_of_as_many_bytes(const Job& job) {
  const std::size_t half = std::min<std::size_t>(job.device_traffic.count / 2, std::size_t{8} << 30);
  const double times = static_cast<double>(job.device_traffic.count / 2) / static_cast<double>(half);
  const auto from = allocate(half);
  const auto to = allocate(half);
  return {"a copy of as many bytes", [=](cudaStream_t stream) {
            for (double left = times; left > 0; left -= 1)
              check(cudaMemcpyAsync(to.get(), from.get(),
                                    static_cast<std::size_t>(std::min(1.0, left) * static_cast<double>(half)),
                                    cudaMemcpyDeviceToDevice, stream));
          }};
}

}  // namespace

std::vector<Library> libraries_for(const Job& job, const std::vector<std::byte*>& operands) {
  std::vector<Library> all;
  if (job.name.starts_with("matmul")) all.push_back(cublas(job, operands));
  if (job.name.starts_with("histogram")) all.push_back(cub_histogram(job, operands));
  if (job.name.starts_with("spmv")) all.push_back(cusparse(job, operands));
  all.push_back(copy_of_as_many_bytes(job));
  return all;
}

}  // namespace kernel_bench
