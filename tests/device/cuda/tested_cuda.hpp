// A CUDA device for the suite of promises, over any table of CUDA functions.
#pragma once

#include <numeric>

#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "tests/device/suite/device_suite.hpp"

namespace shiplap::testing {

class TestedCuda : public TestedDevice {
 public:
  explicit TestedCuda(Api table) : api(table) {}

  std::shared_ptr<MeasurableDevice> open(unsigned gpus) override {
    if (gpus_there() < gpus) return nullptr;
    std::vector<int> numbers(gpus);
    std::iota(numbers.begin(), numbers.end(), 0);
    return open_cuda(numbers, api);
  }
  void* current_context() override {
    void* context = nullptr;
    EXPECT_EQ(api.current_context(&context), cudaSuccess);
    return context;
  }
  void select_last_gpu() override { EXPECT_EQ(api.set_device(static_cast<int>(gpus_there()) - 1), cudaSuccess); }
  void* begin_capture() override {
    stream_ = make_stream(api, "the caller's");
    EXPECT_EQ(api.stream_begin_capture(stream_.get(), cudaStreamCaptureModeRelaxed), cudaSuccess);
    return stream_.get();
  }
  bool end_capture() override {
    cudaGraph_t graph = nullptr;
    const bool is_valid = api.stream_end_capture(stream_.get(), &graph) == cudaSuccess;
    const Graph owned(graph, Graph::deleter_type(api));
    return is_valid;
  }

 protected:
  Api api;

 private:
  unsigned gpus_there() const {
    int count = 0;
    return api.get_device_count(&count) == cudaSuccess ? static_cast<unsigned>(count) : 0;
  }

  StreamHandle stream_;
};

}  // namespace shiplap::testing
