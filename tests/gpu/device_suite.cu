// The promises of devices, kept on a real GPU.
#include <cuda_runtime.h>

#include "tests/device/cuda/tested_cuda.hpp"

namespace shiplap::testing {
namespace {

/// Takes 20 µs or more, so that an order of ops which is missing shows.
__global__ void invert_late(const unsigned char* from, unsigned char* to, std::uint64_t n,
                            const volatile int* endless) {
  while (*endless != 0) {
  }
  for (const long long begin = clock64(); clock64() - begin < 40'000;) {
  }
  for (std::uint64_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = static_cast<unsigned char>(~from[i]);
}

class TestedGpu final : public TestedCuda {
 public:
  TestedGpu() : TestedCuda(real_api()) {
    void* flag = nullptr;
    if (cudaHostAlloc(&flag, sizeof(int), cudaHostAllocPortable | cudaHostAllocMapped) != cudaSuccess) return;
    endless_ = static_cast<int*>(flag);
    *endless_ = 0;
  }
  ~TestedGpu() override { cudaFreeHost(endless_); }
  KernelBinding inverting_kernel() override {
    return {.host = {}, .cuda = [this](const Launch& l) { launch(l, 128); }};
  }
  void set_endless(bool endless) override { *static_cast<volatile int*>(endless_) = endless ? 1 : 0; }
  void refuse_launch(const Launch& l) override {
    constexpr unsigned more_threads_than_cuda_allows = 4096;
    launch(l, more_threads_than_cuda_allows);
  }
  std::size_t in_use() override {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return total - free;
  }
  Bytes long_copy() const override { return 256_MiB; }

 private:
  void launch(const Launch& l, unsigned threads) const {
    invert_late<<<1, threads, 0, static_cast<cudaStream_t>(l.stream)>>>(
        reinterpret_cast<const unsigned char*>(l.operands[0]), reinterpret_cast<unsigned char*>(l.operands[1]),
        l.lengths[0].count, endless_);
  }

  int* endless_ = nullptr;
};

SHIPLAP_DEVICE_SUITE(gpu, TestedGpu);
SHIPLAP_DEVICE_SUITE_OF(CallersState, gpu, TestedGpu);

}  // namespace
}  // namespace shiplap::testing
