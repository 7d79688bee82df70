// The norms of 256 arrays of 4 KiB that lie apart in pinned memory. The host changes one value of each array in every
// step. `before` copies each array by itself. `after` gathers the arrays in one pinned buffer and makes one copy.
#include <cmath>

#include "../steps.cuh"

namespace {

constexpr int arrays = 256;
constexpr int array_floats = 1024;
constexpr std::size_t array_bytes = array_floats * sizeof(float);
constexpr std::size_t floats_between_arrays = 16384;  // one array begins every 64 KiB

/// One warp adds the squares of one array.
__global__ void norms(const float* values, float* result) {
  const unsigned array = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  float sum = 0;
  for (unsigned i = lane; i < array_floats; i += 32) {
    const float value = values[array * array_floats + i];
    sum += value * value;
  }
  for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
  if (lane == 0) result[array] = sqrtf(sum);
}

/// The host's and the device's memory of the program.
struct Memory {
  advise::PinnedFloats records = advise::pinned_floats(arrays * floats_between_arrays);
  advise::PinnedFloats result = advise::pinned_floats(arrays);
  advise::DeviceFloats device_values = advise::device_floats(arrays * array_floats);
  advise::DeviceFloats device_result = advise::device_floats(arrays);

  float* array(int number) const { return records.get() + number * floats_between_arrays; }
  void change_arrays(int step) const {
    for (int number = 0; number < arrays; ++number) array(number)[0] = static_cast<float>((step + number) % 100);
  }
  /// Launches the kernel, copies its result back and waits.
  void compute(cudaStream_t stream) const {
    norms<<<arrays / 8, 256, 0, stream>>>(device_values.get(), device_result.get());
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(result.get(), device_result.get(), arrays * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
  }
};

void before(advise::Steps& steps, const Memory& memory) {
  const advise::Stream stream;
  steps.run([&](int step) {
    memory.change_arrays(step);
    for (int number = 0; number < arrays; ++number)
      CHECK(cudaMemcpyAsync(memory.device_values.get() + number * array_floats, memory.array(number), array_bytes,
                            cudaMemcpyHostToDevice, stream));
    memory.compute(stream);
  });
}

void after(advise::Steps& steps, const Memory& memory) {
  const advise::Stream stream;
  const auto gathered = advise::pinned_floats(arrays * array_floats);
  steps.run([&](int step) {
    memory.change_arrays(step);
    for (int number = 0; number < arrays; ++number)
      std::memcpy(gathered.get() + number * array_floats, memory.array(number), array_bytes);
    CHECK(cudaMemcpyAsync(memory.device_values.get(), gathered.get(), arrays * array_bytes, cudaMemcpyHostToDevice,
                          stream));
    memory.compute(stream);
  });
}

}  // namespace

int main(int argc, char** argv) {
  advise::Steps steps(argc, argv, "small_copies", 6000, 30000);
  const Memory memory;
  advise::fill_random(memory.records.get(), arrays * floats_between_arrays, 1);
  if (steps.is_before())
    before(steps, memory);
  else
    after(steps, memory);

  bool right = true;
  for (int number = 0; number < arrays; ++number) {
    double sum = 0;
    for (int i = 0; i < array_floats; ++i) sum += double{memory.array(number)[i]} * memory.array(number)[i];
    right = right && std::abs(memory.result[number] - std::sqrt(sum)) <= 1e-5 * std::sqrt(sum);
  }
  return steps.report(right);
}
