// Command line, timing and JSON line of the CUDA programs in bench/advise, and owners of memory, streams and events.
//
// A program is called as `NAME before|after [--steps N]`. It passes one step of its main loop to Steps::run and ends
// with Steps::report. The last line that it prints is one JSON object. Its exit status is 1 when a result was wrong.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// Exits with the call's text and the error's name unless the CUDA call succeeds.
#define CHECK(call) ::advise::check((call), #call, __FILE__, __LINE__)

namespace advise {

inline void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s returned %s: %s\n", file, line, call, cudaGetErrorName(error),
               cudaGetErrorString(error));
  std::exit(1);
}

/// Runs a function once a step and takes the host's time of each step.
class Steps {
 public:
  static constexpr int warm_up = 5;

  Steps(int argc, char** argv, std::string program, int before_steps, int after_steps) : program_(std::move(program)) {
    if (argc >= 2) version_ = argv[1];
    steps_ = is_before() ? before_steps : after_steps;
    if (argc == 4 && std::strcmp(argv[2], "--steps") == 0) steps_ = std::atoi(argv[3]);
    const bool known_version = version_ == "before" || version_ == "after";
    if (!known_version || (argc != 2 && argc != 4) || steps_ < 1) {
      std::fprintf(stderr, "usage: %s before|after [--steps N], N at least 1 (default: %d before, %d after)\n",
                   program_.c_str(), before_steps, after_steps);
      std::exit(2);
    }
  }

  bool is_before() const { return version_ == "before"; }
  int last() const { return warm_up + steps_ - 1; }

  /// Calls `step(number)` for 0 to last(). The GPU is idle when the first timed step begins and when the last one ends.
  template <class Step>
  void run(const Step& step) {
    for (int number = 0; number < warm_up; ++number) step(number);
    CHECK(cudaDeviceSynchronize());
    times_.reserve(steps_ + 1);
    times_.push_back(Clock::now());
    for (int number = warm_up; number <= last(); ++number) {
      step(number);
      if (number == last()) CHECK(cudaDeviceSynchronize());
      times_.push_back(Clock::now());
    }
  }

  /// Prints the JSON line and returns the exit status.
  int report(bool right) const {
    std::vector<double> step_ms;
    for (std::size_t i = 1; i < times_.size(); ++i) step_ms.push_back(milliseconds(times_[i] - times_[i - 1]));
    std::sort(step_ms.begin(), step_ms.end());
    const double median_ms = (step_ms[(step_ms.size() - 1) / 2] + step_ms[step_ms.size() / 2]) / 2;
    std::printf(
        "{\"program\": \"%s\", \"version\": \"%s\", \"steps\": %d, \"median_ms\": %.6f, \"total_ms\": %.6f, "
        "\"right\": %s}\n",
        program_.c_str(), version_.c_str(), steps_, median_ms, milliseconds(times_.back() - times_.front()),
        right ? "true" : "false");
    return right ? 0 : 1;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

  std::string program_;
  std::string version_;
  int steps_ = 0;
  std::vector<Clock::time_point> times_;
};

struct FreeDevice {
  void operator()(float* memory) const { CHECK(cudaFree(memory)); }
};
struct FreePinned {
  void operator()(float* memory) const { CHECK(cudaFreeHost(memory)); }
};
using DeviceFloats = std::unique_ptr<float[], FreeDevice>;
using PinnedFloats = std::unique_ptr<float[], FreePinned>;

inline DeviceFloats device_floats(std::size_t count) {
  float* memory = nullptr;
  CHECK(cudaMalloc(&memory, count * sizeof(float)));
  return DeviceFloats(memory);
}
inline PinnedFloats pinned_floats(std::size_t count) {
  float* memory = nullptr;
  CHECK(cudaMallocHost(&memory, count * sizeof(float)));
  return PinnedFloats(memory);
}

/// A stream that does not synchronise with the default stream.
class Stream {
 public:
  Stream() { CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { CHECK(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An event without timing. A wait for an event that was never recorded returns at once.
class Event {
 public:
  Event() { CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { CHECK(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Random values in [-1, 1), the same in every run.
inline void fill_random(float* values, std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  std::generate_n(values, count, [&] { return distribution(generator); });
}

inline unsigned blocks(std::size_t threads, unsigned threads_per_block) {
  return static_cast<unsigned>((threads + threads_per_block - 1) / threads_per_block);
}

}  // namespace advise
