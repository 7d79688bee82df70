// The table of parameters. It names every parameter of a profile once, with its key in files, its unit, its meaning,
// and the group of parameters whose errors vary together. File format, schema, prediction intervals and sensitivities
// are made from it. A new parameter needs a member in profile.hpp, a line here, and a fit that gives it a value.
//
// `describe(visitor, object)` calls the visitor for each member of an object of the profile, in the order of files:
//   fact(name, member, meaning)                     a text, number, flag or enumerator
//   value(info, member, quantity)                   a parameter that is always known
//   optional_value(info, member, quantity)          a parameter that may be absent with a reason (Profile::missing)
//   optional_fact(name, member, least, meaning)     a count that may be absent with a reason
//   rows(info, member, tag)                         a list of rows in increasing order of their key
//   part(name, member, meaning)                     an object
//   optional_part(name, member, meaning)            an object that may be absent with a reason
//   lists(name, member, tag, meaning)               lists of rows, each under a name that is not in the table
// The meaning of a part or a count that may be absent can include what the simulator assumes then (AbsentMeaning).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "shiplap/core/like.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/profile/quantity.hpp"

namespace shiplap {

/// Groups of parameters whose errors vary together because they were measured together. No simulated time depends on
/// parameters of the group `none`, except on slowdowns concurrent with movers, whose errors are left out.
enum class ParameterGroup : std::uint8_t { rates, gaps, latencies, submission, none };
/// The groups that a prediction interval is made of.
inline constexpr std::array parameter_groups{ParameterGroup::rates, ParameterGroup::gaps, ParameterGroup::latencies,
                                             ParameterGroup::submission};

/// Costs, apart from the kernel's own time, that a prediction depends on. The elasticity of a prediction is given for
/// each cost: the relative change of the time per relative change of the cost.
enum class CostTerm : std::uint8_t {
  h2d_rate,        ///< time per byte of H2D copies, alone and in duplex
  d2h_rate,        ///< time per byte of D2H copies, alone and in duplex
  zero_copy_rate,  ///< time per byte of zero-copy kernels, and of copies concurrent with them
  gaps,
  latencies,
  submission,
  host,        ///< copies and faults by host threads, pageable copies, prefetches
  blocks,      ///< moves of scattered blocks
  both_rates,  ///< time per byte that both directions share: half counts as `h2d_rate` and half as `d2h_rate`
  none,        ///< no elasticity is given for it
};
/// The costs for which elasticities are given.
inline constexpr std::array cost_terms{CostTerm::h2d_rate, CostTerm::d2h_rate,  CostTerm::zero_copy_rate,
                                       CostTerm::gaps,     CostTerm::latencies, CostTerm::submission,
                                       CostTerm::host,     CostTerm::blocks};

/// The group and the cost that a parameter belongs to.
struct Tag {
  ParameterGroup group = ParameterGroup::none;
  CostTerm term = CostTerm::none;
};
/// A parameter in the table.
struct ParameterInfo {
  std::string_view name;     ///< key in files
  Tag tag;                   ///< group and cost
  std::string_view meaning;  ///< one phrase, for the schema
  /// The value that the simulator assumes when the parameter is absent. Empty: it refuses ops that need the parameter.
  std::string_view when_absent{};
};
/// The meaning of a part or count that may be absent.
struct AbsentMeaning {
  std::string_view meaning;      ///< one phrase, for the schema
  std::string_view when_absent;  ///< the value that the simulator assumes when it is absent
  constexpr operator std::string_view() const { return meaning; }
};
/// A list of rows in the table.
struct RowsInfo {
  std::string_view name;     ///< key in files
  std::string_view meaning;  ///< one phrase, for the schema
  bool may_be_empty = true;  ///< whether it may be empty with a reason (Profile::missing)
};

namespace tags {
inline constexpr Tag gaps{ParameterGroup::gaps, CostTerm::gaps};
inline constexpr Tag latencies{ParameterGroup::latencies, CostTerm::latencies};
inline constexpr Tag submission{ParameterGroup::submission, CostTerm::submission};
inline constexpr Tag zero_copy{ParameterGroup::rates, CostTerm::zero_copy_rate};
inline constexpr Tag host{ParameterGroup::rates, CostTerm::host};
inline constexpr Tag blocks{ParameterGroup::rates, CostTerm::blocks};
inline constexpr Tag within_gpus{ParameterGroup::rates, CostTerm::none};
inline constexpr Tag none{};
}  // namespace tags

// --- rows: each has a key, by which the rows of a list increase, and parameters

template <class V, Like<CopyCost> Row>
void describe(V& v, Row& row, Tag) {
  v.fact("size", row.size, "Size of a copy in bytes.");
  v.value({"latency_overhead", tags::latencies,
           "L+o: time from ready to the first byte, measured by events; it overlaps with earlier transfers."},
          row.latency_overhead, time_quantity);
  v.value({"gap", tags::gaps, "g: time of the copy engine that each further copy takes in addition to its bytes."},
          row.gap, time_quantity);
}
template <class V, Like<GapAt> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("size", row.size, "Size of a copy in bytes.");
  v.value({"gap", tag, "Additional time of a copy of this size."}, row.gap, time_quantity);
}
template <class V, Like<TimeAt> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("size", row.size, "Number of bytes.");
  v.value({"time", tag, "Time for these bytes."}, row.time, time_quantity);
}
template <class V, Like<RateOfThreads> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("threads", row.threads, "Number of host threads.", 1);
  v.value({"rate", tag, "Rate of all threads together."}, row.rate, bandwidth_quantity);
}
template <class V, Like<RateThroughRings> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("threads", row.threads, "Number of host threads.", 1);
  v.fact("rings", row.rings, "Bytes of all rings together.");
  v.value({"rate", tag, "Rate of all threads together."}, row.rate, bandwidth_quantity);
}
template <class V, Like<ZeroCopyRate> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("in_flight", row.in_flight, "Bytes in flight: threads that run at the same time, times the bytes per access.");
  v.value({"rate", tag, "Rate of the kernel."}, row.rate, bandwidth_quantity);
}
template <class V, Like<ZeroCopyBeside> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("in_flight", row.in_flight, "Bytes in flight: threads that run at the same time, times the bytes per access.");
  v.value({"kernel", tag, "Rate of the kernel while a copy moves."}, row.kernel, bandwidth_quantity);
  v.value({"copy", tag, "Rate of the copy while the kernel runs."}, row.copy, bandwidth_quantity);
}

template <class V, Like<BlockTime> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("grid", row.grid, "Thread blocks of the mover's kernel; 0 for movers that are no kernel.");
  v.fact("block", row.block, "Size of a block in bytes.");
  v.fact("blocks", row.blocks, "Number of blocks.", 1);
  v.value({"time", tag, "Time to move all of them in one op."}, row.time, time_quantity);
  v.value({"call", tags::submission, "Host time of the call or calls."}, row.call, time_quantity);
}
template <class V, Like<MoveDelay> Part>
void describe(V& v, Part& added, Tag tag) {
  v.value({"per_move", tag, "For each call, without the wait for SMs."}, added.per_move, time_quantity);
  v.value({"per_block", tag, "For each block of the op."}, added.per_block, time_quantity);
  v.value({"per_mib", tag, "For each MiB of the op."}, added.per_mib, time_quantity);
}
template <class V, Like<AddedToMover> Part>
void describe(V& v, Part& added, Tag tag) {
  v.value({"wait", tag,
           "Time until an op of the mover has SMs, in times of a thread block of the kernel concurrent with it."},
          added.wait, fraction_quantity);
  v.part("compute", added.compute, "Added to an op of the mover concurrent with a kernel that only computes.", tag);
  v.part("memory", added.memory,
         "Added to an op of the mover concurrent with a kernel that is bound by the device memory.", tag);
}
template <class V, Like<MutualSlowdown> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("grid", row.grid, "Thread blocks of the mover's kernel; 0: copies by the copy engine.");
  v.value({"compute", tag, "Added time of a kernel that only computes, as a fraction of its time alone."}, row.compute,
          fraction_quantity);
  v.value({"memory", tag,
           "Added time of a kernel that is bound by the device memory, as a fraction of its time alone; for copies, at "
           "the rate of large copies."},
          row.memory, fraction_quantity);
  v.optional_part("added", row.added,
                  "How much longer the mover takes concurrent with a kernel; null when it was not measured.", tag);
}

// --- parts

template <class V, Like<HandoverModel> Part>
void describe(V& v, Part& model) {
  const auto value = [&](std::string_view name, auto& interval, std::string_view meaning) {
    v.value({name, tags::latencies, meaning}, interval, time_quantity);
  };
  value("h2d_same_stream", model.h2d_same_stream,
        "Between an H2D copy and a kernel, where the last op that the engine of the waiting op served was of its "
        "stream.");
  value("h2d_other_stream", model.h2d_other_stream,
        "Between an H2D copy and a kernel, where the engine of the waiting op served another stream last.");
  value(
      "d2h_same_stream", model.d2h_same_stream,
      "Between a kernel and a D2H copy, where the last op that the engine of the waiting op served was of its stream.");
  value("d2h_other_stream", model.d2h_other_stream,
        "Between a kernel and a D2H copy, where the engine of the waiting op served another stream last.");
}
template <class V, Like<GpuModel> Part>
void describe(V& v, Part& gpu) {
  v.fact("name", gpu.name, "Name of the GPU that the driver reports.");
  v.fact("memory", gpu.memory, "Device memory in bytes.");
  v.fact("sm_count", gpu.sm_count, "Number of SMs.", 1);
  v.fact("copy_engines", gpu.copy_engines,
         "1: both directions of copy share an engine; 2: each direction has its own, however many the driver reports.",
         1, 2);
  v.fact("engine_order", gpu.engine_order,
         "Which copy a copy engine serves next. submission: the copy that was submitted first, which blocks the engine "
         "until "
         "it is ready. readiness: the copy that became ready first.");
  v.fact("implicit_sync", gpu.implicit_sync,
         "Whether a copy from device to host is held until the last kernel submitted before it has started all its "
         "blocks, or has ended.");
  v.fact("concurrent_kernels", gpu.concurrent_kernels, "Whether kernels of several streams run at the same time.");
  v.optional_value({"launch_latency", tags::latencies, "Duration of an empty kernel between two events.", "0"},
                   gpu.launch_latency, time_quantity);
  v.optional_value(
      {"kernel_gap", tags::gaps, "Time from the end of a kernel to the start of the next one that waited for it.", "0"},
      gpu.kernel_gap, time_quantity);
  v.optional_part(
      "handovers", gpu.handovers,
      AbsentMeaning{"Times from the end of a copy of the named direction until a kernel that waits for it is ready, or "
                    "the other way round.",
                    "0"});
  v.optional_value({"resident_threads", tags::none, "Threads that the GPU holds at once."}, gpu.resident_threads,
                   threads_quantity);
  v.optional_value({"memory_bandwidth", tags::none,
                    "Rate of a kernel that reads and writes device memory. Reads and writes both count."},
                   gpu.memory_bandwidth, bandwidth_quantity);
  v.optional_value(
      {"copy_bandwidth", tags::within_gpus, "Rate of large copies inside device memory. Each copied byte counts once."},
      gpu.copy_bandwidth, bandwidth_quantity);
  v.optional_value(
      {"flop_rate", tags::none,
       "fp32 rate of a kernel of fused multiply-adds in registers. A fused multiply-add counts as two operations."},
      gpu.flop_rate, flop_rate_quantity);
  v.optional_fact(
      "stream_groups", gpu.stream_groups, 1,
      AbsentMeaning{
          "Number n of groups of streams. Stream i is in group i mod n. A copy engine serves one group until none of "
          "its copies is ready, and then the next group.",
          "1"});
}

/// `rate` is the cost to which the time per byte of the copies belongs.
template <class V, Like<DuplexModel> Part>
void describe(V& v, Part& duplex, CostTerm rate) {
  v.value({"per_byte", {ParameterGroup::rates, rate}, "G: time per byte of large copies, without the gap."},
          duplex.per_byte, per_byte_quantity);
  v.rows({"gaps",
          "g while the opposite direction is busy, interpolated like costs. When empty, the gap of one direction alone "
          "holds."},
         duplex.gaps, tags::gaps);
}
template <class V, Like<DirectionModel> Part>
void describe(V& v, Part& direction, CostTerm rate) {
  v.value({"per_byte", {ParameterGroup::rates, rate}, "G: time per byte of large copies."}, direction.per_byte,
          per_byte_quantity);
  v.rows({"costs",
          "Fixed costs of a copy. They are linear in the size between two rows, and constant outside the rows.", false},
         direction.costs, tags::gaps);
  v.optional_part("duplex", direction.duplex,
                  AbsentMeaning{"Costs of this direction while the opposite direction is busy all the time.",
                                "the costs of one direction alone"},
                  rate);
  v.rows({"batched", "g after a copy of the same batch (cudaMemcpyBatchAsync), interpolated like costs."},
         direction.batched, tags::gaps);
}
template <class V, Like<Slowdown> Part>
void describe(V& v, Part& slowdown, CostTerm rate) {
  v.value({"gap", tags::gaps, "Time added to g."}, slowdown.gap, time_quantity);
  v.value({"per_byte", {ParameterGroup::rates, rate}, "Time per byte added to G."}, slowdown.per_byte,
          added_per_byte_quantity);
}
template <class V, Like<WaitingStreams> Part>
void describe(V& v, Part& model) {
  v.part("h2d", model.h2d, "Copies to the GPU alone.", CostTerm::h2d_rate);
  v.part("d2h", model.d2h, "Copies to the host alone.", CostTerm::d2h_rate);
  v.part("duplex", model.duplex, "Each direction in duplex.", CostTerm::both_rates);
}
template <class V, Like<ZeroCopyModel> Part>
void describe(V& v, Part& model) {
  v.rows({"read", "Kernels that read host memory."}, model.read, tags::zero_copy);
  v.rows({"write", "Kernels that write host memory."}, model.write, tags::zero_copy);
  v.rows({"both", "Kernels that read as much host memory as they write: rate in each direction."}, model.both,
         tags::zero_copy);
  v.rows({"read_beside_d2h", "Kernels that read host memory concurrent with copies to the host."},
         model.read_beside_d2h, tags::zero_copy);
  v.rows({"write_beside_h2d", "Kernels that write host memory concurrent with copies to the GPU."},
         model.write_beside_h2d, tags::zero_copy);
}
template <class V, Like<PageableModel> Part>
void describe(V& v, Part& model) {
  v.rows({"h2d", "A copy to the GPU."}, model.h2d, tags::host);
  v.rows({"d2h", "A copy to the host."}, model.d2h, tags::host);
  v.rows(
      {"both", "Time until two copies in opposite directions have ended, which two threads submit at the same time."},
      model.both, tags::host);
}
template <class V, Like<ManagedModel> Part>
void describe(V& v, Part& model) {
  v.rows({"prefetch_h2d", "Pages moved to the GPU ahead of their use."}, model.prefetch_h2d, tags::host);
  v.rows({"prefetch_d2h", "Pages moved to the host."}, model.prefetch_d2h, tags::host);
  v.rows({"demand_h2d", "A kernel that touches every page."}, model.demand_h2d, tags::host);
  v.rows({"demand_d2h", "Host threads that touch every page."}, model.demand_d2h, tags::host);
}
template <class V, Like<BlockModel> Part>
void describe(V& v, Part& model) {
  v.lists("movers", model.movers, tags::blocks,
          "Times by mover, kind of the pool's memory and direction, as in \"batch pinned h2d\". \"host\" is one host "
          "thread that gathers or scatters, without the link.");
  v.rows({"beside_gather", "Movers that read the pool, and kernels concurrent with them."}, model.beside_gather,
         tags::none);
  v.rows({"beside_scatter", "Movers that write the pool, and kernels concurrent with them."}, model.beside_scatter,
         tags::none);
}
template <class V, Like<LinkModel> Part>
void describe(V& v, Part& link) {
  v.fact("numa_node", link.numa_node, "Number of the host NUMA node.");
  v.fact("gpu", link.gpu, "Index into gpus.");
  v.part("h2d", link.h2d,
         "Copies from host to device: n copies of k bytes in all take L+o + k*G + (n - 1)*g (van Werkhoven et al. "
         "2014, section V).",
         CostTerm::h2d_rate);
  v.part("d2h", link.d2h, "Copies from device to host: n copies of k bytes in all take L+o + k*G + (n - 1)*g.",
         CostTerm::d2h_rate);
  v.optional_part(
      "waiting_streams", link.waiting_streams,
      AbsentMeaning{"How much slower copies are while kernels of two or more streams wait for other engines.", "0"});
  v.optional_part("zero_copy", link.zero_copy,
                  "Rates of kernels that do nothing but access pinned host memory, alone and concurrent with copies.");
  v.optional_part("pageable", link.pageable, "Copies of pageable memory. The driver stages them while the host waits.");
  v.optional_part("managed", link.managed, "Managed memory.");
  v.optional_part("blocks", link.blocks, "Scattered blocks of a pool in host memory, moved in one op.");
}
template <class V, Like<SharedRates> Part>
void describe(V& v, Part& shared) {
  v.fact("gpus", shared.gpus, "Indices of at least two GPUs, increasing.");
  v.value({"h2d", {ParameterGroup::rates, CostTerm::h2d_rate}, "H2D copies of all of them together."}, shared.h2d,
          bandwidth_quantity);
  v.value({"d2h", {ParameterGroup::rates, CostTerm::d2h_rate}, "D2H copies of all of them together."}, shared.d2h,
          bandwidth_quantity);
  v.value({"both", {ParameterGroup::rates, CostTerm::both_rates}, "Copies in both directions of all of them together."},
          shared.both, bandwidth_quantity);
}

template <class V, Like<PeerModel> Part>
void describe(V& v, Part& peer) {
  v.fact("from", peer.from, "Index into gpus.");
  v.fact("to", peer.to, "Index into gpus.");
  v.rows({"direct", "Direct copies between GPUs that address each other's memory."}, peer.direct, tags::within_gpus);
  v.rows({"staged", "Copies through the host."}, peer.staged, tags::within_gpus);
}
template <class V, Like<HostModel> Part>
void describe(V& v, Part& host) {
  v.rows({"copy", "memcpy between pageable and pinned memory that is in no cache."}, host.copy, tags::host);
  v.rows(
      {"staging",
       "memcpy between pageable memory and pinned rings while copy engines use the rings, by threads, then by rings."},
      host.staging, tags::host);
  v.rows({"written",
          "Additional time of a copy to the GPU from pinned memory that host threads have just written. It is linear "
          "in the size between two rows, proportional to the size below the first row, and constant beyond the last "
          "row. When empty, there is no additional time."},
         host.written, tags::host);
  v.lists("calls", host.calls, tags::host,
          "Times of calls by name: pin, unpin, flush, \"allocate KIND\" and \"release KIND\" for each kind of memory, "
          "\"create stream\" and \"destroy stream\".");
}
template <class V, Like<SubmissionModel> Part>
void describe(V& v, Part& submission) {
  v.optional_value({"copy", tags::submission, "An asynchronous copy.", "0"}, submission.copy, time_quantity);
  v.optional_value({"launch", tags::submission, "A kernel launch.", "0"}, submission.launch, time_quantity);
  v.optional_value({"event_record", tags::submission, "Recording an event in a stream.", "0"}, submission.event_record,
                   time_quantity);
  v.optional_value({"event_wait", tags::submission, "Making a stream wait for an event.", "0"}, submission.event_wait,
                   time_quantity);
  v.optional_value({"batched_copy", tags::submission, "A further copy of a batch (cudaMemcpyBatchAsync)."},
                   submission.batched_copy, time_quantity);
  v.optional_value({"graph_launch", tags::submission, "Launching a graph, without the time for its ops."},
                   submission.graph_launch, time_quantity);
  v.optional_value({"graph_op", tags::submission, "Launching a graph: additional time for each of its ops."},
                   submission.graph_op, time_quantity);
}

// --- all parameters

/// The visitor behind `for_each_parameter`.
template <class Visit>
class ParameterVisitor {
 public:
  explicit ParameterVisitor(const Visit& visit) : visit_(visit) {}

  template <class... Anything>
  void fact(Anything&&...) const {}
  template <class... Anything>
  void optional_fact(Anything&&...) const {}
  template <class T, class Q>
  void value(const ParameterInfo& info, T& interval, const Q&) const {
    visit_(info, interval);
  }
  template <class T, class Q>
  void optional_value(const ParameterInfo& info, T& parameter, const Q&) const {
    if (parameter) visit_(info, *parameter);
  }
  template <class Rows>
  void rows(const RowsInfo&, Rows& rows, Tag tag) const {
    for (auto& row : rows) describe(*this, row, tag);
  }
  template <class Part, class... More>
  void part(std::string_view, Part& part, std::string_view, More... more) const {
    describe(*this, part, more...);
  }
  template <class Part, class... More>
  void optional_part(std::string_view, Part& part, std::string_view, More... more) const {
    if (part) describe(*this, *part, more...);
  }
  template <class Lists>
  void lists(std::string_view, Lists& lists, Tag tag, std::string_view) const {
    for (auto& [name, list] : lists)
      for (auto& row : list) describe(*this, row, tag);
  }

 private:
  const Visit& visit_;
};

/// Calls `visit(info, interval)` for every parameter of the profile that has a value, also for those in rows of lists.
template <Like<Profile> P, class Visit>
void for_each_parameter(P& profile, const Visit& visit) {
  const ParameterVisitor<Visit> visitor(visit);
  for (auto& gpu : profile.gpus) describe(visitor, gpu);
  for (auto& link : profile.links) describe(visitor, link);
  for (auto& peer : profile.peers) describe(visitor, peer);
  for (auto& shared : profile.shared) describe(visitor, shared);
  if (profile.host) describe(visitor, *profile.host);
  describe(visitor, profile.submission);
}

}  // namespace shiplap
