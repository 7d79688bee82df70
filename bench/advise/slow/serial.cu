// y = x + 1.5 over pinned arrays of 256 MiB; the host changes x in every step. `before` copies x in, launches the
// kernel, copies y out and waits, on one stream. `after` cuts the arrays into 32 chunks; copies in, kernels and copies
// out have a stream each.
#include <array>
#include <cmath>

#include "../steps.cuh"

namespace {

constexpr std::size_t count = std::size_t{64} << 20;
constexpr std::size_t bytes = count * sizeof(float);
constexpr float addend = 1.5f;
constexpr int chunks = 32;
constexpr std::size_t chunk = count / chunks;
static_assert(count % chunks == 0);

__global__ void add(std::size_t n, const float* x, float* y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + addend;
}

/// The host's and the device's memory of the program.
struct Memory {
  advise::PinnedFloats x = advise::pinned_floats(count);
  advise::PinnedFloats y = advise::pinned_floats(count);
  advise::DeviceFloats device_x = advise::device_floats(count);
  advise::DeviceFloats device_y = advise::device_floats(count);

  /// Stands for a host that makes new data: writes one value per chunk. The values reveal a copy that is late.
  void change_x(int step) const {
    for (std::size_t i = 0; i < count; i += chunk) x[i] = static_cast<float>(step % 100);
  }
};

void before(advise::Steps& steps, const Memory& memory) {
  const advise::Stream stream;
  steps.run([&](int step) {
    memory.change_x(step);
    CHECK(cudaMemcpyAsync(memory.device_x.get(), memory.x.get(), bytes, cudaMemcpyHostToDevice, stream));
    add<<<advise::blocks(count, 256), 256, 0, stream>>>(count, memory.device_x.get(), memory.device_y.get());
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(memory.y.get(), memory.device_y.get(), bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
  });
}

void after(advise::Steps& steps, const Memory& memory) {
  const advise::Stream in;
  const advise::Stream compute;
  const advise::Stream out;
  const std::array<advise::Event, chunks> arrived;
  const std::array<advise::Event, chunks> computed;
  steps.run([&](int step) {
    memory.change_x(step);
    for (int c = 0; c < chunks; ++c) {
      const std::size_t first = c * chunk;
      float* device_x = memory.device_x.get() + first;
      float* device_y = memory.device_y.get() + first;
      CHECK(cudaMemcpyAsync(device_x, memory.x.get() + first, chunk * sizeof(float), cudaMemcpyHostToDevice, in));
      CHECK(cudaEventRecord(arrived[c], in));
      CHECK(cudaStreamWaitEvent(compute, arrived[c], 0));
      add<<<advise::blocks(chunk, 256), 256, 0, compute>>>(chunk, device_x, device_y);
      CHECK(cudaGetLastError());
      CHECK(cudaEventRecord(computed[c], compute));
      CHECK(cudaStreamWaitEvent(out, computed[c], 0));
      CHECK(cudaMemcpyAsync(memory.y.get() + first, device_y, chunk * sizeof(float), cudaMemcpyDeviceToHost, out));
    }
    CHECK(cudaStreamSynchronize(out));
  });
}

}  // namespace

int main(int argc, char** argv) {
  advise::Steps steps(argc, argv, "serial", 400, 700);
  const Memory memory;
  advise::fill_random(memory.x.get(), count, 1);
  if (steps.is_before())
    before(steps, memory);
  else
    after(steps, memory);

  bool right = true;
  for (std::size_t i = 0; i < count; ++i) right = right && std::abs(memory.y[i] - (memory.x[i] + addend)) <= 1e-6f;
  return steps.report(right);
}
