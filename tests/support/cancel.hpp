// Runs that are stopped at every point at which they can be: what they leave, and that they run again.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/workload/workload.hpp"

namespace shiplap::testing {

/// A workload in memory of the device or of the process, with the outputs that it must have.
struct WholeJob {
  WholeJob(Device& device, const std::string& name, MemoryKind kind) : workload(find_workload(name)) {
    for (Array& array : workload.job.arrays) {
      memory.push_back(device.allocate(Place::host(), kind, size_on_host(array)));
      arrays.push_back(memory.back().bytes());
      array.data = memory.back().data();
      array.memory = kind;
    }
    workload.job.cost = {.points = {{workload.job.items, Interval<Seconds>::exact(microseconds(20))}},
                         .origin = "stated"};
    fill();
  }
  void fill() { workload.fill(arrays); }
  std::string wrong() const { return workload.verify(arrays); }

  Workload workload;
  std::vector<Memory> memory{};
  std::vector<std::span<std::byte>> arrays{};
};

/// Stops a run of the choice when `stop` is called the first time, the second time, and so on until a run comes to its
/// end. Each piece of the last array, an output, must be complete or as it was. Returns the number of stopped runs.
inline int stop_at_every_chunk(Device& device, const std::string& name, MemoryKind kind, const Choice& choice,
                               const Limits& limits) {
  WholeJob job(device, name, kind);
  Prepared prepared = prepare(device, job.workload.job, choice, limits);
  const std::span<std::byte> output = job.arrays.back();
  const std::vector<std::byte> before(output.begin(), output.end());
  prepared.run();
  EXPECT_EQ(job.wrong(), "");
  const std::vector<std::byte> after(output.begin(), output.end());
  const std::vector<ItemRange> pieces = cut_into_chunks(job.workload.job, choice.chunks);
  const std::size_t item = output.size() / job.workload.job.items;
  for (int stopped = 0;; ++stopped) {
    job.fill();
    std::atomic<int> calls{0};
    try {
      prepared.run({.stop = [&] { return calls++ >= stopped; }});
      EXPECT_EQ(job.wrong(), "");
      return stopped;
    } catch (const Cancelled&) {
      for (const ItemRange& piece : pieces) {
        const auto part = [&](std::span<const std::byte> all) {
          return all.subspan(piece.first * item, piece.count * item);
        };
        EXPECT_TRUE(std::ranges::equal(part(output), part(before)) || std::ranges::equal(part(output), part(after)))
            << to_string(choice) << ", stopped at " << stopped << ", items from " << piece.first << " on";
      }
    }
    job.fill();
    prepared.run();
    EXPECT_EQ(job.wrong(), "") << to_string(choice) << ", after a stop at " << stopped;
  }
}

}  // namespace shiplap::testing
