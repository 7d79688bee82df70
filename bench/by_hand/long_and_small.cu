// Compares a long stream through little device memory with a pipeline written by hand and with ideal overlap. Compares
// a small job with three calls. Measures the host time of a chunk.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/by_hand/kernels.cuh"
#include "bench/by_hand/pipelines.cuh"
#include "bench/by_hand/setting.cuh"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/pipeline/ideal_overlap.hpp"

namespace by_hand {

/// Compares a stream of 200 GiB in each direction through 2 GiB of device memory with a pipeline written by hand and
/// with ideal overlap.
Comparison long_stream(const Setting& s, shiplap::Json& more) {
  Comparison result{.name = "larger than memory"};
  const auto n = static_cast<std::size_t>(s.scale * (4ull << 30)) / sizeof(uint4);
  const shiplap::Bytes budget{static_cast<std::uint64_t>(s.scale * (2ull << 30))};
  const auto runs = static_cast<unsigned>(200 / 4);
  const Pinned<uint4> in(s.gpu, n);
  const Pinned<uint4> out(s.gpu, n);
  number(in.elements);
  const auto job = mix_job(in.elements, out.elements);
  shiplap::PlanOptions options;
  options.device_memory = budget;
  const auto plan = shiplap::plan(s.node, job, options);
  auto prepared = shiplap::prepare(s.gpu, plan, job);
  auto copies = shiplap::prepare_duplex(s.gpu, plan.job, {.device_memory = budget});
  note(result, plan);
  // The way by hand has chunks of one size and as many slots as fit.
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
  std::vector<double> copies_alone;
  std::vector<double> memory;
  std::vector<double> device_clock;
  prepared.run();
  copies.run({.hold = true});
  for (unsigned i = 0; i < runs; ++i) {
    shiplap::RunResult observed;
    if (i % 2 == 0) result.by_hand_ms.push_back(timed(best.run));
    result.shiplap_ms.push_back(timed([&] { observed = prepared.run(); }));
    if (i % 2 == 1) result.by_hand_ms.push_back(timed(best.run));
    device_clock.push_back(shiplap::in_milliseconds(observed.timeline.makespan));
    memory.push_back(static_cast<double>(s.gpu.info().free_memory.count));
    copies_alone.push_back(shiplap::in_milliseconds(copies.run({.hold = true}).timeline.makespan));
  }
  prepared.run();  // this run restores `out`, which the copies of ideal overlap have overwritten
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
      {"fraction_of_ideal_overlap", shiplap::median(copies_alone) / shiplap::median(device_clock)},
      {"fraction_of_ideal_overlap_by_wall_clock", shiplap::median(copies_alone) / shiplap::median(result.shiplap_ms)},
      {"free_memory_least", least},
      {"free_memory_most", most}};
  return result;
}

/// Host time of a chunk: many small chunks, only the calls of both variants.
void submission(const Setting& s, shiplap::Json& more) {
  constexpr int chunks = 256;
  const std::size_t n = chunks * 4096ull;
  const Pinned<uint4> in(s.gpu, n);
  const Pinned<uint4> out(s.gpu, n);
  number(in.elements);
  auto job = mix_job(in.elements, out.elements).kernel_time(shiplap::microseconds(50));
  shiplap::PlanOptions options;
  options.space.strategies = {"streams"};
  options.space.chunks = {chunks};
  options.space.layouts = {shiplap::Layout::three};
  options.space.ramps = {shiplap::Ramp{}};
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
                                  {"by_hand", shiplap::quantity_json(shiplap::median(theirs), "us")},
                                  {"shiplap", shiplap::quantity_json(shiplap::median(ours), "us")},
                                  {"ratio", shiplap::median(ours) / shiplap::median(theirs)}};
  check(cudaFree(din));
  check(cudaFree(dout));
}

/// A job of 1 MiB in each direction, planned, compared with copy in, kernel, copy out.
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

}  // namespace by_hand
