// Batches whose kernel takes as long as their data say, on a planted node: what tests of adaptation run.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/workload/described_job.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap::adaptive_bed {

inline constexpr std::uint64_t frames = 32;  // of a batch
inline constexpr std::uint64_t pixels = 65536;

/// Frames whose first value says how long their kernel takes, in per cent of what is planned: hidden from the job, as
/// the contents of frames are. The result is the sum of each frame.
inline Job summing(Seconds planned) {
  Job job = Job{.items = frames, .name = "summing", .items_per_block = 1}
                .shaped<const std::uint32_t>("frames", Role::in, frames * pixels / 4)
                .shaped<std::uint64_t>("sums", Role::out, frames * 64)
                .kernel_time(planned)
                .host_kernel([](Chunk chunk, View<const std::uint32_t> values, View<std::uint64_t> sums) {
                  for (std::uint64_t f = chunk.first; f < chunk.end(); ++f)
                    sums[64 * f] = values[f * pixels / 4] + values[(f + 1) * pixels / 4 - 1];
                });
  job.binding.duration = [planned](const Launch& launch) {
    const auto* values = reinterpret_cast<const std::uint32_t*>(launch.operands[0]);
    double per_cent = 0;
    for (std::uint64_t f = 0; f < launch.items; ++f) per_cent += values[f * pixels / 4];
    return planned * (per_cent / 100 / frames);
  };
  return job;
}

/// Of an endless input: by batch, in per cent.
using Cost = std::function<std::uint32_t(std::uint64_t batch)>;

inline std::uint32_t drifting(std::uint64_t batch) {
  return static_cast<std::uint32_t>(100 * std::exp2(3 * std::sin(2 * 3.14159265 * static_cast<double>(batch) / 400)));
}
inline std::uint32_t with_shocks(std::uint64_t batch) { return batch / 40 % 2 == 0 ? 60 : 600; }

/// A planted node with an endless job on it, and its log.
struct Bed {
  std::shared_ptr<MeasurableDevice> device = open_virtual(planted_profile(), "virtual:planted");
  Node node = node_of(*device, planted_profile());
  Adaptive adaptive;
  std::vector<std::string> log{};

  explicit Bed(AdaptiveOptions options = {}, Seconds planned = microseconds(60))
      : adaptive(node, summing(planned), std::move(options)) {
    adaptive.log_to([this](std::string_view line) { log.emplace_back(line); });
  }

  Adaptive::Source source(std::uint64_t batches, const Cost& cost) {
    return [batches, cost](Batch& batch) {
      if (batch.number == batches) return false;
      const auto values = std::span(reinterpret_cast<std::uint32_t*>(batch.arrays[0].data()), frames * pixels / 4);
      for (std::uint64_t f = 0; f < frames; ++f) {
        values[f * pixels / 4] = cost(batch.number);
        values[(f + 1) * pixels / 4 - 1] = static_cast<std::uint32_t>(batch.number + f);
      }
      return true;
    };
  }
  /// Every result is looked at.
  Adaptive::Sink sink(const Cost& cost) {
    return [cost](const Batch& batch) {
      const auto sums = std::span(reinterpret_cast<std::uint64_t*>(batch.arrays[1].data()), frames * 64);
      for (std::uint64_t f = 0; f < frames; ++f)
        ASSERT_EQ(sums[64 * f], cost(batch.number) + batch.number + f) << "batch " << batch.number;
    };
  }
  Seconds elapsed(Policy& policy, std::uint64_t batches, const Cost& cost) {
    return adaptive.run(policy, source(batches, cost), sink(cost)).elapsed;
  }
  Seconds elapsed(std::uint64_t batches, const Cost& cost) {
    return adaptive.run(source(batches, cost), sink(cost)).elapsed;
  }
};

}  // namespace shiplap::adaptive_bed
