// Recordings that tests make record by record, with times in microseconds.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "shiplap/advise/recording.hpp"
#include "shiplap/advise/steps.hpp"

namespace shiplap {

inline Nanoseconds from_to(double start_us, double end_us) {
  return {static_cast<std::uint64_t>(std::llround(start_us * 1000)),
          static_cast<std::uint64_t>(std::llround(end_us * 1000))};
}

/// A recording that grows. All times are later than `offset`, so that none is 0 or below.
struct MadeRecording {
  Recording recording;
  std::uint64_t calls = 0;
  double offset = 1000;

  std::uint64_t call(const std::string& function, double start, double end, std::uint32_t thread = 0) {
    recording.records.emplace_back(RecordedCall{++calls, thread, from_to(offset + start, offset + end), function});
    return calls;
  }
  void kernel(std::uint64_t call, double start, double end, std::uint32_t stream = 1, std::string name = "kernel") {
    recording.records.emplace_back(
        RecordedKernel{call, stream, from_to(offset + start, offset + end), std::move(name), 12, 128, 0});
  }
  /// A copy of pageable memory to the GPU, unless it is changed.
  RecordedCopy& copy(std::uint64_t call, double start, double end, std::uint32_t stream = 1) {
    RecordedCopy copy;
    copy.call = call;
    copy.stream = stream;
    copy.time = from_to(offset + start, offset + end);
    copy.size = Bytes{4096};
    recording.records.emplace_back(copy);
    return std::get<RecordedCopy>(recording.records.back());
  }
  void order(std::uint64_t call, RecordedOrder::Kind kind, std::uint32_t stream, std::uint64_t event = 0,
             std::uint32_t gpu = RecordedOrder::unknown_gpu) {
    recording.records.emplace_back(RecordedOrder{call, kind, stream, event, gpu});
  }
  void migration(double start, double end, std::uint64_t bytes, bool to_device) {
    recording.records.emplace_back(RecordedMigration{from_to(offset + start, offset + end), Bytes{bytes}, to_device});
  }
  void kernel_on(std::uint32_t gpu, std::uint32_t stream, double called, double start, double end, std::string name) {
    recording.records.emplace_back(RecordedKernel{call("cudaLaunchKernel", called, called + 2), stream,
                                                  from_to(offset + start, offset + end), std::move(name), 12, 128,
                                                  gpu});
  }
  /// A call that launches a kernel, which runs from `start` to `end`.
  void launch(double called, double start, double end, std::uint32_t stream = 1, std::string name = "kernel") {
    kernel(call("cudaLaunchKernel", called, called + 2), start, end, stream, std::move(name));
  }
};

/// Steps of `ops` ops each, of which the one with this index is typical.
inline Steps equal_steps(std::size_t ops, std::size_t steps, std::size_t typical) {
  Steps result;
  for (std::size_t i = 0; i <= steps; ++i) result.bounds.push_back(i * ops);
  result.ops = ops;
  result.coverage = 1;
  result.typical = typical;
  return result;
}

}  // namespace shiplap
