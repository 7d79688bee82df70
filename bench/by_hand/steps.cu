// Steps of several kernels by hand and as a Step: an ocean model's density and its differences, 512 steps of a
// diffusion, and a matrix product and a histogram of one input; where arrays fit on the GPU, and where they do not.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/by_hand/kernels.cuh"
#include "bench/by_hand/pipelines.cuh"
#include "bench/by_hand/setting.cuh"
#include "shiplap/pipeline/step.hpp"

namespace by_hand {
namespace {

template <class T>
void copy(T* to, const T* from, std::size_t elements, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, elements * sizeof(T), cudaMemcpyDefault, stream));
}

/// Median time of the kernels of a step, each planned for itself and run `times` times in a step, in milliseconds.
template <class... Jobs>
double single_jobs_ms(const Setting& s, shiplap::Bytes device_memory, int times, const Jobs&... jobs) {
  std::vector<shiplap::Prepared> prepared;
  (prepared.push_back(shiplap::prepare(s.gpu, shiplap::plan(s.node, jobs, {.device_memory = device_memory}), jobs)),
   ...);
  std::vector<double> ms;
  for (int round = 0; round < 4; ++round) {
    const double time = timed([&] {
      for (int i = 0; i < times; ++i)
        for (shiplap::Prepared& one : prepared) one.run();
    });
    if (round > 0) ms.push_back(time);
  }
  return shiplap::median(ms);
}

/// Compares the best way by hand with the planned step. Both must leave what `is_right` accepts.
Comparison compare_step(const Setting& s, std::string name, const std::vector<Way>& ways, const shiplap::Step& step,
                        double singles_ms, shiplap::Bytes device_memory, const std::function<void()>& reset,
                        const std::function<bool()>& is_right, unsigned rounds_of_step) {
  Comparison result{.name = std::move(name), .single_jobs_ms = singles_ms};
  shiplap::PreparedStep prepared(s.gpu, shiplap::plan(s.node, step, {.device_memory = device_memory}), step);
  result.predicted_ms = shiplap::in_milliseconds(prepared.plan().predicted.value);
  const Way planned{std::to_string(prepared.plan().passes.size()) + " passes, " +
                        shiplap::to_string(prepared.plan().in + prepared.plan().out) + " over the link",
                    [&] { prepared.run(); }};
  std::fprintf(stderr, "%s\n%s\n", result.name.c_str(), prepared.plan().explain().c_str());
  const Way& best = best_of(ways, 3);
  compare(result, best, planned, rounds_of_step);
  for (const Way* way : {&best, &planned}) {
    reset();
    way->run();
    result.right = result.right && is_right();
  }
  return result;
}

/// Temperature and salinity in, differences of the density out; the density itself stays on the GPU.
Comparison ocean(const Setting& s, bool fits) {
  const std::size_t points = std::size_t{1} << 20;
  const auto levels = std::max<std::size_t>(8, static_cast<std::size_t>(s.scale * 64));
  const Pinned<double> t(s.gpu, levels * points), salt(s.gpu, levels * points), rho(s.gpu, levels * points),
      out(s.gpu, levels * points);
  for (std::size_t i = 0; i < t.elements.size(); ++i) {
    t.elements[i] = static_cast<double>(i % 30'011) / 1'000;
    salt.elements[i] = 30 + static_cast<double>(i % 9'973) / 1'000;
  }
  // Where all fits, slots are levels in whole arrays. A slot of a ring has the levels of a chunk, and that of the
  // density begins with the last level of the chunk before.
  const int ring = 3;
  const std::size_t most_levels = fits ? levels : 2;
  double* dt = on_gpu<double>((fits ? levels : ring * most_levels) * points);
  double* ds = on_gpu<double>((fits ? levels : ring * most_levels) * points);
  double* dout = on_gpu<double>((fits ? levels : ring * most_levels) * points);
  double* drho = on_gpu<double>((most_levels + 1) * points);
  ThreeStreams streams(256);
  std::vector<Way> ways;
  for (const int chunks : {8, 16, 32, 64}) {
    if (static_cast<std::size_t>(chunks) > levels || (!fits && levels / chunks > most_levels)) continue;
    ways.push_back({std::to_string(chunks) + " chunks", [&, chunks, fits] {
                      const auto place = [&, chunks, fits](int c) {
                        return (fits ? part(levels, c, chunks).first : c % ring * most_levels) * points;
                      };
                      streams.run(
                          chunks, fits ? chunks : ring,
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(levels, c, chunks);
                            copy(dt + place(c), &t.elements[first * points], (end - first) * points, stream);
                            copy(ds + place(c), &salt.elements[first * points], (end - first) * points, stream);
                          },
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(levels, c, chunks);
                            const std::size_t n = (end - first) * points;
                            double* here = drho + points;
                            if (c > 0) {
                              const auto before = part(levels, c - 1, chunks);
                              copy(drho, here + (before.end - before.first - 1) * points, points, stream);
                            }
                            densities<<<blocks(n), 256, 0, stream>>>(n, dt + place(c), ds + place(c), here);
                            if (c == 0) copy(drho, here, points, stream);
                            differences<<<blocks(n), 256, 0, stream>>>(n, drho, here, dout + place(c));
                          },
                          [&](int c, cudaStream_t stream) {
                            const auto [first, end] = part(levels, c, chunks);
                            copy(&out.elements[first * points], dout + place(c), (end - first) * points, stream);
                          });
                    }});
  }
  const auto state =
      shiplap::Job{levels, "state"}
          .in("t", t.elements)
          .in("s", salt.elements)
          .out("rho", rho.elements)
          .kernel([](cudaStream_t stream, Chunk, auto t, auto s, auto rho) {
            densities<<<blocks(rho.size()), 256, 0, stream>>>(rho.size(), t.data(), s.data(), rho.data());
          });
  const auto difference =
      shiplap::Job{levels, "differences"}
          .in("rho", rho.elements, shiplap::halo(1, 0))
          .out("out", out.elements)
          .kernel([points](cudaStream_t stream, Chunk chunk, auto rho, auto out) {
            const std::uint64_t n = out.size();
            const bool at_surface = chunk.first == 0;
            if (at_surface) differences<<<blocks(points), 256, 0, stream>>>(points, rho.data(), rho.data(), out.data());
            const std::uint64_t skipped = at_surface ? points : 0;
            if (n > skipped)
              differences<<<blocks(n - skipped), 256, 0, stream>>>(n - skipped, rho.data(), rho.data() + points,
                                                                   out.data() + skipped);
          });
  const auto step = shiplap::Step{"ocean"}.kernel(state).kernel(difference).temporary("rho");
  const shiplap::Bytes limit{fits ? 0 : (3 * ring * most_levels + most_levels + 1) * points * sizeof(double)};
  const auto density_at = [&](std::size_t i) { return density(t.elements[i], salt.elements[i]); };
  Comparison result = compare_step(
      s, fits ? "ocean step, fits" : "ocean step, does not fit", ways, step,
      single_jobs_ms(s, limit, 1, state, difference), limit, [&] { std::ranges::fill(out.elements, -1.0); },
      [&] {
        for (std::size_t i = 0; i < out.elements.size(); i += 997) {
          const double expected = i < points ? 0 : density_at(i) - density_at(i - points);
          if (std::abs(out.elements[i] - expected) > 1e-9) return false;
        }
        return true;
      },
      rounds);
  for (double* memory : {dt, ds, dout, drho}) check(cudaFree(memory));
  return result;
}

/// 512 steps of a diffusion. Where the field does not fit, chunks pass through `fused` of them at a time, with halos
/// that are computed twice.
Comparison diffusion(const Setting& s, bool fits) {
  constexpr int steps = 512;
  const std::size_t columns = 8192;
  const auto rows = std::max<std::size_t>(1024, static_cast<std::size_t>(s.scale * 8192));
  const std::size_t size = rows * columns;
  const Pinned<float> u(s.gpu, size), v(s.gpu, size);
  const auto reset = [&] {
    for (std::size_t i = 0; i < size; ++i) u.elements[i] = static_cast<float>(i % 977);
  };
  reset();
  const dim3 width(blocks(columns));
  ThreeStreams streams(256);
  std::vector<Way> ways;
  std::vector<float*> memory;
  if (fits) {
    float* du = on_gpu<float>(size);
    float* dv = on_gpu<float>(size);
    memory = {du, dv};
    ways.push_back({"whole arrays on the GPU", [&, du, dv, width] {
                      copy(du, u.elements.data(), size, streams.compute);
                      for (int step = 0; step < steps; step += 2) {
                        smooth<<<dim3(width.x, rows), 256, 0, streams.compute>>>(0, rows, columns, du, dv);
                        smooth<<<dim3(width.x, rows), 256, 0, streams.compute>>>(0, rows, columns, dv, du);
                      }
                      copy(u.elements.data(), du, size, streams.compute);
                      check(cudaStreamSynchronize(streams.compute));
                    }});
  } else {
    const int ring = 3;
    for (const int fused : {16, 32, 64, 128})
      for (const int chunks : {8, 16, 32}) {
        const std::size_t slot = (rows / chunks + 1 + 2 * fused) * columns;
        if (2 * ring * slot > size) continue;
        float* slots = on_gpu<float>(2 * ring * slot);
        memory.push_back(slots);
        ways.push_back({std::to_string(fused) + " steps at a time, " + std::to_string(chunks) + " chunks",
                        [&, fused, chunks, slot, slots, width] {
                          for (int pass = 0; pass < steps / fused; ++pass) {
                            const float* from = pass % 2 == 0 ? u.elements.data() : v.elements.data();
                            float* to = pass % 2 == 0 ? v.elements.data() : u.elements.data();
                            const auto reach = [&](int c, std::size_t halo) {
                              const auto [first, end] = part(rows, c, chunks);
                              return Range{first < halo ? 0 : first - halo, std::min(rows, end + halo)};
                            };
                            streams.run(
                                chunks, ring,
                                [&](int c, cudaStream_t stream) {
                                  const Range all = reach(c, fused);
                                  copy(slots + c % ring * 2 * slot, from + all.first * columns,
                                       (all.end - all.first) * columns, stream);
                                },
                                [&](int c, cudaStream_t stream) {
                                  // Pointers to row 0 of the whole field.
                                  float* here = slots + c % ring * 2 * slot - reach(c, fused).first * columns;
                                  float* there = here + slot;
                                  for (int k = 1; k <= fused; ++k) {
                                    const Range some = reach(c, fused - k);
                                    smooth<<<dim3(width.x, some.end - some.first), 256, 0, stream>>>(
                                        some.first, rows, columns, here, there);
                                    std::swap(here, there);
                                  }
                                },
                                [&](int c, cudaStream_t stream) {
                                  const Range own = reach(c, 0);
                                  const std::size_t before = own.first - reach(c, fused).first;
                                  copy(to + own.first * columns, slots + c % ring * 2 * slot + before * columns,
                                       (own.end - own.first) * columns, stream);
                                });
                          }
                        }});
      }
  }
  const auto job = [&](const char* name, const char* from, std::span<float> in, const char* to, std::span<float> out) {
    return shiplap::Job{rows, name}
        .in(from, in, shiplap::halo(1, 1))
        .out(to, out)
        .kernel([=](cudaStream_t stream, Chunk chunk, auto in, auto out) {
          smooth<<<dim3(width.x, static_cast<unsigned>(chunk.count)), 256, 0, stream>>>(
              chunk.first, rows, columns, in.data() - in.first(), out.data() - out.first());
        });
  };
  const auto there = job("there", "u", u.elements, "v", v.elements);
  const auto back = job("back", "v", v.elements, "u", u.elements);
  const auto step = shiplap::Step{"diffusion"}.kernel(there).kernel(back).repeated(steps / 2).temporary("v");
  const shiplap::Bytes limit{fits ? 0 : size * sizeof(float)};
  std::vector<float> expected;
  Comparison result = compare_step(
      s, std::string("512 diffusion steps, ") + (fits ? "fits" : "half fits"), ways, step,
      single_jobs_ms(s, limit, steps / 2, there, back), limit, reset,
      [&] {  // the way by hand and the step compute the same bits
        if (expected.empty()) expected.assign(u.elements.begin(), u.elements.end());
        return std::ranges::equal(u.elements, expected) && std::abs(expected[size / 2 + columns / 2]) < 977;
      },
      5);
  for (float* one : memory) check(cudaFree(one));
  return result;
}

/// The rows of a matrix pass through a product with a smaller one and a histogram.
Comparison product_and_histogram(const Setting& s) {
  const std::size_t depth = 4096, width = 64;
  const auto rows = std::max<std::size_t>(512, static_cast<std::size_t>(s.scale * 16384));
  const Pinned<float> a(s.gpu, rows * depth), b(s.gpu, depth * width), c(s.gpu, rows * width);
  const Pinned<unsigned> counts(s.gpu, bins);
  for (std::size_t i = 0; i < a.elements.size(); ++i) a.elements[i] = static_cast<float>(i % 251);
  for (std::size_t i = 0; i < b.elements.size(); ++i) b.elements[i] = static_cast<float>(i % 3);
  float* da = on_gpu<float>(rows * depth);
  float* db = on_gpu<float>(depth * width);
  float* dc = on_gpu<float>(rows * width);
  unsigned* dcounts = on_gpu<unsigned>(bins);
  ThreeStreams streams(256);
  std::vector<Way> ways;
  for (const int chunks : chunk_counts)
    ways.push_back({std::to_string(chunks) + " chunks", [&, chunks] {
                      copy(db, b.elements.data(), depth * width, streams.in);
                      copy(dcounts, counts.elements.data(), bins, streams.in);
                      streams.submit(
                          chunks, chunks,
                          [&](int i, cudaStream_t stream) {
                            const auto [first, end] = part(rows, i, chunks);
                            copy(da + first * depth, &a.elements[first * depth], (end - first) * depth, stream);
                          },
                          [&](int i, cudaStream_t stream) {
                            const auto [first, end] = part(rows, i, chunks);
                            multiply<<<dim3(1, end - first), width, 0, stream>>>(depth, width, da + first * depth, db,
                                                                                 dc + first * width);
                            count<<<counting_blocks, 256, 0, stream>>>((end - first) * depth, da + first * depth,
                                                                       dcounts);
                          },
                          [&](int i, cudaStream_t stream) {
                            const auto [first, end] = part(rows, i, chunks);
                            copy(&c.elements[first * width], dc + first * width, (end - first) * width, stream);
                          });
                      copy(counts.elements.data(), dcounts, bins, streams.out);
                      check(cudaStreamSynchronize(streams.out));
                    }});
  const auto product = shiplap::Job{rows, "product"}
                           .in("a", a.elements)
                           .broadcast("b", b.elements)
                           .out("c", c.elements)
                           .kernel([=](cudaStream_t stream, Chunk chunk, auto a, auto b, auto c) {
                             multiply<<<dim3(1, static_cast<unsigned>(chunk.count)), width, 0, stream>>>(
                                 depth, width, a.data(), b.data(), c.data());
                           });
  const auto histogram = shiplap::Job{rows, "histogram"}
                             .in("a", a.elements)
                             .carried("counts", counts.elements)
                             .kernel([=](cudaStream_t stream, Chunk chunk, auto a, auto counts) {
                               count<<<counting_blocks, 256, 0, stream>>>(chunk.count * depth, a.data(), counts.data());
                             });
  std::vector<unsigned> expected(bins);
  for (const float value : a.elements) ++expected[static_cast<unsigned>(value) % bins];
  Comparison result = compare_step(
      s, "product and histogram", ways, shiplap::Step{"product and histogram"}.kernel(product).kernel(histogram),
      single_jobs_ms(s, shiplap::Bytes{0}, 1, product, histogram), shiplap::Bytes{0},
      [&] { std::ranges::fill(counts.elements, 0u); },
      [&] {
        double first = 0;
        for (std::size_t k = 0; k < depth; ++k) first += a.elements[k] * b.elements[k * width];
        return std::ranges::equal(counts.elements, expected) && std::abs(c.elements[0] - first) <= 1e-3 * first;
      },
      rounds);
  for (float* memory : {da, db, dc}) check(cudaFree(memory));
  check(cudaFree(dcounts));
  return result;
}

}  // namespace

void step_cases(const Setting& s, const std::function<void(const Comparison&)>& show) {
  for (const bool fits : {true, false}) show(ocean(s, fits));
  for (const bool fits : {true, false}) show(diffusion(s, fits));
  show(product_and_histogram(s));
}

}  // namespace by_hand
