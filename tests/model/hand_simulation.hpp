// The devices that the papers describe, played through op by op: an oracle for closed forms that shares nothing with
// them, nor with the simulator in shiplap/sim.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap::by_hand {

/// One job of n equal chunks; all times in seconds, of one chunk, one copy each way.
struct Chunks {
  std::uint32_t n = 1;
  double in = 0, kernel = 0, out = 0;
  double latency_in = 0, latency_out = 0;  // passes while an earlier copy still moves
  double gap_in = 0, gap_out = 0;          // between two copies of one engine
};

struct Device {
  unsigned copy_engines = 2;
  /// Copies to the host wait until the last kernel has ended (what the papers' forms take implicit synchronisation
  /// for).
  bool implicit_sync = false;
  bool depth_first = false;
};

/// When the last op ends. Engines serve their ops one at a time in the order of submission: breadth-first (all copies
/// in, all kernels, all copies out) or depth-first (chunk by chunk). A copy starts its latency after it is ready and a
/// gap after the one before it; an engine that changes direction pays the latency of the new one again.
inline double simulate(const Chunks& c, const Device& device) {
  enum Kind : std::uint8_t { copy_in, kernel, copy_out };
  struct Op {
    Kind kind;
    std::uint32_t chunk;
  };
  std::vector<Op> ops;
  if (device.depth_first) {
    for (std::uint32_t i = 0; i < c.n; ++i)
      for (const Kind kind : {copy_in, kernel, copy_out}) ops.push_back({kind, i});
  } else {
    for (const Kind kind : {copy_in, kernel, copy_out})
      for (std::uint32_t i = 0; i < c.n; ++i) ops.push_back({kind, i});
  }

  struct Engine {
    double free = 0;
    bool used = false;
    Kind last = copy_in;
  };
  Engine engines[2];
  double compute_free = 0;
  std::vector<double> in_end(c.n), kernel_end(c.n);
  double end = 0;
  const auto copy = [&](Engine& engine, Kind kind, double ready, double latency, double gap, double length) {
    double start = ready + latency;
    if (engine.used) start = std::max(start, engine.free + (engine.last == kind ? gap : latency));
    engine = {start + length, true, kind};
    end = std::max(end, engine.free);
    return engine.free;
  };
  for (const Op& op : ops) {
    if (op.kind == copy_in) {
      in_end[op.chunk] = copy(engines[0], copy_in, 0, c.latency_in, c.gap_in, c.in);
    } else if (op.kind == kernel) {
      compute_free = std::max(compute_free, in_end[op.chunk]) + c.kernel;
      kernel_end[op.chunk] = compute_free;
      end = std::max(end, compute_free);
    } else {
      const double ready = device.implicit_sync ? kernel_end.back() : kernel_end[op.chunk];
      copy(engines[device.copy_engines == 1 ? 0 : 1], copy_out, ready, c.latency_out, c.gap_out, c.out);
    }
  }
  return end;
}

/// Random numbers over many powers of two, the same in every run.
class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  double power_of_two(double low, double high) { return std::exp2(uniform(low, high)); }
  std::uint32_t count(double low, double high) { return static_cast<std::uint32_t>(power_of_two(low, high)); }

 private:
  std::mt19937 engine_;
};

}  // namespace shiplap::by_hand
