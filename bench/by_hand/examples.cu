// The work of the examples, by hand and as a Job.
#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "bench/by_hand/kernels.cuh"
#include "bench/by_hand/pipelines.cuh"
#include "bench/by_hand/setting.cuh"

namespace by_hand {

Comparison saxpy_case(const Setting& s) {
  Comparison result{.name = "saxpy, pinned"};
  const auto n = static_cast<std::size_t>(s.scale * (64 << 20));
  const Pinned<float> x(s.gpu, n);
  const Pinned<float> y(s.gpu, n);
  std::ranges::fill(x.elements, 1.0f);
  std::ranges::fill(y.elements, 0.0f);  // each run adds exactly 2.5
  ThreeStreams streams(256);
  float* dx = on_gpu<float>(n);
  float* dy = on_gpu<float>(n);
  std::vector<Way> ways;
  for (const int chunks : chunk_counts)
    ways.push_back({std::to_string(chunks) + " chunks", [&, chunks] {
                      streams.run(
                          chunks, chunks,
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(n, c, chunks);
                            const std::size_t bytes = (end - first) * sizeof(float);
                            check(cudaMemcpyAsync(dx + first, &x.elements[first], bytes, cudaMemcpyDefault, stream));
                            check(cudaMemcpyAsync(dy + first, &y.elements[first], bytes, cudaMemcpyDefault, stream));
                          },
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(n, c, chunks);
                            saxpy<<<blocks(end - first), 256, 0, stream>>>(end - first, dx + first, dy + first);
                          },
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(n, c, chunks);
                            check(cudaMemcpyAsync(&y.elements[first], dy + first, (end - first) * sizeof(float),
                                                  cudaMemcpyDefault, stream));
                          });
                    }});
  const auto job = shiplap::Job{n, "saxpy"}
                       .in("x", x.elements)
                       .inout("y", y.elements)
                       .kernel([](cudaStream_t stream, Chunk chunk, auto x, auto y) {
                         saxpy<<<blocks(chunk.count), 256, 0, stream>>>(chunk.count, x.data(), y.data());
                       });
  const auto plan = shiplap::plan(s.node, job);
  auto prepared = shiplap::prepare(s.gpu, plan, job);
  note(result, plan);
  compare(result, best_of(ways, 5), planned(plan, prepared), rounds);
  std::ranges::fill(y.elements, 0.5f);
  prepared.run();
  result.right = std::ranges::all_of(y.elements, [](float v) { return v == 3.0f; });
  check(cudaFree(dx));
  check(cudaFree(dy));
  return result;
}

Comparison halo_case(const Setting& s) {
  Comparison result{.name = "halo"};
  const std::size_t columns = 8192;
  const auto rows = static_cast<std::size_t>(s.scale * 8192);
  const Pinned<float> u(s.gpu, rows * columns);
  const Pinned<float> out(s.gpu, rows * columns);
  for (std::size_t i = 0; i < u.elements.size(); ++i) u.elements[i] = static_cast<float>(i % 977);
  ThreeStreams streams(256);
  float* du = on_gpu<float>(rows * columns);
  float* dout = on_gpu<float>(rows * columns);
  const dim3 width(blocks(columns));
  std::vector<Way> ways;
  for (const int chunks : chunk_counts)
    ways.push_back({std::to_string(chunks) + " chunks", [&, chunks] {
                      streams.run(
                          chunks, chunks,
                          [&](int c, cudaStream_t stream) {  // copies one row ahead
                            const auto [first, end] = part(rows, c, chunks);
                            const std::size_t from = c == 0 ? 0 : first + 1;
                            const std::size_t to = std::min(rows, end + 1);
                            check(cudaMemcpyAsync(du + from * columns, &u.elements[from * columns],
                                                  (to - from) * columns * sizeof(float), cudaMemcpyDefault, stream));
                          },
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(rows, c, chunks);
                            smooth<<<dim3(width.x, end - first), 256, 0, stream>>>(first, rows, columns, du, dout);
                          },
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(rows, c, chunks);
                            check(cudaMemcpyAsync(&out.elements[first * columns], dout + first * columns,
                                                  (end - first) * columns * sizeof(float), cudaMemcpyDefault, stream));
                          });
                    }});
  const auto job = shiplap::Job{rows, "halo"}
                       .in("u", u.elements, shiplap::halo(1, 1))
                       .out("out", out.elements)
                       .kernel([=](cudaStream_t stream, Chunk chunk, auto u, auto out) {
                         smooth<<<dim3(width.x, chunk.count), 256, 0, stream>>>(
                             chunk.first, rows, columns, u.data() - u.first(), out.data() - out.first());
                       });
  const auto plan = shiplap::plan(s.node, job);
  auto prepared = shiplap::prepare(s.gpu, plan, job);
  note(result, plan);
  std::ranges::fill(out.elements, -1.0f);
  prepared.run();
  const std::vector<float> ours(out.elements.begin(), out.elements.end());
  compare(result, best_of(ways, 5), planned(plan, prepared), rounds);
  ways.front().run();
  result.right = std::ranges::equal(ours, out.elements);
  check(cudaFree(du));
  check(cudaFree(dout));
  return result;
}

Comparison pageable_case(const Setting& s) {
  Comparison result{.name = "density, pageable vectors"};
  const auto n = static_cast<std::size_t>(s.scale * (32 << 20));
  std::vector<double> t(n), salinity(n), rho(n);
  for (std::size_t i = 0; i < n; ++i) {
    t[i] = static_cast<double>(i % 300) / 10;
    salinity[i] = 30.0 + static_cast<double>(i % 70) / 10;
  }
  double* dt = on_gpu<double>(n);
  double* ds = on_gpu<double>(n);
  double* drho = on_gpu<double>(n);
  std::vector<Way> ways;
  std::vector<std::unique_ptr<Rings>> rings;
  for (const int threads : {4, 8})
    for (const std::size_t place : {1 << 20, 2 << 20, 4 << 20}) {
      const int chunks = static_cast<int>(std::max<std::size_t>(threads, n * sizeof(double) / place));
      const std::size_t most = (n / chunks + 1) * sizeof(double);
      rings.push_back(std::make_unique<Rings>(threads, chunks, 2 * most, most));
      ways.push_back({std::to_string(threads) + " threads each way, " + std::to_string(chunks) + " chunks",
                      [&, chunks, ring = rings.back().get()] {
                        const auto range = [n, chunks](int c) { return part(n, c, chunks); };
                        ring->run(
                            [&](int c, std::byte* place) {
                              const auto [first, end] = range(c);
                              std::memcpy(place, &t[first], (end - first) * sizeof(double));
                              std::memcpy(place + (end - first) * sizeof(double), &salinity[first],
                                          (end - first) * sizeof(double));
                            },
                            [&](int c, const std::byte* place, cudaStream_t stream) {
                              const auto [first, end] = range(c);
                              const std::size_t bytes = (end - first) * sizeof(double);
                              check(cudaMemcpyAsync(dt + first, place, bytes, cudaMemcpyDefault, stream));
                              check(cudaMemcpyAsync(ds + first, place + bytes, bytes, cudaMemcpyDefault, stream));
                              densities<<<blocks(end - first), 256, 0, stream>>>(end - first, dt + first, ds + first,
                                                                                 drho + first);
                            },
                            [&](int c, std::byte* place, cudaStream_t stream) {
                              const auto [first, end] = range(c);
                              check(cudaMemcpyAsync(place, drho + first, (end - first) * sizeof(double),
                                                    cudaMemcpyDefault, stream));
                            },
                            [&](int c, const std::byte* place) {
                              const auto [first, end] = range(c);
                              std::memcpy(&rho[first], place, (end - first) * sizeof(double));
                            });
                      }});
    }
  const auto job =
      shiplap::Job{n, "density"}
          .in("t", t)
          .in("s", salinity)
          .out("rho", rho)
          .kernel([](cudaStream_t stream, Chunk chunk, auto t, auto s, auto rho) {
            densities<<<blocks(chunk.count), 256, 0, stream>>>(chunk.count, t.data(), s.data(), rho.data());
          });
  shiplap::PlanOptions as_they_are;
  as_they_are.may_pin = false;
  const auto plan = shiplap::plan(s.node, job, as_they_are);
  auto prepared = shiplap::prepare(s.gpu, plan, job);
  note(result, plan);
  const Way& best = best_of(ways, 5);
  std::ranges::fill(rho, 0.0);
  best.run();
  const std::vector<double> theirs = rho;
  compare(result, best, planned(plan, prepared), rounds);
  std::ranges::fill(rho, 0.0);
  prepared.run();
  result.right = rho == theirs && std::abs(rho[n / 2] - density(t[n / 2], salinity[n / 2])) < 1e-9;
  for (double* data : {dt, ds, drho}) check(cudaFree(data));
  return result;
}

namespace {
struct Curve {
  __host__ __device__ float operator()(float v) const { return v * v * (3.0f - 2.0f * v); }
};
}  // namespace

Comparison library_case(const Setting& s) {
  Comparison result{.name = "library call (Thrust), pinned"};
  const auto frames = static_cast<std::size_t>(s.scale * 200);
  const std::size_t pixels = 640 * 512;
  const std::size_t n = frames * pixels;
  const Pinned<float> film(s.gpu, n);
  const Pinned<float> graded(s.gpu, n);
  for (std::size_t i = 0; i < n; ++i) film.elements[i] = static_cast<float>(i % 1021) / 1020.0f;
  ThreeStreams streams(256);
  float* din = on_gpu<float>(n);
  float* dout = on_gpu<float>(n);
  std::vector<Way> ways;
  for (const int chunks : chunk_counts)
    ways.push_back({std::to_string(chunks) + " chunks", [&, chunks] {
                      const auto range = [&](int c) {
                        const auto [first, end] = part(frames, c, chunks);
                        return Range{first * pixels, end * pixels};
                      };
                      streams.run(
                          chunks, chunks,
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = range(c);
                            check(cudaMemcpyAsync(din + first, &film.elements[first], (end - first) * sizeof(float),
                                                  cudaMemcpyDefault, stream));
                          },
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = range(c);
                            thrust::transform(thrust::cuda::par_nosync.on(stream), din + first, din + end, dout + first,
                                              Curve{});
                          },
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = range(c);
                            check(cudaMemcpyAsync(&graded.elements[first], dout + first, (end - first) * sizeof(float),
                                                  cudaMemcpyDefault, stream));
                          });
                    }});
  const auto job = shiplap::Job{frames, "grade"}
                       .in("film", film.elements)
                       .out("graded", graded.elements)
                       .kernel([](cudaStream_t stream, Chunk, auto film, auto graded) {
                         thrust::transform(thrust::cuda::par_nosync.on(stream), film.data(), film.data() + film.size(),
                                           graded.data(), Curve{});
                       });
  const auto plan = shiplap::plan(s.node, job);
  auto prepared = shiplap::prepare(s.gpu, plan, job);
  note(result, plan);
  compare(result, best_of(ways, 5), planned(plan, prepared), rounds);
  std::ranges::fill(graded.elements, -1.0f);
  prepared.run();
  for (std::size_t i = 0; i < n; i += 97)
    result.right = result.right && std::abs(graded.elements[i] - Curve{}(film.elements[i])) < 1e-6f;
  check(cudaFree(din));
  check(cudaFree(dout));
  return result;
}

}  // namespace by_hand
