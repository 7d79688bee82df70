// The table of parameters: every parameter of a profile once, with its key in files, its unit, what it is uncertain
// together with, and what it means. Format, schema, ranges and sensitivities follow from it. To add a parameter: a
// member in profile.hpp, its line here, and the fit that gives it a value.
//
// `describe(visitor, object)` calls the visitor for each member of an object of the profile, in the order of files:
//   fact(name, member, meaning)                     a text, number, flag or word of an enumeration
//   value(info, member, quantity)                   a parameter that is always known
//   optional_value(info, member, quantity)          one that may be absent with a reason (Profile::missing)
//   optional_fact(name, member, least, meaning)     a count that may be absent with a reason
//   rows(info, member, tag)                         a list of rows that increase by their key
//   part(name, member, meaning)                     an object
//   optional_part(name, member, meaning)            an object that may be absent with a reason
//   lists(name, member, tag, meaning)               lists of rows by names that are free
// The meaning of a part or a count that may be absent also says what the simulator assumes then (AbsentMeaning).
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "shiplap/profile/profile.hpp"
#include "shiplap/profile/quantity.hpp"

namespace shiplap {

/// Parameters that are uncertain together because they were measured together. `none`: no time of a simulation depends
/// on it.
enum class ParameterGroup : std::uint8_t { rates, gaps, latencies, submission, none };
/// Those that ranges are made of.
inline constexpr std::array parameter_groups{ParameterGroup::rates, ParameterGroup::gaps, ParameterGroup::latencies,
                                             ParameterGroup::submission};

/// What a prediction depends on besides the kernel's own time, for elasticities.
enum class CostTerm : std::uint8_t {
  h2d_rate,        ///< time per byte of copies to the GPU, alone and beside the other direction
  d2h_rate,        ///< time per byte of copies to the host, alone and beside the other direction
  zero_copy_rate,  ///< of kernels that access host memory, and of the copies beside them
  gaps,
  latencies,
  submission,
  host,        ///< copies and faults by host threads, pageable copies, prefetches
  both_rates,  ///< what both directions of copies share: half of it belongs to `h2d_rate` and half to `d2h_rate`
  none,        ///< of nothing that elasticities are given of
};
/// Those that elasticities are given of.
inline constexpr std::array cost_terms{CostTerm::h2d_rate, CostTerm::d2h_rate,  CostTerm::zero_copy_rate,
                                       CostTerm::gaps,     CostTerm::latencies, CostTerm::submission,
                                       CostTerm::host};

/// What a parameter belongs to.
struct Tag {
  ParameterGroup group = ParameterGroup::none;
  CostTerm term = CostTerm::none;
};
/// A parameter.
struct ParameterInfo {
  std::string_view name;     ///< its key in files
  Tag tag;                   ///< what it belongs to
  std::string_view meaning;  ///< one phrase, for the schema
  /// What the simulator assumes when the parameter is absent; empty: it refuses what needs the parameter.
  std::string_view when_absent{};
};
/// The meaning of a part or a count that may be absent.
struct AbsentMeaning {
  std::string_view meaning;      ///< one phrase, for the schema
  std::string_view when_absent;  ///< what the simulator assumes then
  constexpr operator std::string_view() const { return meaning; }
};
/// A list of rows.
struct RowsInfo {
  std::string_view name;     ///< its key in files
  std::string_view meaning;  ///< one phrase, for the schema
  bool may_be_empty = true;  ///< with a reason (Profile::missing); else there is at least one row
};

/// T, or T that may not be changed.
template <class T, class Known>
concept Like = std::same_as<std::remove_const_t<T>, Known>;

namespace tags {
inline constexpr Tag gaps{ParameterGroup::gaps, CostTerm::gaps};
inline constexpr Tag latencies{ParameterGroup::latencies, CostTerm::latencies};
inline constexpr Tag submission{ParameterGroup::submission, CostTerm::submission};
inline constexpr Tag zero_copy{ParameterGroup::rates, CostTerm::zero_copy_rate};
inline constexpr Tag host{ParameterGroup::rates, CostTerm::host};
inline constexpr Tag within_gpus{ParameterGroup::rates, CostTerm::none};
inline constexpr Tag none{};
}  // namespace tags

// --- rows: a key, by which they increase, and parameters
// --------------------------------------------------------------

template <class V, Like<CopyCost> Row>
void describe(V& v, Row& row, Tag) {
  v.fact("size", row.size, "Size of a copy in bytes.");
  v.value({"latency_overhead", tags::latencies,
           "L+o: from ready to the first byte, timed by events; overlaps an earlier transfer."},
          row.latency_overhead, time_quantity);
  v.value({"gap", tags::gaps, "g: time of the copy engine that a further copy costs beyond its bytes."}, row.gap,
          time_quantity);
}
template <class V, Like<GapAt> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("size", row.size, "Size of a copy in bytes.");
  v.value({"gap", tag, "What each such copy takes longer."}, row.gap, time_quantity);
}
template <class V, Like<TimeAt> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("size", row.size, "Number of bytes.");
  v.value({"time", tag, "How long they take."}, row.time, time_quantity);
}
template <class V, Like<RateOfThreads> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("threads", row.threads, "Number of host threads.", 1);
  v.value({"rate", tag, "Rate of all of them together."}, row.rate, bandwidth_quantity);
}
template <class V, Like<RateThroughRings> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("threads", row.threads, "Number of host threads.", 1);
  v.fact("rings", row.rings, "Bytes of all rings together.");
  v.value({"rate", tag, "Rate of all threads together."}, row.rate, bandwidth_quantity);
}
template <class V, Like<MappedRate> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("in_flight", row.in_flight,
         "Bytes under way at once: threads that run at once, times the width of an access.");
  v.value({"rate", tag, "Rate of the kernel."}, row.rate, bandwidth_quantity);
}
template <class V, Like<MappedBeside> Row>
void describe(V& v, Row& row, Tag tag) {
  v.fact("in_flight", row.in_flight,
         "Bytes under way at once: threads that run at once, times the width of an access.");
  v.value({"kernel", tag, "Rate of the kernel while a copy moves."}, row.kernel, bandwidth_quantity);
  v.value({"copy", tag, "Rate of a copy meanwhile."}, row.copy, bandwidth_quantity);
}

// --- parts
// ------------------------------------------------------------------------------------------------------------

template <class V, Like<Handover> Part>
void describe(V& v, Part& handover) {
  v.value({"idle", tags::latencies, "While no copies move the other way."}, handover.idle, time_quantity);
  v.value({"busy", tags::latencies, "While copies move the other way; between kernels, while any copies move."},
          handover.busy, time_quantity);
}
template <class V, Like<HandoverModel> Part>
void describe(V& v, Part& model) {
  constexpr std::string_view meaning =
      "From the end of an op until one that waits for it is ready. Same queue: the engine of the waiting op served "
      "that "
      "op's queue last.";
  for (const auto& [name, member] : handover_names) v.part(name, model.*member, meaning);
}
template <class V, Like<EventGap> Part>
void describe(V& v, Part& gap) {
  v.value({"idle", tags::gaps, "While no copies move."}, gap.idle, time_quantity);
  v.value({"busy", tags::gaps, "While copies move."}, gap.busy, time_quantity);
}
template <class V, Like<GpuModel> Part>
void describe(V& v, Part& gpu) {
  v.fact("name", gpu.name, "Name of the GPU as the driver has it.");
  v.fact("memory", gpu.memory, "Device memory in bytes.");
  v.fact("multiprocessors", gpu.multiprocessors, "Number of multiprocessors.", 1);
  v.fact("copy_engines", gpu.copy_engines,
         "1: both directions of copy share an engine; 2: each direction has its own, however many the driver reports.",
         1, 2);
  v.fact(
      "engine_order", gpu.engine_order,
      "What a copy engine takes next: the copy that was submitted first, which blocks the engine until it is ready, or "
      "the one that became ready first.");
  v.fact(
      "implicit_sync", gpu.implicit_sync,
      "Whether a device-to-host copy is held until the last kernel submitted before it has started all its blocks, or "
      "has ended.");
  v.fact("concurrent_kernels", gpu.concurrent_kernels, "Whether kernels of several queues run at the same time.");
  v.optional_value({"launch_latency", tags::latencies, "Duration of an empty kernel between two events.", "0"},
                   gpu.launch_latency, time_quantity);
  v.optional_value(
      {"kernel_gap", tags::gaps, "Time from the end of a kernel to the start of the next one that waited for it.", "0"},
      gpu.kernel_gap, time_quantity);
  v.optional_part(
      "handovers", gpu.handovers,
      AbsentMeaning{
          "Between a copy of the direction named and a kernel, in either order, and between kernels of different "
          "queues.",
          "0"});
  v.optional_value({"resident_threads", tags::none, "Threads that the GPU holds at once."}, gpu.resident_threads,
                   threads_quantity);
  v.optional_value(
      {"memory_bandwidth", tags::none, "Reached by a kernel that reads and writes device memory, both counted."},
      gpu.memory_bandwidth, bandwidth_quantity);
  v.optional_value(
      {"copy_bandwidth", tags::within_gpus, "Of large copies inside device memory, each byte counted once."},
      gpu.copy_bandwidth, bandwidth_quantity);
  v.optional_value({"flop_rate", tags::none, "fp32 rate reached by fused multiply-adds in registers."}, gpu.flop_rate,
                   flop_rate_quantity);
  v.optional_part("event_gap", gpu.event_gap,
                  AbsentMeaning{"What events between two kernels of a queue add to kernel_gap.", "0"});
  v.optional_fact(
      "queue_groups", gpu.queue_groups, 1,
      AbsentMeaning{
          "A copy engine serves queues in so many groups, every n-th queue in the same one: one group until none "
          "of its copies is ready, then the next.",
          "1"});
}

/// Copies of one direction: `rate` is the term of their time per byte.
template <class V, Like<DuplexModel> Part>
void describe(V& v, Part& duplex, CostTerm rate) {
  v.value({"per_byte", {ParameterGroup::rates, rate}, "G of large copies without the gap."}, duplex.per_byte,
          per_byte_quantity);
  v.rows({"gaps", "g while the opposite direction is busy, read like costs; empty: the one-way gap."}, duplex.gaps,
         tags::gaps);
}
template <class V, Like<DirectionModel> Part>
void describe(V& v, Part& direction, CostTerm rate) {
  v.value({"per_byte", {ParameterGroup::rates, rate}, "G of large copies."}, direction.per_byte, per_byte_quantity);
  v.rows({"costs", "Fixed costs of a copy; linear in the size between two rows, constant outside.", false},
         direction.costs, tags::gaps);
  v.optional_part("duplex", direction.duplex,
                  AbsentMeaning{"The same direction while the opposite one is busy all the time.",
                                "the costs of one direction alone"},
                  rate);
  v.rows({"batched", "g behind a copy of the same batch (cudaMemcpyBatchAsync), read like costs."}, direction.batched,
         tags::gaps);
}
template <class V, Like<Slowdown> Part>
void describe(V& v, Part& slowdown, CostTerm rate) {
  v.value({"gap", tags::gaps, "Added to g."}, slowdown.gap, time_quantity);
  v.value({"per_byte", {ParameterGroup::rates, rate}, "Added to G."}, slowdown.per_byte, more_per_byte_quantity);
}
template <class V, Like<WaitingQueues> Part>
void describe(V& v, Part& model) {
  v.part("h2d", model.h2d, "Copies to the GPU alone.", CostTerm::h2d_rate);
  v.part("d2h", model.d2h, "Copies to the host alone.", CostTerm::d2h_rate);
  v.part("duplex", model.duplex, "Each direction, while copies move both ways.", CostTerm::both_rates);
}
template <class V, Like<ZeroCopyModel> Part>
void describe(V& v, Part& model) {
  constexpr bool may_be_empty = false;
  v.rows({"read", "Kernels that read host memory.", may_be_empty}, model.read, tags::zero_copy);
  v.rows({"write", "Kernels that write host memory.", may_be_empty}, model.write, tags::zero_copy);
  v.rows({"both", "Each way, of kernels that read as much as they write.", may_be_empty}, model.both, tags::zero_copy);
  v.rows({"read_beside_d2h", "Kernels that read host memory beside copies to the host.", may_be_empty},
         model.read_beside_d2h, tags::zero_copy);
  v.rows({"write_beside_h2d", "Kernels that write host memory beside copies to the GPU.", may_be_empty},
         model.write_beside_h2d, tags::zero_copy);
}
template <class V, Like<PageableModel> Part>
void describe(V& v, Part& model) {
  v.rows({"h2d", "A copy to the GPU."}, model.h2d, tags::host);
  v.rows({"d2h", "A copy to the host."}, model.d2h, tags::host);
  v.rows({"both", "Until a copy each way, submitted by two threads at once, have both ended."}, model.both, tags::host);
}
template <class V, Like<ManagedModel> Part>
void describe(V& v, Part& model) {
  v.rows({"prefetch_h2d", "Pages moved to the GPU ahead of their use."}, model.prefetch_h2d, tags::host);
  v.rows({"prefetch_d2h", "Pages moved to the host."}, model.prefetch_d2h, tags::host);
  v.rows({"demand_h2d", "A kernel that touches every page."}, model.demand_h2d, tags::host);
  v.rows({"demand_d2h", "Host threads that touch every page."}, model.demand_d2h, tags::host);
}
template <class V, Like<LinkModel> Part>
void describe(V& v, Part& link) {
  v.fact("numa_node", link.numa_node, "Number of the host NUMA node.");
  v.fact("gpu", link.gpu, "Index into gpus.");
  v.part(
      "h2d", link.h2d,
      "Copies from host to device: n copies of k bytes in all take L+o + k*G + (n - 1)*g (van Werkhoven et al. 2014, "
      "section V).",
      CostTerm::h2d_rate);
  v.part("d2h", link.d2h, "Copies from device to host, likewise.", CostTerm::d2h_rate);
  v.optional_part(
      "waiting_queues", link.waiting_queues,
      AbsentMeaning{"How much slower copies are while kernels of two or more queues wait for other engines.", "0"});
  v.optional_part("zero_copy", link.zero_copy,
                  "What kernels that only move bytes of page-locked host memory reach, alone and beside copies.");
  v.optional_part("pageable", link.pageable,
                  "Copies of pageable memory, which the driver stages while the host waits.");
  v.optional_part("managed", link.managed, "Managed memory.");
}
template <class V, Like<PeerModel> Part>
void describe(V& v, Part& peer) {
  v.fact("from", peer.from, "Index into gpus.");
  v.fact("to", peer.to, "Index into gpus.");
  v.rows({"direct", "Copies where the GPUs address each other's memory."}, peer.direct, tags::within_gpus);
  v.rows({"staged", "Copies through the host."}, peer.staged, tags::within_gpus);
}
template <class V, Like<HostModel> Part>
void describe(V& v, Part& host) {
  v.rows({"copy", "memcpy between pageable and page-locked memory, in no cache."}, host.copy, tags::host);
  v.rows(
      {"staging",
       "Copies between pageable memory and page-locked rings that copy engines use meanwhile; threads increase, then "
       "rings."},
      host.staging, tags::host);
  v.rows(
      {"written",
       "What a copy to the GPU takes longer from page-locked memory that host threads have just written; between two "
       "rows linear in the size, below the first in proportion to it, beyond the last as there; empty: no longer."},
      host.written, tags::host);
  v.lists("calls", host.calls, tags::host,
          "By name: pin, unpin, flush, \"allocate KIND\" and \"release KIND\" of each kind of memory, and \"create "
          "queue\" and \"destroy queue\".");
}
template <class V, Like<SubmissionModel> Part>
void describe(V& v, Part& submission) {
  v.optional_value({"copy", tags::submission, "An asynchronous copy.", "0"}, submission.copy, time_quantity);
  v.optional_value({"launch", tags::submission, "A kernel launch.", "0"}, submission.launch, time_quantity);
  v.optional_value({"event_record", tags::submission, "Recording an event in a queue.", "0"}, submission.event_record,
                   time_quantity);
  v.optional_value({"event_wait", tags::submission, "Making a queue wait for an event.", "0"}, submission.event_wait,
                   time_quantity);
  v.optional_value({"batched_copy", tags::submission, "A further copy of a batch (cudaMemcpyBatchAsync)."},
                   submission.batched_copy, time_quantity);
  v.optional_value({"graph_launch", tags::submission, "Launching a graph, beyond what its ops cost."},
                   submission.graph_launch, time_quantity);
  v.optional_value({"graph_op", tags::submission, "Launching a graph, for each of its ops."}, submission.graph_op,
                   time_quantity);
}

// --- all of them
// ------------------------------------------------------------------------------------------------------

/// Calls `visit(info, interval)` for every parameter that has a value, the rows of lists included.
template <class Visit>
class EachParameter {
 public:
  explicit EachParameter(const Visit& visit) : visit_(visit) {}

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

/// See EachParameter.
template <Like<Profile> P, class Visit>
void for_each_parameter(P& profile, const Visit& visit) {
  const EachParameter<Visit> each(visit);
  for (auto& gpu : profile.gpus) describe(each, gpu);
  for (auto& link : profile.links) describe(each, link);
  for (auto& peer : profile.peers) describe(each, peer);
  if (profile.host) describe(each, *profile.host);
  describe(each, profile.submission);
}

}  // namespace shiplap
