// y = a x + 1 over managed arrays of 128 MiB. In each step the host writes one value per page of x, the GPU computes y,
// and the host reads one value per page of the first quarter of y. In `before`, pages move when the host or the GPU
// accesses them. `after` prefetches x to the GPU, and x and the quarter of y back to the host.
#include <cmath>

#include "../steps.cuh"

namespace {

constexpr std::size_t count = std::size_t{32} << 20;
constexpr std::size_t page_floats = 1024;  // 4 KiB
constexpr std::size_t read_count = count / 4;
constexpr float factor = 0.5f;

__global__ void scale(const float* x, float* y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) y[i] = factor * x[i] + 1;
}

void launch(const float* x, float* y) {
  scale<<<advise::blocks(count, 256), 256>>>(x, y);
  CHECK(cudaGetLastError());
}

advise::DeviceFloats managed_floats() {
  float* memory = nullptr;
  CHECK(cudaMallocManaged(&memory, count * sizeof(float)));
  return advise::DeviceFloats(memory);
}

/// Moves pages to a GPU, or to the host when `device` is cudaCpuDeviceId.
void prefetch(const float* data, std::size_t floats, int device) {
#if CUDART_VERSION >= 13000
  const cudaMemLocation location = device == cudaCpuDeviceId ? cudaMemLocation{cudaMemLocationTypeHost, 0}
                                                             : cudaMemLocation{cudaMemLocationTypeDevice, device};
  CHECK(cudaMemPrefetchAsync(data, floats * sizeof(float), location, 0, nullptr));
#else
  CHECK(cudaMemPrefetchAsync(data, floats * sizeof(float), device, nullptr));
#endif
}

/// A different value in every step reveals a result that an earlier step left behind.
float input(int step, std::size_t page) { return static_cast<float>((step + page) % 100); }

void write_input(float* x, int step) {
  for (std::size_t page = 0; page < count / page_floats; ++page) x[page * page_floats] = input(step, page);
}
double read_output(const float* y) {
  double sum = 0;
  for (std::size_t i = 0; i < read_count; i += page_floats) sum += y[i];
  return sum;
}

/// Each version returns what the host read in the last step.
double before(advise::Steps& steps, float* x, float* y) {
  double sum = 0;
  steps.run([&](int step) {
    write_input(x, step);
    launch(x, y);
    CHECK(cudaDeviceSynchronize());
    sum = read_output(y);
  });
  return sum;
}

double after(advise::Steps& steps, float* x, float* y) {
  int gpu = 0;
  CHECK(cudaGetDevice(&gpu));
  double sum = 0;
  steps.run([&](int step) {
    write_input(x, step);
    prefetch(x, count, gpu);
    prefetch(y, read_count, gpu);
    launch(x, y);
    prefetch(y, read_count, cudaCpuDeviceId);
    prefetch(x, count, cudaCpuDeviceId);
    CHECK(cudaDeviceSynchronize());
    sum = read_output(y);
  });
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  advise::Steps steps(argc, argv, "managed", 40, 400);
  const auto x = managed_floats();
  const auto y = managed_floats();
  advise::fill_random(x.get(), count, 1);
  const double sum = steps.is_before() ? before(steps, x.get(), y.get()) : after(steps, x.get(), y.get());

  double expected_sum = 0;
  for (std::size_t i = 0; i < read_count; i += page_floats)
    expected_sum += factor * input(steps.last(), i / page_floats) + 1;
  bool right = std::abs(sum - expected_sum) <= 1e-6 * expected_sum;
  for (std::size_t i = 0; i < count; ++i) right = right && std::abs(y[i] - (factor * x[i] + 1)) <= 1e-5f;
  return steps.report(right);
}
