// y = x + 1.5 over pinned arrays of 256 MiB, in 32 chunks; copies in, kernels and copies out have a stream each. The
// host waits for the previous step only, so that successive steps overlap and both directions of the link stay busy.
// `before` and `after` are the same: there is nothing to improve.
#include <array>
#include <cmath>

#include "../steps.cuh"

namespace {

constexpr std::size_t count = std::size_t{64} << 20;
constexpr float addend = 1.5f;
constexpr int chunks = 32;
constexpr std::size_t chunk = count / chunks;
static_assert(count % chunks == 0);

__global__ void add(std::size_t n, const float* x, float* y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + addend;
}

/// Two arrays on the host that the steps use in turn.
using Pair = std::array<advise::PinnedFloats, 2>;

void pipeline(advise::Steps& steps, const Pair& inputs, const Pair& results) {
  const auto device_x = advise::device_floats(count);
  const auto device_y = advise::device_floats(count);
  const advise::Stream in;
  const advise::Stream compute;
  const advise::Stream out;
  const std::array<advise::Event, chunks> arrived;
  const std::array<advise::Event, chunks> computed;
  const std::array<advise::Event, chunks> left;
  const std::array<advise::Event, 2> complete;
  steps.run([&](int step) {
    float* x = inputs[step % 2].get();
    float* y = results[step % 2].get();
    // The host makes new data. The values reveal a copy that is late.
    for (std::size_t i = 0; i < count; i += chunk) x[i] = static_cast<float>(step % 100);
    for (int c = 0; c < chunks; ++c) {
      const std::size_t first = c * chunk;
      float* chunk_x = device_x.get() + first;
      float* chunk_y = device_y.get() + first;
      CHECK(cudaStreamWaitEvent(in, computed[c], 0));  // the previous step's kernel has read chunk_x
      CHECK(cudaMemcpyAsync(chunk_x, x + first, chunk * sizeof(float), cudaMemcpyHostToDevice, in));
      CHECK(cudaEventRecord(arrived[c], in));
      CHECK(cudaStreamWaitEvent(compute, arrived[c], 0));
      CHECK(cudaStreamWaitEvent(compute, left[c], 0));  // the previous step's copy has read chunk_y
      add<<<advise::blocks(chunk, 256), 256, 0, compute>>>(chunk, chunk_x, chunk_y);
      CHECK(cudaGetLastError());
      CHECK(cudaEventRecord(computed[c], compute));
      CHECK(cudaStreamWaitEvent(out, computed[c], 0));
      CHECK(cudaMemcpyAsync(y + first, chunk_y, chunk * sizeof(float), cudaMemcpyDeviceToHost, out));
      CHECK(cudaEventRecord(left[c], out));
    }
    CHECK(cudaEventRecord(complete[step % 2], out));
    CHECK(cudaEventSynchronize(complete[(step + 1) % 2]));
  });
}

}  // namespace

int main(int argc, char** argv) {
  advise::Steps steps(argc, argv, "pipelined", 750, 750);
  const Pair inputs{advise::pinned_floats(count), advise::pinned_floats(count)};
  const Pair results{advise::pinned_floats(count), advise::pinned_floats(count)};
  for (const int i : {0, 1}) advise::fill_random(inputs[i].get(), count, i);
  pipeline(steps, inputs, results);

  bool right = true;
  for (const int i : {0, 1})
    for (std::size_t e = 0; e < count; ++e) right = right && std::abs(results[i][e] - (inputs[i][e] + addend)) <= 1e-6f;
  return steps.report(right);
}
