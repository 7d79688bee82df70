// z = a x + y over vectors of 128 MiB, which the host changes in every step. `before` allocates device memory in every
// step and copies pageable vectors one after the other. `after` allocates once, pins the vectors once, and cuts the
// work into chunks on four streams.
#include <array>
#include <cmath>
#include <vector>

#include "../steps.cuh"

namespace {

constexpr std::size_t count = std::size_t{32} << 20;
constexpr std::size_t bytes = count * sizeof(float);
constexpr float factor = 0.5f;
constexpr int chunks = 32;
constexpr std::size_t chunk = count / chunks;
static_assert(count % chunks == 0);

using Floats = std::vector<float>;

/// Stands for a host that makes new data: writes one value per chunk. The values reveal a copy that is late or missing.
void change(Floats& vector, int step) {
  for (std::size_t i = 0; i < count; i += chunk) vector[i] = static_cast<float>(step % 100);
}

__global__ void saxpy(std::size_t n, float a, const float* x, float* y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

void before(advise::Steps& steps, Floats& x, Floats& y, Floats& z) {
  steps.run([&](int step) {
    change(x, step);
    change(y, step);
    float* device_x = nullptr;
    float* device_y = nullptr;
    CHECK(cudaMalloc(&device_x, bytes));
    CHECK(cudaMalloc(&device_y, bytes));
    CHECK(cudaMemcpy(device_x, x.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_y, y.data(), bytes, cudaMemcpyHostToDevice));
    saxpy<<<advise::blocks(count, 256), 256>>>(count, factor, device_x, device_y);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(z.data(), device_y, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device_x));
    CHECK(cudaFree(device_y));
  });
}

void after(advise::Steps& steps, Floats& x, Floats& y, Floats& z) {
  for (Floats* vector : {&x, &y, &z}) CHECK(cudaHostRegister(vector->data(), bytes, cudaHostRegisterDefault));
  const auto device_x = advise::device_floats(count);
  const auto device_y = advise::device_floats(count);
  const std::array<advise::Stream, 4> streams;
  steps.run([&](int step) {
    change(x, step);
    change(y, step);
    for (int c = 0; c < chunks; ++c) {
      const std::size_t first = c * chunk;
      const cudaStream_t stream = streams[c % streams.size()];
      float* chunk_x = device_x.get() + first;
      float* chunk_y = device_y.get() + first;
      CHECK(cudaMemcpyAsync(chunk_x, &x[first], chunk * sizeof(float), cudaMemcpyHostToDevice, stream));
      CHECK(cudaMemcpyAsync(chunk_y, &y[first], chunk * sizeof(float), cudaMemcpyHostToDevice, stream));
      saxpy<<<advise::blocks(chunk, 256), 256, 0, stream>>>(chunk, factor, chunk_x, chunk_y);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpyAsync(&z[first], chunk_y, chunk * sizeof(float), cudaMemcpyDeviceToHost, stream));
    }
    for (const advise::Stream& stream : streams) CHECK(cudaStreamSynchronize(stream));
  });
  for (Floats* vector : {&x, &y, &z}) CHECK(cudaHostUnregister(vector->data()));
}

}  // namespace

int main(int argc, char** argv) {
  advise::Steps steps(argc, argv, "saxpy", 80, 600);
  Floats x(count), y(count), z(count);
  advise::fill_random(x.data(), count, 1);
  advise::fill_random(y.data(), count, 2);
  if (steps.is_before())
    before(steps, x, y, z);
  else
    after(steps, x, y, z);

  bool right = true;
  for (std::size_t i = 0; i < count; ++i) right = right && std::abs(z[i] - (factor * x[i] + y[i])) <= 1e-4f;
  return steps.report(right);
}
