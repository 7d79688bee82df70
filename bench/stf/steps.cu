// The steps of bench/by_hand/steps.cu in CUDASTF, which moves data between tasks by itself. How arrays are cut is the
// programmer's choice there, so several numbers of chunks are tried. CUDASTF is a part of CCCL's experimental library:
//   nvcc -std=c++20 -O2 -arch=native --expt-relaxed-constexpr --extended-lambda -I CCCL/cudax/include
//     -I CCCL/libcudacxx/include -I CCCL/cub -I CCCL/thrust -I . bench/stf/steps.cu -lcuda -o stf_steps
// Times are medians by the host's clock, from the making of a context to the end of `finalize`. Streams and memory on
// the GPU stay from context to context (async_resources_handle). Arrays are pinned.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cuda/experimental/stf.cuh>
#include <functional>
#include <string>
#include <vector>

#include "bench/by_hand/kernels.cuh"

namespace {

namespace stf = cuda::experimental::stf;

constexpr unsigned threads = 256;
unsigned blocks(std::size_t items) { return static_cast<unsigned>((items + threads - 1) / threads); }

template <class T>
T* pinned(std::size_t n) {
  void* data = nullptr;
  if (cudaMallocHost(&data, n * sizeof(T)) != cudaSuccess) std::exit(1);
  return static_cast<T*>(data);
}

std::size_t first_of(std::size_t items, int chunk, int chunks) { return items * chunk / chunks; }

template <class T>
auto part(T* array, std::size_t items, std::size_t width, int chunk, int chunks) {
  const std::size_t first = first_of(items, chunk, chunks);
  return stf::make_slice(array + first * width, (first_of(items, chunk + 1, chunks) - first) * width);
}

void show(const char* what, int chunks, int rounds, bool (*is_right)(), const std::function<void()>& run) {
  std::vector<double> ms;
  for (int round = 0; round <= rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    if (round > 0) ms.push_back(time.count());
  }
  std::ranges::sort(ms);
  std::printf("%-24s %4d chunks %10.3f ms (%.3f to %.3f)  %s\n", what, chunks, ms[ms.size() / 2], ms.front(), ms.back(),
              is_right() ? "right" : "WRONG");
  std::fflush(stdout);
}

constexpr std::size_t points = std::size_t{1} << 20, levels = 64;
double *t, *salt, *differences_out;
bool ocean_is_right() {
  const auto at = [](std::size_t i) { return by_hand::density(t[i], salt[i]); };
  for (std::size_t i = 0; i < levels * points; i += 997)
    if (std::abs(differences_out[i] - (i < points ? 0 : at(i) - at(i - points))) > 1e-9) return false;
  return true;
}

void ocean(int chunks, stf::async_resources_handle& handle) {
  stf::stream_ctx ctx(handle);
  // The density of the chunk before: its last level is the one above the first of this chunk.
  std::vector<stf::logical_data<stf::slice<double>>> densities;
  for (int c = 0; c < chunks; ++c) {
    auto of_t = ctx.logical_data(part(t, levels, points, c, chunks));
    auto of_salt = ctx.logical_data(part(salt, levels, points, c, chunks));
    auto out = ctx.logical_data(part(differences_out, levels, points, c, chunks));
    densities.push_back(ctx.logical_data(of_t.shape()));
    ctx.task(of_t.read(), of_salt.read(), densities[c].write())->*[](cudaStream_t stream, auto t, auto s, auto rho) {
      by_hand::densities<<<blocks(rho.size()), threads, 0, stream>>>(rho.size(), t.data_handle(), s.data_handle(),
                                                                     rho.data_handle());
    };
    ctx.task(densities[c > 0 ? c - 1 : 0].read(), densities[c].read(), out.write())
            ->*[c](cudaStream_t stream, auto before, auto rho, auto out) {
                  const double* above = c > 0 ? before.data_handle() + before.size() - points : rho.data_handle();
                  by_hand::differences<<<blocks(points), threads, 0, stream>>>(points, above, rho.data_handle(),
                                                                               out.data_handle());
                  const std::size_t others = out.size() - points;
                  if (others > 0)
                    by_hand::differences<<<blocks(others), threads, 0, stream>>>(
                        others, rho.data_handle(), rho.data_handle() + points, out.data_handle() + points);
                };
  }
  ctx.finalize();
}

constexpr std::size_t rows = 8192, columns = 8192;
constexpr int steps = 512;
float* field;
bool field_is_right() { return std::abs(field[rows * columns / 2 + columns / 2]) < 977; }

void diffusion(stf::async_resources_handle& handle) {
  stf::stream_ctx ctx(handle);
  auto u = ctx.logical_data(stf::make_slice(field, rows * columns));
  auto v = ctx.logical_data(u.shape());
  const auto smooth = [](cudaStream_t stream, auto from, auto to) {
    by_hand::smooth<<<dim3(blocks(columns), rows), threads, 0, stream>>>(0, rows, columns, from.data_handle(),
                                                                         to.data_handle());
  };
  for (int step = 0; step < steps; step += 2) {
    ctx.task(u.read(), v.write())->*smooth;
    ctx.task(v.read(), u.write())->*smooth;
  }
  ctx.finalize();
}

constexpr std::size_t rows_of_a = 16384, depth = 4096, width = 64;
float *a, *b, *product;
unsigned* counts;
bool product_is_right() {
  double first = 0;
  for (std::size_t k = 0; k < depth; ++k) first += static_cast<double>(a[k]) * b[k * width];
  std::uint64_t counted = 0;
  for (unsigned i = 0; i < by_hand::bins; ++i) counted += counts[i];
  return std::abs(product[0] - first) <= 1e-3 * first && counted % (rows_of_a * depth) == 0;
}

void product_and_histogram(int chunks, stf::async_resources_handle& handle) {
  std::fill_n(counts, by_hand::bins, 0u);
  stf::stream_ctx ctx(handle);
  auto of_b = ctx.logical_data(stf::make_slice(b, depth * width));
  auto of_counts = ctx.logical_data(stf::make_slice(counts, std::size_t{by_hand::bins}));
  for (int c = 0; c < chunks; ++c) {
    auto of_a = ctx.logical_data(part(a, rows_of_a, depth, c, chunks));
    auto out = ctx.logical_data(part(product, rows_of_a, width, c, chunks));
    ctx.task(of_a.read(), of_b.read(), out.write())->*[](cudaStream_t stream, auto a, auto b, auto out) {
      by_hand::multiply<<<dim3(1, static_cast<unsigned>(out.size() / width)), width, 0, stream>>>(
          depth, width, a.data_handle(), b.data_handle(), out.data_handle());
    };
    ctx.task(of_a.read(), of_counts.rw())->*[](cudaStream_t stream, auto a, auto counts) {
      by_hand::count<<<by_hand::counting_blocks, threads, 0, stream>>>(a.size(), a.data_handle(), counts.data_handle());
    };
  }
  ctx.finalize();
}

}  // namespace

int main() {
  stf::async_resources_handle handle;
  t = pinned<double>(levels * points);
  salt = pinned<double>(levels * points);
  differences_out = pinned<double>(levels * points);
  for (std::size_t i = 0; i < levels * points; ++i) {
    t[i] = static_cast<double>(i % 30'011) / 1'000;
    salt[i] = 30 + static_cast<double>(i % 9'973) / 1'000;
  }
  for (const int chunks : {1, 8, 16, 32, 64})
    show("ocean step", chunks, 11, ocean_is_right, [&] { ocean(chunks, handle); });
  field = pinned<float>(rows * columns);
  for (std::size_t i = 0; i < rows * columns; ++i) field[i] = static_cast<float>(i % 977);
  show("512 diffusion steps", 1, 5, field_is_right, [&] { diffusion(handle); });
  a = pinned<float>(rows_of_a * depth);
  b = pinned<float>(depth * width);
  product = pinned<float>(rows_of_a * width);
  counts = pinned<unsigned>(by_hand::bins);
  for (std::size_t i = 0; i < rows_of_a * depth; ++i) a[i] = static_cast<float>(i % 251);
  for (std::size_t i = 0; i < depth * width; ++i) b[i] = static_cast<float>(i % 3);
  for (const int chunks : {1, 4, 8, 16, 32})
    show("product and histogram", chunks, 11, product_is_right, [&] { product_and_histogram(chunks, handle); });
  return 0;
}
