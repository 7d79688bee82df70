// A time step of two kernels: a field is diffused from one array to another and back, several times between two
// exchanges of its edges by the host. The field stays on the GPU where it fits, and passes through it in chunks
// otherwise.
//   time_step [DEVICE [ROWS [COLUMNS [DEVICE_MEMORY_IN_MIB]]]]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "shiplap/pipeline/step.hpp"
#include "shiplap/shiplap.hpp"

namespace {

constexpr std::uint64_t repeats = 4;
constexpr int steps = 3;

/// The value at a row after diffusion. The first and the last row are their own neighbours.
SHIPLAP_HOST_DEVICE float diffused(shiplap::View<const float> u, std::uint64_t rows, std::uint64_t columns,
                                   std::uint64_t row, std::uint64_t column) {
  const std::uint64_t above = row > 0 ? row - 1 : row;
  const std::uint64_t below = row + 1 < rows ? row + 1 : row;
  return 0.25f * u[above * columns + column] + 0.5f * u[row * columns + column] + 0.25f * u[below * columns + column];
}

#ifdef __CUDACC__
__global__ void diffuse(shiplap::Chunk chunk, std::uint64_t rows, std::uint64_t columns, shiplap::View<const float> u,
                        shiplap::View<float> out) {
  const std::uint64_t column = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  const std::uint64_t row = chunk.first + blockIdx.y;
  if (column < columns) out[row * columns + column] = diffused(u, rows, columns, row, column);
}
#endif

template <class Field>
shiplap::Job diffusion(const char* name, const char* from, Field& u, const char* to, Field& v, std::uint64_t rows,
                       std::uint64_t columns) {
  return shiplap::Job{rows, name}
      .in(from, u, shiplap::halo(1, 1))
      .out(to, v)
#ifdef __CUDACC__
      .kernel([=](cudaStream_t stream, shiplap::Chunk chunk, auto in, auto out) {
        const dim3 grid(static_cast<unsigned>((columns + 255) / 256), static_cast<unsigned>(chunk.count));
        diffuse<<<grid, 256, 0, stream>>>(chunk, rows, columns, in, out);
      })
#endif
      .host_kernel([=](shiplap::Chunk chunk, auto in, auto out) {
        for (std::uint64_t row = chunk.first; row < chunk.end(); ++row)
          for (std::uint64_t column = 0; column < columns; ++column)
            out[row * columns + column] = diffused(in, rows, columns, row, column);
      });
}

/// What the host does to the first row between kernels; with several ranks it would be an exchange.
void exchange(std::span<float> edge) {
  for (float& value : edge) value = value * 0.5f + 1;
}

/// The field after all steps, by the host alone.
std::vector<float> expected_of(std::vector<float> u, std::uint64_t rows, std::uint64_t columns) {
  std::vector<float> v(u.size());
  const auto diffuse_all = [&](const std::vector<float>& from, std::vector<float>& to) {
    const shiplap::View<const float> whole(from.data(), 0, from.size(), "u");
    for (std::uint64_t row = 0; row < rows; ++row)
      for (std::uint64_t column = 0; column < columns; ++column)
        to[row * columns + column] = diffused(whole, rows, columns, row, column);
  };
  for (int step = 0; step < steps; ++step)
    for (std::uint64_t r = 0; r < repeats; ++r) {
      diffuse_all(u, v);
      diffuse_all(v, u);
      exchange(std::span(u).first(columns));
    }
  return u;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto number = [&](int position, std::uint64_t otherwise) {
    return argc > position ? std::strtoull(argv[position], nullptr, 10) : otherwise;
  };
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t rows = number(2, 1024);
  const std::uint64_t columns = number(3, 1024);
  const shiplap::Bytes memory{number(4, 0) << 20};
  const auto gpu = shiplap::open(device);
  shiplap::pinned_vector<float> u(*gpu, rows * columns);
  shiplap::pinned_vector<float> v(*gpu, rows * columns);
  for (std::uint64_t i = 0; i < u.size(); ++i) u[i] = static_cast<float>(i % 977);
  const std::vector<float> expected = expected_of({u.begin(), u.end()}, rows, columns);

  const std::span<float> edge(u.data(), columns);
  const auto step = shiplap::Step{"diffusion"}
                        .kernel(diffusion("there", "u", u, "v", v, rows, columns))
                        .kernel(diffusion("back", "v", v, "u", u, rows, columns))
                        .host("exchange", {shiplap::reads(edge), shiplap::writes(edge)}, [=] { exchange(edge); })
                        .repeated(repeats)
                        .stays_on_gpu("u")
                        .temporary("v");
  const auto node = shiplap::load_or_measure(*gpu);
  shiplap::PreparedStep prepared(*gpu, shiplap::plan(node, step, {.device_memory = memory}), step);
  std::cout << prepared.plan().explain();
  shiplap::Seconds fastest{1e9};
  for (int i = 0; i < steps; ++i) fastest = std::min(fastest, prepared.run().timeline.makespan);
  std::cout << "The fastest of " << steps << " steps took " << shiplap::to_string(fastest)
            << (gpu->is_virtual() ? ", simulated.\n" : ".\n");
  prepared.fetch("u");

  for (std::uint64_t i = 0; i < u.size(); ++i)
    if (std::abs(u[i] - expected[i]) > 1e-4f * std::abs(expected[i])) {
      std::cerr << "row " << i / columns << ": " << u[i] << " instead of " << expected[i] << '\n';
      return 2;
    }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
