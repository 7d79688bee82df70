// The promises of devices, kept by the CUDA device over functions of CUDA that are faked.
#include <gmock/gmock.h>

#include "tests/device/cuda/fake_api.hpp"
#include "tests/device/cuda/fault_memory.hpp"
#include "tests/device/cuda/tested_cuda.hpp"

namespace shiplap::testing {
namespace {

class TestedFake final : public TestedCuda {
 public:
  TestedFake() : TestedCuda(fake_api()) {
    fake_cuda().devices = 3;
    fake_cuda().free_memory = fake_cuda().total_memory = 256u << 20;
  }
  ~TestedFake() override {
    for (const bool open : fake_cuda().gate_open_at_wait) EXPECT_TRUE(open) << "the host waits behind a closed gate";
    EXPECT_EQ(FakeCuda::last_error, cudaSuccess);
  }
  void* current_context() override {
    EXPECT_THAT(fake_cuda().made_contexts, ::testing::IsEmpty());
    return TestedCuda::current_context();
  }
  KernelBinding inverting_kernel() override { return testing::inverting_kernel(api); }
  void set_endless(bool endless) override { FakeCuda::busy = endless; }
  void refuse_launch(const Launch&) override { FakeCuda::last_error = cudaErrorInvalidConfiguration; }
  std::size_t in_use() override { return static_cast<std::size_t>(fake_cuda().live()); }
  bool runs_kernels_and_graphs() const override { return false; }
};

SHIPLAP_DEVICE_SUITE(faked_cuda, TestedFake);
SHIPLAP_DEVICE_SUITE_OF(CallersState, faked_cuda, TestedFake);

}  // namespace
}  // namespace shiplap::testing
