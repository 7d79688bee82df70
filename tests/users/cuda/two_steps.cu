// A modeller of rivers: one time step is two kernels over the grid, with the level of the sea set by the host between
// them.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <shiplap/pipeline/step.hpp>
#include <shiplap/shiplap.hpp>
#include <span>
#include <vector>

constexpr std::uint64_t rows = 1024, columns = 256, steps = 4;

// Flow through the lower edge of a cell, then the new height from the flows of both of its edges.
SHIPLAP_HOST_DEVICE void flow_of_row(std::uint64_t r, auto h, auto q) {
  for (std::uint64_t c = 0; c < columns; ++c)
    q[r * columns + c] = r + 1 == rows ? 0.0f : 0.25f * (h[r * columns + c] - h[(r + 1) * columns + c]);
}
SHIPLAP_HOST_DEVICE void height_of_row(std::uint64_t r, auto q, auto h) {
  for (std::uint64_t c = 0; c < columns; ++c)
    h[r * columns + c] += (r == 0 ? 0.0f : q[(r - 1) * columns + c]) - q[r * columns + c];
}
template <class H, class Q>
__global__ void flows(shiplap::Chunk chunk, H h, Q q) {
  const std::uint64_t r = chunk.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (r < chunk.end()) flow_of_row(r, h, q);
}
template <class Q, class H>
__global__ void heights(shiplap::Chunk chunk, Q q, H h) {
  const std::uint64_t r = chunk.first + blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x;
  if (r < chunk.end()) height_of_row(r, q, h);
}
unsigned blocks_for(shiplap::Chunk chunk) { return static_cast<unsigned>((chunk.count + 127) / 128); }
void tide(float* first_row, std::uint64_t step) {
  std::fill_n(first_row, columns, 1.0f + 0.5f * static_cast<float>(step % 3));
}

int main(int argc, char** argv) {
  const auto gpu = shiplap::open(argc > 1 ? argv[1] : "virtual:h200");
  const auto node = shiplap::load_or_measure(*gpu);
  std::vector<float> h(rows * columns), q(rows * columns), h_alone, q_alone(rows * columns);
  for (std::uint64_t i = 0; i < h.size(); ++i) h[i] = static_cast<float>(i % 97) / 97;
  h_alone = h;

  const auto flow = shiplap::Job{rows, "flow"}
                        .in("h", h, shiplap::halo(0, 1))
                        .out("q", q)
                        .kernel([](cudaStream_t s, shiplap::Chunk chunk, auto h, auto q) {
                          flows<<<blocks_for(chunk), 128, 0, s>>>(chunk, h, q);
                        })
                        .host_kernel([](shiplap::Chunk chunk, auto h, auto q) {
                          for (std::uint64_t r = chunk.first; r < chunk.end(); ++r) flow_of_row(r, h, q);
                        });
  const auto height = shiplap::Job{rows, "height"}
                          .in("q", q, shiplap::halo(1, 0))
                          .inout("h", h)
                          .kernel([](cudaStream_t s, shiplap::Chunk chunk, auto q, auto h) {
                            heights<<<blocks_for(chunk), 128, 0, s>>>(chunk, q, h);
                          })
                          .host_kernel([](shiplap::Chunk chunk, auto q, auto h) {
                            for (std::uint64_t r = chunk.first; r < chunk.end(); ++r) height_of_row(r, q, h);
                          });
  std::uint64_t day = 0;
  const std::span sea(h.data(), columns);
  const auto step = shiplap::Step{"river"}
                        .kernel(flow)
                        .kernel(height)
                        .host(
                            "tide", {shiplap::writes(sea)}, [&] { tide(h.data(), day++); }, shiplap::Seconds{5e-6})
                        .temporary("q");
  using namespace shiplap::literals;
  const auto plan = shiplap::plan(node, step, {.device_memory = 1_MiB, .check_reach = true});  // half of the arrays
  shiplap::PreparedStep prepared(*gpu, plan, step);
  for (std::uint64_t n = 0; n < steps; ++n) prepared.run();

  for (std::uint64_t n = 0; n < steps; ++n) {
    for (std::uint64_t r = 0; r < rows; ++r) flow_of_row(r, h_alone.data(), q_alone.data());
    for (std::uint64_t r = 0; r < rows; ++r) height_of_row(r, q_alone.data(), h_alone.data());
    tide(h_alone.data(), n);
  }
  for (std::uint64_t i = 0; i < h.size(); ++i)
    if (h[i] != h_alone[i]) return std::cerr << "h[" << i << "] is " << h[i] << ", not " << h_alone[i] << '\n', 1;
  std::cout << plan.explain() << '\n' << steps << " steps, every height is right\n";
}
