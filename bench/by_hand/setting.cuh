// Shared parts of the comparisons: the device and its facts, arrays, the two ways, and a kernel that mixes bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bench/by_hand/harness.hpp"
#include "bench/by_hand/kernels.cuh"
#include "bench/by_hand/pipelines.cuh"
#include "shiplap/core/parallel.hpp"
#include "shiplap/shiplap.hpp"

namespace by_hand {

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

/// A pinned array, allocated by shiplap.
template <class T>
struct Pinned {
  Pinned(shiplap::Device& gpu, std::size_t n)
      : memory(gpu.allocate(shiplap::Place::host(), shiplap::MemoryKind::pinned, {n * sizeof(T)})),
        elements(reinterpret_cast<T*>(memory.data()), n) {}
  shiplap::Memory memory;
  std::span<T> elements;
};

inline void note(Comparison& c, const shiplap::Plan& plan) {
  c.predicted_ms = shiplap::in_milliseconds(plan.chosen.predicted.value);
}

inline Way planned(const shiplap::Plan& plan, shiplap::Prepared& prepared) {
  return {shiplap::to_string(plan.chosen.choice), [&prepared] { prepared.run(); }};
}

inline const std::vector<int> chunk_counts{8, 12, 16, 24, 32, 48, 64, 96};

inline auto mix_job(std::span<uint4> in, std::span<uint4> out) {
  return shiplap::Job{in.size(), "mix"}
      .in("in", in)
      .out("out", out)
      .kernel([](cudaStream_t stream, Chunk chunk, auto in, auto out) {
        mix<<<blocks(chunk.count), 256, 0, stream>>>(chunk.count, in.data(), out.data());
      });
}

inline void number(std::span<uint4> in) {
  shiplap::parallel_for(in.size(), 1 << 16, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto v = static_cast<std::uint32_t>(i);
      in[i] = {v, v + 1, v + 2, v + 3};
    }
  });
}
inline bool mixed_right(std::span<const uint4> out) {
  for (std::size_t i = 0; i < out.size(); i += 101)
    if (out[i].x != static_cast<std::uint32_t>(i) * 2654435761u + 12345u) return false;
  return true;
}

/// The SAXPY comparison, in examples.cu.
Comparison saxpy_case(const Setting&);
Comparison halo_case(const Setting&);
Comparison pageable_case(const Setting&);
Comparison library_case(const Setting&);
/// The comparison of a long stream, in long_and_small.cu. Figures that are no comparison go into `more`.
Comparison long_stream(const Setting&, shiplap::Json& more);
Comparison small_job(const Setting&);
void submission(const Setting&, shiplap::Json& more);
/// Shows the comparisons of steps, in steps.cu, one after the other.
void step_cases(const Setting&, const std::function<void(const Comparison&)>& show);
/// The comparisons on several GPUs, in several_gpus.cu.
std::vector<Comparison> several_gpus(const Setting&);

}  // namespace by_hand
