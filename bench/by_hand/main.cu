// Each example against the same work by hand in plain CUDA, in turn in one process; a long stream through a small
// budget against the bound; and what a chunk costs the host. Prints a table, writes JSON.
//   by_hand DEVICE PROFILE|measure OUT.json [SCALE]     SCALE: 1 for the sizes of the results, less for a trial
#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <span>
#include <thread>

#include "bench/by_hand/harness.hpp"
#include "bench/by_hand/kernels.cuh"
#include "bench/by_hand/pipelines.cuh"
#include "shiplap/core/parallel.hpp"
#include "shiplap/pipeline/bound.hpp"
#include "shiplap/shiplap.hpp"

namespace {

using namespace by_hand;
using shiplap::Chunk;

constexpr unsigned rounds = 51;

struct Setting {
  shiplap::Device& gpu;
  shiplap::Node node;
  double scale;
};

template <class T>
T* on_gpu(std::size_t n) {
  void* data = nullptr;
  check(cudaMalloc(&data, n * sizeof(T)));
  return static_cast<T*>(data);
}

/// Page-locked, as shiplap has it.
template <class T>
struct Pinned {
  Pinned(shiplap::Device& gpu, std::size_t n)
      : memory(gpu.allocate(shiplap::Place::host(), shiplap::MemoryKind::pinned, {n * sizeof(T)})),
        elements(reinterpret_cast<T*>(memory.data()), n) {}
  shiplap::Memory memory;
  std::span<T> elements;
};

void note(Comparison& c, const shiplap::JobPlan& plan) {
  c.predicted_ms = shiplap::in_milliseconds(plan.chosen.predicted.value);
}

Way planned(const shiplap::JobPlan& plan, shiplap::Prepared& prepared) {
  return {shiplap::to_string(plan.chosen.choice), [&prepared] { prepared.run(); }};
}

const std::vector<int> chunk_counts{8, 12, 16, 24, 32, 48, 64, 96};

Comparison saxpy_case(const Setting& s) {
  Comparison result{.name = "saxpy, page-locked"};
  const auto n = static_cast<std::size_t>(s.scale * (64 << 20));
  const Pinned<float> x(s.gpu, n);
  const Pinned<float> y(s.gpu, n);
  std::ranges::fill(x.elements, 1.0f);
  std::ranges::fill(y.elements, 0.0f);  // 2.5 a run, exactly
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
                          [&](int c, cudaStream_t stream) {  // one row ahead
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
                       .in("u", u.elements, shiplap::neighbours(1, 1))
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
  shiplap::JobOptions as_they_are;
  as_they_are.may_page_lock = false;
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

struct Curve {
  __host__ __device__ float operator()(float v) const { return v * v * (3.0f - 2.0f * v); }
};

Comparison library_case(const Setting& s) {
  Comparison result{.name = "library call (Thrust), page-locked"};
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

auto mix_job(std::span<uint4> in, std::span<uint4> out) {
  return shiplap::Job{in.size(), "mix"}
      .in("in", in)
      .out("out", out)
      .kernel([](cudaStream_t stream, Chunk chunk, auto in, auto out) {
        mix<<<blocks(chunk.count), 256, 0, stream>>>(chunk.count, in.data(), out.data());
      });
}

void number(std::span<uint4> in) {
  shiplap::parallel_for(in.size(), 1 << 16, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto v = static_cast<std::uint32_t>(i);
      in[i] = {v, v + 1, v + 2, v + 3};
    }
  });
}
bool mixed_right(std::span<const uint4> out) {
  for (std::size_t i = 0; i < out.size(); i += 101)
    if (out[i].x != static_cast<std::uint32_t>(i) * 2654435761u + 12345u) return false;
  return true;
}

/// A stream of `total` bytes each way through a budget, against the same by hand and against the bound.
Comparison long_stream(const Setting& s, shiplap::Json& more) {
  Comparison result{.name = "larger than memory"};
  const auto n = static_cast<std::size_t>(s.scale * (4ull << 30)) / sizeof(uint4);
  const shiplap::Bytes budget{static_cast<std::uint64_t>(s.scale * (2ull << 30))};
  const auto runs = static_cast<unsigned>(200 / 4);
  const Pinned<uint4> in(s.gpu, n);
  const Pinned<uint4> out(s.gpu, n);
  number(in.elements);
  const auto job = mix_job(in.elements, out.elements);
  shiplap::JobOptions options;
  options.plan.device_memory = budget;
  const auto plan = shiplap::plan(s.node, job, options);
  auto prepared = shiplap::prepare(s.gpu, plan, job);
  auto bound = shiplap::prepare_duplex(s.gpu, plan.job, {.device_memory = budget});
  note(result, plan);
  // By hand: chunks of a size and as many places as fit.
  ThreeStreams streams(1024);
  uint4* ring_in = on_gpu<uint4>(budget.count / 2 / sizeof(uint4));
  uint4* ring_out = on_gpu<uint4>(budget.count / 2 / sizeof(uint4));
  std::vector<Way> ways;
  for (const int chunks : {32, 64, 128, 256})
    ways.push_back({std::to_string(chunks) + " chunks", [&, chunks] {
                      const std::size_t most = n / chunks + 1;
                      const int ring = std::min<int>(chunks, static_cast<int>(budget.count / 2 / sizeof(uint4) / most));
                      const auto place = [&](int c) { return c % ring * most; };
                      streams.run(
                          chunks, ring,
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(n, c, chunks);
                            check(cudaMemcpyAsync(ring_in + place(c), &in.elements[first],
                                                  (end - first) * sizeof(uint4), cudaMemcpyDefault, stream));
                          },
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(n, c, chunks);
                            mix<<<blocks(end - first), 256, 0, stream>>>(end - first, ring_in + place(c),
                                                                         ring_out + place(c));
                          },
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(n, c, chunks);
                            check(cudaMemcpyAsync(&out.elements[first], ring_out + place(c),
                                                  (end - first) * sizeof(uint4), cudaMemcpyDefault, stream));
                          });
                    }});
  const Way& best = best_of(ways, 3);
  result.right = mixed_right(out.elements);
  std::vector<double> bounds;
  std::vector<double> memory;
  std::vector<double> device_clock;
  prepared.run();
  bound.run({.hold = true});
  for (unsigned i = 0; i < runs; ++i) {
    shiplap::RunResult observed;
    if (i % 2 == 0) result.by_hand_ms.push_back(timed(best.run));
    result.shiplap_ms.push_back(timed([&] { observed = prepared.run(); }));
    if (i % 2 == 1) result.by_hand_ms.push_back(timed(best.run));
    device_clock.push_back(shiplap::in_milliseconds(observed.timeline.makespan));
    memory.push_back(static_cast<double>(s.gpu.info().free_memory.count));
    bounds.push_back(shiplap::in_milliseconds(bound.run({.hold = true}).timeline.makespan));
  }
  prepared.run();  // the bound leaves in `out` what its copies brought
  result.right = result.right && mixed_right(out.elements);
  result.by_hand = best.what;
  result.shiplap = shiplap::to_string(plan.chosen.choice);
  check(cudaFree(ring_in));
  check(cudaFree(ring_out));
  const auto [least, most] = std::ranges::minmax(memory);
  more["long_stream"] = {
      {"gib_each_way", static_cast<double>(runs * n * sizeof(uint4)) / (1ull << 30)},
      {"budget_gib", static_cast<double>(budget.count) / (1ull << 30)},
      {"device_memory_gib",
       static_cast<double>(shiplap::memory_at(prepared.schedule(), shiplap::Place::gpu()).count) / (1ull << 30)},
      {"share_of_bound", shiplap::median(bounds) / shiplap::median(device_clock)},
      {"share_of_bound_by_wall_clock", shiplap::median(bounds) / shiplap::median(result.shiplap_ms)},
      {"free_memory_least", least},
      {"free_memory_most", most}};
  return result;
}

/// What a chunk costs the host: many small chunks, the calls of both ways alone.
void submission(const Setting& s, shiplap::Json& more) {
  constexpr int chunks = 256;
  const std::size_t n = chunks * 4096ull;
  const Pinned<uint4> in(s.gpu, n);
  const Pinned<uint4> out(s.gpu, n);
  number(in.elements);
  auto job = mix_job(in.elements, out.elements).takes(shiplap::microseconds(50));
  shiplap::JobOptions options;
  options.plan.strategies = {"streams"};
  options.plan.chunks = {chunks};
  options.plan.layouts = {shiplap::Layout::three};
  options.plan.ramps = {shiplap::Ramp{}};
  const auto plan = shiplap::plan(s.node, job, options);
  auto prepared = shiplap::prepare(s.gpu, plan, job);
  ThreeStreams streams(chunks);
  uint4* din = on_gpu<uint4>(n);
  uint4* dout = on_gpu<uint4>(n);
  const auto raw = [&] {
    streams.submit(
        chunks, chunks,
        [&](int c, cudaStream_t stream) {
          const auto [first, end] = part(n, c, chunks);
          check(cudaMemcpyAsync(din + first, &in.elements[first], (end - first) * sizeof(uint4), cudaMemcpyDefault,
                                stream));
        },
        [&](int c, cudaStream_t stream) {
          const auto [first, end] = part(n, c, chunks);
          mix<<<blocks(end - first), 256, 0, stream>>>(end - first, din + first, dout + first);
        },
        [&](int c, cudaStream_t stream) {
          const auto [first, end] = part(n, c, chunks);
          check(cudaMemcpyAsync(&out.elements[first], dout + first, (end - first) * sizeof(uint4), cudaMemcpyDefault,
                                stream));
        });
  };
  std::vector<double> theirs;
  std::vector<double> ours;
  for (unsigned i = 0; i < 2 * rounds; ++i) {
    theirs.push_back(timed(raw) * 1e3 / chunks);
    check(cudaStreamSynchronize(streams.out));
    ours.push_back(shiplap::in_milliseconds(prepared.run().submission) * 1e3 / chunks);
  }
  more["host_cost_of_a_chunk"] = {{"chunks", chunks},
                                  {"by_hand_us", shiplap::median(theirs)},
                                  {"shiplap_us", shiplap::median(ours)},
                                  {"ratio", shiplap::median(ours) / shiplap::median(theirs)}};
  check(cudaFree(din));
  check(cudaFree(dout));
}

/// 1 MiB each way, planned, against copy in, kernel, copy out.
Comparison small_job(const Setting& s) {
  Comparison result{.name = "1 MiB each way against the naive three calls"};
  const std::size_t n = (1 << 20) / sizeof(uint4);
  const Pinned<uint4> in(s.gpu, n);
  const Pinned<uint4> out(s.gpu, n);
  number(in.elements);
  uint4* din = on_gpu<uint4>(n);
  uint4* dout = on_gpu<uint4>(n);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Way naive{"copy, kernel, copy", [&] {
                    check(cudaMemcpyAsync(din, in.elements.data(), n * sizeof(uint4), cudaMemcpyDefault, stream));
                    mix<<<blocks(n), 256, 0, stream>>>(n, din, dout);
                    check(cudaMemcpyAsync(out.elements.data(), dout, n * sizeof(uint4), cudaMemcpyDefault, stream));
                    check(cudaStreamSynchronize(stream));
                  }};
  const auto job = mix_job(in.elements, out.elements);
  const auto plan = shiplap::plan(s.node, job);
  auto prepared = shiplap::prepare(s.gpu, plan, job);
  note(result, plan);
  compare(result, naive, planned(plan, prepared), 8 * rounds);
  std::ranges::fill(out.elements, uint4{});
  prepared.run();
  result.right = mixed_right(out.elements);
  check(cudaFree(din));
  check(cudaFree(dout));
  return result;
}

/// The same job on the first GPU and on all of the device, in turn.
Comparison shared(const Setting& s, const std::string& name, const shiplap::Job& job,
                  const std::function<bool()>& is_right) {
  Comparison result{.name = name};
  const auto gpus = s.gpu.info().gpus;
  const auto one = shiplap::plan(s.node, job);
  const auto all = shiplap::plan(s.node, job, {.gpus = gpus});
  auto on_one = shiplap::prepare(s.gpu, one, job);
  auto on_all = shiplap::prepare(s.gpu, all, job);
  note(result, all);
  compare(result, planned(one, on_one), planned(all, on_all), rounds);
  for (const shiplap::Array& array : job.arrays)
    if (is_output(array.role)) std::fill_n(array.data, array.size.count, std::byte{0});
  on_all.run();
  result.right = is_right();
  return result;
}

std::vector<Comparison> several_gpus(const Setting& s) {
  const auto n = static_cast<std::size_t>(s.scale * (2ull << 30)) / sizeof(uint4);
  const Pinned<uint4> in(s.gpu, n);
  const Pinned<uint4> out(s.gpu, n);
  const Pinned<std::uint32_t> sums(s.gpu, n / 16);
  number(in.elements);
  const auto summing = shiplap::Job{n / 16, "sum of 16"}
                           .in("in", in.elements)
                           .out("sums", sums.elements)
                           .kernel([](cudaStream_t stream, Chunk chunk, auto in, auto sums) {
                             sum_of_16<<<blocks(chunk.count), 256, 0, stream>>>(chunk.count, in.data(), sums.data());
                           });
  std::vector<Comparison> results;
  results.push_back(shared(s, "to the GPUs, one against all", summing, [&] {
    for (std::size_t i = 0; i < n / 16; i += 61) {
      std::uint32_t sum = 0;
      for (std::size_t k = 16 * i; k < 16 * i + 16; ++k)
        sum += in.elements[k].x + in.elements[k].y + in.elements[k].z + in.elements[k].w;
      if (sums.elements[i] != sum) return false;
    }
    return true;
  }));
  results.push_back(shared(s, "both ways, one against all", mix_job(in.elements, out.elements),
                           [&] { return mixed_right(out.elements); }));
  return results;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) {
    std::cerr << "usage: by_hand DEVICE PROFILE|measure OUT.json [SCALE]\n";
    return 64;
  }
  const auto gpu = shiplap::open(argv[1]);
  const std::string profile = argv[2];
  Setting s{
      *gpu,
      profile == "measure" ? shiplap::load_or_measure(*gpu) : shiplap::node_of(*gpu, shiplap::find_profile(profile)),
      argc > 4 ? std::strtod(argv[4], nullptr) : 1.0};
  shiplap::Json json{{"schema", "shiplap/by-hand"},
                     {"version", 1},
                     {"device", gpu->info().name},
                     {"profile_hash", shiplap::parameter_hash(s.node.profile)},
                     {"clock", "host, from the first call to the known end"}};
  bool right = true;
  std::printf("%-46s %12s %12s %8s %12s  %s\n", "work", "by hand", "shiplap", "ratio", "predicted", "");
  const auto show = [&](const Comparison& c) {
    std::printf("%-46s %9.3f ms %9.3f ms %8.4f %9.3f ms  %s | %s%s\n", c.name.c_str(), shiplap::median(c.by_hand_ms),
                shiplap::median(c.shiplap_ms), c.ratio(), c.predicted_ms, c.by_hand.c_str(), c.shiplap.c_str(),
                c.right ? "" : "  WRONG RESULT");
    std::fflush(stdout);
    right = right && c.right;
    json["comparisons"].push_back(c.to_json());
    std::ofstream(argv[3]) << json.dump(1) << '\n';
  };
  if (gpu->info().gpus > 1) {
    for (const Comparison& c : several_gpus(s)) show(c);
    return right ? 0 : 2;
  }
  show(saxpy_case(s));
  show(halo_case(s));
  show(pageable_case(s));
  show(library_case(s));
  show(long_stream(s, json));
  show(small_job(s));
  submission(s, json);
  std::printf("%s\n%s\n", json["long_stream"].dump().c_str(), json["host_cost_of_a_chunk"].dump().c_str());
  std::ofstream(argv[3]) << json.dump(1) << '\n';
  return right ? 0 : 2;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
