// The examples by hand: the best known patterns in plain CUDA, without shiplap.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace by_hand {

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "by hand: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

struct Range {
  std::size_t first = 0;
  std::size_t end = 0;
};
inline Range part(std::size_t items, int chunk, int chunks) {
  return {items * chunk / chunks, items * (chunk + 1) / chunks};
}

/// A pipeline for pinned arrays: one stream each for copies in, kernels and copies out, synchronised by events. The GPU
/// has the whole arrays or a ring of `ring` chunks.
class ThreeStreams {
 public:
  explicit ThreeStreams(int most_chunks) {
    for (cudaStream_t* stream : {&in, &compute, &out}) check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (auto* events : {&arrived, &computed, &left}) {
      events->resize(most_chunks);
      for (cudaEvent_t& event : *events) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
  }

  /// Runs the pipeline. Each function is called with the number of the chunk and a stream.
  template <class In, class Kernel, class Out>
  void run(int chunks, int ring, const In& copy_in, const Kernel& launch, const Out& copy_out) {
    submit(chunks, ring, copy_in, launch, copy_out);
    check(cudaStreamSynchronize(out));
  }
  template <class In, class Kernel, class Out>
  void submit(int chunks, int ring, const In& copy_in, const Kernel& launch, const Out& copy_out) {
    for (int c = 0; c < chunks; ++c) {
      if (c >= ring) check(cudaStreamWaitEvent(in, computed[c - ring], 0));
      copy_in(c, in);
      check(cudaEventRecord(arrived[c], in));
      check(cudaStreamWaitEvent(compute, arrived[c], 0));
      if (c >= ring) check(cudaStreamWaitEvent(compute, left[c - ring], 0));
      launch(c, compute);
      check(cudaEventRecord(computed[c], compute));
      check(cudaStreamWaitEvent(out, computed[c], 0));
      copy_out(c, out);
      if (c + ring < chunks) check(cudaEventRecord(left[c], out));
    }
  }

  cudaStream_t in{}, compute{}, out{};

 private:
  std::vector<cudaEvent_t> arrived, computed, left;
};

/// Four streams in turn, each with a slot on the GPU: chunk c is copied in, worked on and copied out in stream c mod 4,
/// whose order keeps the slot until the chunk has left it.
class FourStreams {
 public:
  static constexpr int count = 4;
  FourStreams() {
    for (cudaStream_t& stream : streams_) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~FourStreams() {
    for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }
  FourStreams(const FourStreams&) = delete;
  FourStreams& operator=(const FourStreams&) = delete;

  /// `enqueue(chunk, slot, stream)` enqueues both copies and the kernel.
  template <class Enqueue>
  void run(int chunks, const Enqueue& enqueue) {
    for (int c = 0; c < chunks; ++c) enqueue(c, c % count, streams_[c % count]);
    for (cudaStream_t stream : streams_) check(cudaStreamSynchronize(stream));
  }

 private:
  cudaStream_t streams_[count]{};
};

/// A pipeline for pageable arrays: host threads fill pinned rings for copies in and empty others after copies out.
/// Thread c mod T of each direction handles chunk c, and has two slots. The GPU has the whole arrays.
class Rings {
 public:
  Rings(int threads, int chunks, std::size_t in_place, std::size_t out_place)
      : threads_(threads), chunks_(chunks), in_place_(in_place), out_place_(out_place) {
    check(cudaHostAlloc(reinterpret_cast<void**>(&in_ring_), 2 * threads * in_place, cudaHostAllocDefault));
    check(cudaHostAlloc(reinterpret_cast<void**>(&out_ring_), 2 * threads * out_place, cudaHostAllocDefault));
    in_.resize(threads);
    out_.resize(threads);
    for (int t = 0; t < threads; ++t) {
      check(cudaStreamCreateWithFlags(&in_[t], cudaStreamNonBlocking));
      check(cudaStreamCreateWithFlags(&out_[t], cudaStreamNonBlocking));
    }
    for (auto* events : {&taken_, &computed_, &fetched_}) {
      events->resize(chunks);
      for (cudaEvent_t& event : *events) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
  }
  ~Rings() {
    for (auto* events : {&taken_, &computed_, &fetched_})
      for (cudaEvent_t event : *events) cudaEventDestroy(event);
    for (int t = 0; t < threads_; ++t) {
      cudaStreamDestroy(in_[t]);
      cudaStreamDestroy(out_[t]);
    }
    cudaFreeHost(in_ring_);
    cudaFreeHost(out_ring_);
  }

  /// Runs the pipeline. `fill(chunk, place)` copies to a slot on the host, `send(chunk, place, stream)` copies to the
  /// GPU and launches, `fetch(chunk, place, stream)` copies from the GPU, and `empty(chunk, place)` copies from a slot
  /// on the host.
  void run(const std::function<void(int, std::byte*)>& fill,
           const std::function<void(int, const std::byte*, cudaStream_t)>& send,
           const std::function<void(int, std::byte*, cudaStream_t)>& fetch,
           const std::function<void(int, const std::byte*)>& empty) {
    std::vector<std::atomic<bool>> sent(chunks_);
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads_; ++t) {
      workers.emplace_back([&, t] {
        for (int c = t; c < chunks_; c += threads_) {
          std::byte* place = in_ring_ + c % (2 * threads_) * in_place_;
          if (c >= 2 * threads_) check(cudaEventSynchronize(taken_[c - 2 * threads_]));
          fill(c, place);
          send(c, place, in_[t]);
          check(cudaEventRecord(taken_[c], in_[t]));
          check(cudaEventRecord(computed_[c], in_[t]));
          sent[c].store(true, std::memory_order_release);
        }
      });
      workers.emplace_back([&, t] {
        const auto finish = [&](int c) {
          check(cudaEventSynchronize(fetched_[c]));
          empty(c, out_ring_ + c % (2 * threads_) * out_place_);
        };
        for (int c = t; c < chunks_; c += threads_) {
          while (!sent[c].load(std::memory_order_acquire)) std::this_thread::yield();
          check(cudaStreamWaitEvent(out_[t], computed_[c], 0));
          fetch(c, out_ring_ + c % (2 * threads_) * out_place_, out_[t]);
          check(cudaEventRecord(fetched_[c], out_[t]));
          if (c >= threads_) finish(c - threads_);
        }
        if (t < chunks_) finish(t + (chunks_ - 1 - t) / threads_ * threads_);
      });
    }
  }

 private:
  int threads_;
  int chunks_;
  std::size_t in_place_, out_place_;
  std::byte* in_ring_ = nullptr;
  std::byte* out_ring_ = nullptr;
  std::vector<cudaStream_t> in_, out_;
  std::vector<cudaEvent_t> taken_, computed_, fetched_;  // events by chunk
};

}  // namespace by_hand
