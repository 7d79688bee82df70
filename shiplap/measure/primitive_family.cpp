#include "shiplap/measure/primitive_family.hpp"

#include <algorithm>

namespace shiplap {
namespace {

// How much figures of sound nodes differ between two runs. The values were seen in runs on H200s and rounded up; most
// other figures differ by less than 5 %. Eleven later runs stayed within them (results/h200/compare_quick_runs.txt).
/// The CPU copies, faults pages or calls the system. Its clocks, caches and other processes affect the time.
constexpr double by_cpu = 1.5;
/// A handover between engines takes 10 or 17 µs. The value differs between processes and is constant within one.
constexpr double of_handovers = 1.0;
/// A few microseconds, or the host makes the calls while the blocks move.
constexpr double of_microseconds = 0.25;
/// Kernels access host memory, and other processes use host memory and link too.
constexpr double shared_memory = 0.08;

}  // namespace

std::span<const PrimitiveFamily> primitive_families() {
  static const std::vector<PrimitiveFamily> table{
      {"copy.device", {"bytes", "copies"}, Moved::bytes},
      {"copy.pageable.", {"bytes"}, Moved::bytes, by_cpu},
      {"copy.pinned.both", {"bytes"}, Moved::bytes, of_microseconds},
      {"copy.", {"bytes"}, Moved::bytes},
      {"spread.", {"bytes", "copies", "streams"}, Moved::bytes},
      {"latency.chase.", {"bytes", "reads"}},
      {"latency.wait", {"rounds"}},
      {"latency.fault.", {"faults"}, Moved::nothing, by_cpu},
      {"latency.", {"bytes"}},
      {"numa.mapped.", {"bytes", "node", "count"}, Moved::bytes},
      {"numa.host.", {"bytes", "node", "threads"}, Moved::bytes, by_cpu},
      {"numa.copy.pageable.", {"bytes", "node"}, Moved::bytes, by_cpu},
      {"numa.", {"bytes", "node"}, Moved::bytes},
      {"batch.", {"bytes", "copies"}, Moved::bytes},
      {"graph.kernels", {"kernels"}},
      {"graph.pinned.", {"bytes", "copies"}, Moved::bytes},
      {"prefetch.", {"bytes"}, Moved::bytes, by_cpu},
      {"demand.d2h", {"bytes", "threads"}, Moved::bytes, by_cpu},
      {"demand.", {"bytes"}, Moved::bytes, by_cpu},
      {"peer.read", {"bytes", "count", "blocks"}, Moved::bytes},
      {"peer.write", {"bytes", "count", "blocks"}, Moved::bytes},
      {"peer.staged", {"bytes", "copies"}, Moved::bytes, by_cpu},
      {"peer.", {"bytes", "copies"}, Moved::bytes},
      {"all.", {"bytes", "copies", "gpus"}, Moved::bytes},
      {"host.copy", {"bytes", "threads"}, Moved::bytes, by_cpu},
      {"staged.", {"bytes", "piece", "threads"}, Moved::bytes, by_cpu},
      {"call.create_stream", {}, Moved::nothing, by_cpu},
      {"call.destroy_stream", {}, Moved::nothing, by_cpu},
      {"call.", {"bytes"}, Moved::nothing, by_cpu},
      {"timing.launched", {"bytes"}, Moved::nothing, by_cpu},
      {"timing.waited", {"bytes"}, Moved::nothing, by_cpu},
      {"timing.events", {"bytes"}, Moved::nothing, of_microseconds},
      {"burst.", {"bytes", "copies"}, Moved::bytes},
      {"duplex.", {"bytes", "copies"}, Moved::bytes},
      {"order.streams", {"bytes", "streams", "stream"}},
      {"waiting.", {"bytes", "copies", "streams"}, Moved::nothing, of_microseconds},
      {"chain.", {"bytes", "streams", "count"}, Moved::nothing, of_handovers},
      {"behind.", {"bytes", "blocks"}},
      {"blocks.kernel.managed.", {"block", "blocks", "grid"}, Moved::blocks, by_cpu},
      {"blocks.kernel.", {"block", "blocks", "grid"}, Moved::blocks, shared_memory},
      {"blocks.host.", {"block", "blocks"}, Moved::blocks, by_cpu},
      {"blocks.copies.", {"block", "blocks"}, Moved::blocks, by_cpu},
      {"blocks.batch.", {"block", "blocks"}, Moved::blocks, of_microseconds},
      {"blocks.strided.", {"block", "blocks"}, Moved::blocks, of_microseconds},
      {"blocks.both.batch", {"block", "blocks"}, Moved::blocks, of_microseconds},
      {"blocks.both.", {"block", "blocks"}, Moved::blocks, shared_memory},
      {"blocks.", {"block", "blocks"}, Moved::blocks},
      {"submit.blocks.", {"block", "blocks"}, Moved::nothing, by_cpu},
      {"submit.copy", {"copies"}, Moved::nothing, by_cpu},
      {"submit.batch", {"copies"}, Moved::nothing, by_cpu},
      {"submit.graph", {"kernels"}, Moved::nothing, by_cpu},
      {"submit.launch", {"kernels"}, Moved::nothing, by_cpu},
      {"submit.record", {"launches", "followers"}, Moved::nothing, by_cpu},
      {"submit.wait", {"launches", "followers"}, Moved::nothing, by_cpu},
      {"launch.", {"kernels"}, Moved::nothing, of_microseconds},
      {"beside.", {"grid", "kernels"}, Moved::nothing, shared_memory},
      {"moves.", {"block", "blocks", "grid", "moves", "work"}, Moved::nothing, of_microseconds},
      {"mapped.", {"bytes", "count", "blocks", "width"}, Moved::bytes, shared_memory},
      {"copies.", {"bytes", "count", "blocks", "width"}, Moved::bytes, shared_memory},
      {"managed.", {"bytes", "count", "blocks", "width"}, Moved::bytes, shared_memory},
      {"kernel.grid", {"blocks"}},
      {"kernel.stream", {"bytes"}, Moved::bytes},
      {"kernel.multiply_add", {"flops"}}};
  return table;
}

const PrimitiveFamily* family_of(std::string_view primitive) {
  const std::span<const PrimitiveFamily> all = primitive_families();
  const auto found =
      std::ranges::find_if(all, [&](const PrimitiveFamily& family) { return primitive.starts_with(family.prefix); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace shiplap
