// Small jobs for tests, and limits that they stay within.
#pragma once

#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

inline constexpr Limits roomy{.device_memory = 1_GiB, .resident_threads = 0};

/// `items` items of one input and one output byte-array; kernel time proportional to items, `kernel` for the whole.
inline Job in_out_job(Bytes in, Bytes out, Seconds kernel, std::uint64_t items) {
  return {.items = items,
          .name = "in-out",
          .arrays = {{.name = "in", .role = Role::in, .size = in}, {.name = "out", .role = Role::out, .size = out}},
          .cost = {.points = {{items, Interval<Seconds>::exact(kernel)}}, .origin = "stated"},
          .any_grid = true,
          .each_byte_once = true};
}

}  // namespace shiplap
