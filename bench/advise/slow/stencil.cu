// 20 time steps of heat conduction on a plate of 2048 x 2048 floats that stays on the GPU. Each step of the main loop
// begins with the same initial plate, so that the host can verify the last one. `before` waits for the GPU after every
// launch. `after` waits once a step.
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "../steps.cuh"

namespace {

constexpr int side = 2048;
constexpr std::size_t cells = std::size_t{side} * side;
constexpr int launches = 20;
constexpr float conductivity = 0.2f;

__host__ __device__ float next_temperature(const float* plate, int row, int column) {
  const std::size_t i = std::size_t(row) * side + column;
  if (row == 0 || row == side - 1 || column == 0 || column == side - 1) return plate[i];  // the rim is held
  return plate[i] + conductivity * (plate[i - side] + plate[i + side] + plate[i - 1] + plate[i + 1] - 4 * plate[i]);
}

__global__ void conduct(const float* from, float* to) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  to[std::size_t(row) * side + column] = next_temperature(from, row, column);
}

/// The initial plate, which is never written, and two plates that the launches read and write in turn.
struct Plates {
  advise::DeviceFloats initial = advise::device_floats(cells);
  std::array<advise::DeviceFloats, 2> plates{advise::device_floats(cells), advise::device_floats(cells)};

  void launch(int number) const {
    const advise::DeviceFloats& from = number == 0 ? initial : plates[(number - 1) % 2];
    conduct<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(from.get(), plates[number % 2].get());
    CHECK(cudaGetLastError());
  }
  const float* result() const { return plates[(launches - 1) % 2].get(); }
};

void before(advise::Steps& steps, const Plates& plates) {
  steps.run([&](int) {
    for (int number = 0; number < launches; ++number) {
      plates.launch(number);
      CHECK(cudaDeviceSynchronize());
    }
  });
}

void after(advise::Steps& steps, const Plates& plates) {
  steps.run([&](int) {
    for (int number = 0; number < launches; ++number) plates.launch(number);
    CHECK(cudaDeviceSynchronize());
  });
}

}  // namespace

int main(int argc, char** argv) {
  advise::Steps steps(argc, argv, "stencil", 12000, 18000);
  std::vector<float> plate(cells);
  advise::fill_random(plate.data(), cells, 1);
  const Plates plates;
  CHECK(cudaMemcpy(plates.initial.get(), plate.data(), cells * sizeof(float), cudaMemcpyHostToDevice));
  if (steps.is_before())
    before(steps, plates);
  else
    after(steps, plates);

  std::vector<float> result(cells);
  CHECK(cudaMemcpy(result.data(), plates.result(), cells * sizeof(float), cudaMemcpyDeviceToHost));
  std::vector<float> next(cells);
  for (int number = 0; number < launches; ++number) {
    for (int row = 0; row < side; ++row)
      for (int column = 0; column < side; ++column)
        next[std::size_t(row) * side + column] = next_temperature(plate.data(), row, column);
    std::swap(plate, next);
  }
  bool right = true;
  for (std::size_t i = 0; i < cells; ++i) right = right && std::abs(result[i] - plate[i]) <= 1e-5f;
  return steps.report(right);
}
