#include "shiplap/advise/placed_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "shiplap/advise/cuda_functions.hpp"
#include "shiplap/advise/initialisation.hpp"
#include "shiplap/core/printable.hpp"

namespace shiplap {
namespace {

/// A thread has waited for another thread's call when its own pause is at least this factor longer than the time since
/// that call.
constexpr double waited_for_another = 4;

/// The records of one call.
struct Call {
  const RecordedCall* record = nullptr;
  const RecordedOrder* order = nullptr;
  std::vector<std::size_t> work;  ///< indices of records
};

/// A stream: each GPU numbers its own.
struct StreamOfGpu {
  std::uint32_t gpu = 0;
  std::uint32_t number = 0;  ///< 0: the default stream
  friend auto operator<=>(const StreamOfGpu&, const StreamOfGpu&) = default;
};

/// The streams whose work was never seen to overlap with that of their GPU's default stream. They count as ordered with
/// it.
std::set<StreamOfGpu> streams_ordered_with_default(const Recording& recording) {
  std::map<StreamOfGpu, std::vector<Nanoseconds>> times;
  for (const Record& record : recording.records)
    if (const auto work = work_of(record)) times[{work->gpu, work->stream}].push_back(work->time);
  std::set<StreamOfGpu> ordered;
  for (auto& [stream, spans] : times)
    if (stream.number == 0) std::ranges::sort(spans, {}, &Nanoseconds::start);
  for (const auto& [stream, spans] : times) {
    const auto found = times.find({stream.gpu, 0});
    if (stream.number == 0 || found == times.end()) continue;
    const std::vector<Nanoseconds>& defaults = found->second;
    const bool overlaps = std::ranges::any_of(spans, [&](const Nanoseconds& span) {
      const auto next = std::ranges::lower_bound(defaults, span.end, {}, &Nanoseconds::start);
      return next != defaults.begin() && std::prev(next)->end > span.start;
    });
    if (!overlaps) ordered.insert(stream);
  }
  return ordered;
}

/// Makes ops of calls, one after the other in the order of the calls.
class OpMaker {
 public:
  explicit OpMaker(const Recording& recording)
      : recording_(recording),
        initialisation_(initialisation_of(recording)),
        ordered_(streams_ordered_with_default(recording)) {}

  void add(const Call& call) {
    Thread& thread = threads_[call.record->thread];
    if (!call.work.empty())
      add_work(call, thread);
    else if (call.order != nullptr)
      add_order(call, thread);
    else if (manages_memory(call.record->function))
      add_management(call, thread);
  }
  PlacedOps take() { return {std::move(ops_), std::move(op_of_record_)}; }

 private:
  struct Thread {
    std::uint64_t last_end = 0;
    Seconds allocating{0};
    std::uint32_t allocations = 0, frees = 0;
  };

  PlacedOp begun(const Call& call, Thread& thread) {
    PlacedOp placed{};
    placed.call = call.record->time;
    placed.op.thread = call.record->thread;
    placed.op.name = printable(call.record->function);
    if (thread.last_end > 0) placed.op.host_before = between(thread.last_end, call.record->time.start);
    note_handover(placed);
    placed.op.allocating = std::min(placed.op.host_before, std::exchange(thread.allocating, Seconds{0}));
    placed.op.allocations = std::exchange(thread.allocations, 0);
    placed.op.frees = std::exchange(thread.frees, 0);
    thread.last_end = call.record->time.end;
    return placed;
  }

  /// Finds the latest call of another thread that had ended before this call began.
  void note_handover(PlacedOp& placed) const {
    if (ops_.empty()) return;
    const PlacedOp& before = ops_.back();
    if (before.op.thread == placed.op.thread || before.call.end > placed.call.start) return;
    const Seconds since = between(before.call.end, placed.call.start);
    const auto own = threads_.find(placed.op.thread);
    const bool is_first = own == threads_.end() || own->second.last_end == 0;
    if (!is_first && placed.op.host_before < since * waited_for_another) return;
    placed.handed_over_by = ops_.size() - 1;
    placed.op.host_before = since;
  }

  void add_work(const Call& call, Thread& thread) {
    PlacedOp placed = begun(call, thread);
    const RecordedWork first = *work_of(recording_.records[call.work.front()]);
    Nanoseconds span = first.time;
    std::set<StreamOfGpu> streams;  // several for some graphs
    for (const std::size_t record : call.work) {
      const RecordedWork work = *work_of(recording_.records[record]);
      span = {std::min(span.start, work.time.start), std::max(span.end, work.time.end)};
      streams.insert({work.gpu, work.stream});
      op_of_record_[record] = ops_.size();
    }
    const StreamOfGpu first_stream{first.gpu, first.stream};
    placed.op.stream = first.stream;
    placed.op.gpu = first.gpu;
    placed.start = span.start;
    placed.end = span.end;
    // In several streams, what came last in each of them is ordered with the whole graph. The graph itself stands in
    // the stream of its first work, so what comes next in the others waits for it explicitly (awaited_in).
    placed.after =
        each_once(streams.size() == 1 ? awaited_in(first_stream) : before_next_in({streams.begin(), streams.end()}));
    for (const StreamOfGpu stream : streams) drop_what_was_not_meant(stream, span.start, placed.after);
    describe(call, span, placed);
    for (const StreamOfGpu stream : streams) {
      stream_waits_.erase(stream);
      last_of_stream_[stream] = ops_.size();
      gpus_.insert(stream.gpu);
    }
    ops_.push_back(std::move(placed));
  }

  /// Removes ops that ended after the waiting op had begun: those before an event of another GPU with the same number,
  /// and those of waits through a stream that is not ordered with the default stream after all.
  void drop_what_was_not_meant(StreamOfGpu stream, std::uint64_t begin, std::vector<std::size_t>& after) {
    std::vector<std::size_t> doubtful = waits_through_default(stream);
    if (const auto own = doubtful_waits_.extract(stream)) append(doubtful, own.mapped());
    std::erase_if(after, [&](std::size_t op) {
      return ops_[op].end > begin && std::ranges::find(doubtful, op) != doubtful.end();
    });
  }

  void describe(const Call& call, Nanoseconds span, PlacedOp& placed) {
    StepOp& op = placed.op;
    if (const auto first = initialisation_.of_call.find(call.record->call); first != initialisation_.of_call.end())
      placed.initialising = first->second;
    op.call = between(placed.call.start, placed.call.end) - placed.initialising;
    op.time = between(span.start, span.end);
    if (const RecordedCopy* copy = single_copy(call)) {
      describe_copy(call, *copy, placed);
    } else if (call.work.size() > 1) {
      op.name = fmt::format("graph of {} ops", call.work.size());
      op.work = StepOp::Work::graph;
      op.copies_to_host = std::ranges::any_of(call.work, [&](std::size_t record) { return is_copy_to_host(record); });
    } else if (const auto* kernel = std::get_if<RecordedKernel>(&recording_.records[call.work.front()])) {
      op.name = printable(kernel->name);
      op.grid = kernel->blocks;
      op.threads = kernel->threads;
    } else {
      op.work = copy_of(call.work.front()) == nullptr ? StepOp::Work::fill : StepOp::Work::device_copy;
    }
  }

  const RecordedCopy* copy_of(std::size_t record) const {
    return std::get_if<RecordedCopy>(&recording_.records[record]);
  }
  bool is_copy_to_host(std::size_t record) const {
    const RecordedCopy* const copy = copy_of(record);
    return copy != nullptr && copy->from == MemoryKind::device && copy->to != MemoryKind::device;
  }

  /// The first copy of a call whose work is copies between host and GPU in one direction, as those of a batch are; null
  /// for any other call. A graph may begin with a copy and do other work after it.
  const RecordedCopy* single_copy(const Call& call) const {
    const RecordedCopy* const first = copy_of(call.work.front());
    const auto is_alike = [&](std::size_t record) {
      const RecordedCopy* const copy = copy_of(record);
      return copy != nullptr && copy->from == first->from && copy->to == first->to;
    };
    const bool crosses = first != nullptr && first->size.count > 0 &&
                         (first->from == MemoryKind::device) != (first->to == MemoryKind::device);
    return crosses && std::ranges::all_of(call.work, is_alike) ? first : nullptr;
  }

  void describe_copy(const Call& call, const RecordedCopy& copy, PlacedOp& placed) {
    StepOp& op = placed.op;
    op.kind = StepOp::Kind::copy;
    op.to_device = copy.to == MemoryKind::device;
    const MemoryKind memory = op.to_device ? copy.from : copy.to;
    op.host_memory = memory == MemoryKind::pageable ? MemoryKind::pageable : MemoryKind::pinned;
    op.host_address = op.to_device ? copy.from_address : copy.to_address;
    op.device_address = op.to_device ? copy.to_address : copy.from_address;
    if (call.work.size() == 1) placed.content = copy.content;  // the hash is that of one copy
    for (const std::size_t record : call.work)
      if (const auto* part = std::get_if<RecordedCopy>(&recording_.records[record])) op.size += part->size;
    op.blocks = !is_asynchronous(call.record->function);
    if (op.host_memory == MemoryKind::pageable) {
      std::uint64_t could_start = placed.call.start;
      for (const std::size_t before : placed.after) could_start = std::max(could_start, ops_[before].end);
      if (const auto before = last_of_stream_.find({op.gpu, op.stream}); before != last_of_stream_.end())
        could_start = std::max(could_start, ops_[before->second].end);
      op.time = without_initialising(between(std::min(could_start, placed.call.end), placed.call.end), placed);
    } else if (memory == MemoryKind::pinned) {
      op.time = Seconds{0};
    }
    if (op.blocks && op.host_memory != MemoryKind::pageable) {
      op.returning = without_initialising(between(placed.end, placed.call.end), placed);
      op.call = Seconds{0};  // is spent waiting
    }
  }

  static Seconds without_initialising(Seconds time, const PlacedOp& placed) {
    return std::max(Seconds{0}, time - placed.initialising);
  }

  static StreamOfGpu stream_of(const PlacedOp& placed) { return {placed.op.gpu, placed.op.stream}; }

  /// The ops that stand in other streams and that what comes next in the stream waits for.
  std::vector<std::size_t> awaited_in(StreamOfGpu stream) const {
    std::vector<std::size_t> awaited;
    if (const auto waits = stream_waits_.find(stream); waits != stream_waits_.end()) awaited = waits->second;
    const auto own = last_of_stream_.find(stream);
    // A graph with work in this stream may stand in another one, whose order says nothing about this stream.
    if (own != last_of_stream_.end() && stream_of(ops_[own->second]) != stream) awaited.push_back(own->second);
    if (stream.number == 0) {
      // The default stream has waited for what is older than its last op.
      for (const auto& [other, op] : last_of_stream_)
        if (other.gpu == stream.gpu && ordered_.contains(other) && (own == last_of_stream_.end() || op > own->second))
          awaited.push_back(op);
    } else if (ordered_.contains(stream)) {
      if (const auto last = last_of_stream_.find({stream.gpu, 0}); last != last_of_stream_.end())
        awaited.push_back(last->second);
    }
    append(awaited, waits_through_default(stream));
    return awaited;
  }

  /// What the default stream waits for through streams that are ordered with it and have had no op since their wait;
  /// for such a stream, what it waits for through the default stream.
  std::vector<std::size_t> waits_through_default(StreamOfGpu stream) const {
    std::vector<std::size_t> awaited;
    for (const auto& [other, waits] : stream_waits_) {
      const StreamOfGpu ordered = stream.number == 0 ? other : stream;
      const bool is_default = stream.number == 0 || other.number == 0;
      if (is_default && other != stream && other.gpu == stream.gpu && ordered_.contains(ordered))
        append(awaited, waits);
    }
    return awaited;
  }

  /// The ops that have ended when the stream reaches what comes next in it.
  std::vector<std::size_t> before_next_in(StreamOfGpu stream) const {
    std::vector<std::size_t> before = awaited_in(stream);
    if (const auto last = last_of_stream_.find(stream); last != last_of_stream_.end()) before.push_back(last->second);
    return before;
  }

  /// The streams that an order means. Without a GPU these are the streams of its number on all GPUs.
  std::vector<StreamOfGpu> streams_of(const RecordedOrder& order) const {
    if (order.gpu != RecordedOrder::unknown_gpu) return {{order.gpu, order.stream}};
    std::set<StreamOfGpu> streams;
    for (const auto& [stream, op] : last_of_stream_)
      if (stream.number == order.stream) streams.insert(stream);
    for (const auto& [stream, waits] : stream_waits_)
      if (stream.number == order.stream) streams.insert(stream);
    if (streams.empty()) streams.insert({0, order.stream});
    return {streams.begin(), streams.end()};
  }

  std::vector<std::size_t> before_next_in(const std::vector<StreamOfGpu>& streams) const {
    std::vector<std::size_t> before;
    for (const StreamOfGpu stream : streams) append(before, before_next_in(stream));
    return before;
  }
  static void append(std::vector<std::size_t>& all, const std::vector<std::size_t>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  static std::vector<std::size_t> each_once(std::vector<std::size_t> ops) {
    std::ranges::sort(ops);
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    return ops;
  }

  /// Removes ops that ended before a later one of their stream began, which many waits of an idle stream add up to.
  void keep_last_of_each_stream(std::vector<std::size_t>& ops) const {
    std::map<StreamOfGpu, std::size_t> last;
    for (const std::size_t op : ops) last[stream_of(ops_[op])] = std::max(last[stream_of(ops_[op])], op);
    ops.clear();
    for (const auto& [stream, op] : last) ops.push_back(op);
  }

  /// The ops before all events of this number. Exports of nsys number the events of each GPU alike, and a wait does not
  /// say of which GPU its event is.
  std::vector<std::size_t> before_event(std::uint64_t event) const {
    std::vector<std::size_t> before;
    if (const auto events = recorded_.find(event); events != recorded_.end())
      for (const auto& [gpu, ops] : events->second) append(before, ops);
    return before;
  }

  bool is_of_several_gpus(std::uint64_t event) const {
    const auto events = recorded_.find(event);
    return events != recorded_.end() && events->second.size() > 1;
  }

  /// Whether the host may have waited for only some of the ops that the order names.
  bool is_ambiguous(const RecordedOrder& order) const {
    if (order.kind == RecordedOrder::Kind::event_wait && is_of_several_gpus(order.event)) return true;
    return order.gpu == RecordedOrder::unknown_gpu && gpus_.size() > 1;
  }

  /// What the host waits for with an order; nullopt for an order between streams.
  std::optional<std::vector<std::size_t>> awaited_by_host(const RecordedOrder& order) {
    switch (order.kind) {
      case RecordedOrder::Kind::record:
        recorded_[order.event][order.gpu] = before_next_in(streams_of(order));
        return std::nullopt;
      case RecordedOrder::Kind::stream_wait:
        for (const StreamOfGpu stream : streams_of(order)) {
          append(stream_waits_[stream], before_event(order.event));
          if (is_of_several_gpus(order.event))
            append(doubtful_waits_[stream], before_event(order.event));
          else
            keep_last_of_each_stream(stream_waits_[stream]);
        }
        return std::nullopt;
      case RecordedOrder::Kind::event_wait:
        return before_event(order.event);
      case RecordedOrder::Kind::host_wait:
        return before_next_in(streams_of(order));
      case RecordedOrder::Kind::device_wait:
        break;
    }
    std::vector<std::size_t> awaited;
    for (const auto& [stream, op] : last_of_stream_) {
      const bool is_meant = order.gpu == RecordedOrder::unknown_gpu || order.gpu == stream.gpu;
      if (is_meant && op >= awaited_before_[stream.gpu]) awaited.push_back(op);
    }
    for (const std::uint32_t gpu : gpus_)
      if (order.gpu == RecordedOrder::unknown_gpu || order.gpu == gpu) awaited_before_[gpu] = ops_.size();
    for (const auto& [stream, waits] : stream_waits_)
      if (order.gpu == RecordedOrder::unknown_gpu || order.gpu == stream.gpu) append(awaited, waits);
    return awaited;
  }

  void add_order(const Call& call, Thread& thread) {
    std::optional<std::vector<std::size_t>> awaited = awaited_by_host(*call.order);
    if (!awaited) return;
    *awaited = each_once(std::move(*awaited));
    // An op that ended later was not meant: it is another GPU's, or comes after the event that the host asked for.
    if (is_ambiguous(*call.order) || recording_.has_inferred_waits)
      std::erase_if(*awaited, [&](std::size_t op) { return ops_[op].end > call.record->time.end; });
    PlacedOp placed = begun(call, thread);
    placed.op.kind = StepOp::Kind::wait;
    std::uint64_t waited = placed.call.start;
    for (const std::size_t op : *awaited) waited = std::max(waited, ops_[op].end);
    placed.op.returning = between(waited, placed.call.end);
    placed.after = std::move(*awaited);
    ops_.push_back(std::move(placed));
  }

  /// A call that frees memory waits for all work first. The rest of it, and any other such call, is host time.
  void add_management(const Call& call, Thread& thread) {
    const Nanoseconds& time = call.record->time;
    std::vector<std::size_t> running;
    std::uint64_t waited = time.start;
    if (waits_for_all_work(call.record->function))
      for (const auto& [stream, op] : last_of_stream_)
        if (ops_[op].end > time.start && ops_[op].end <= time.end) {
          running.push_back(op);
          waited = std::max(waited, ops_[op].end);
        }
    if (!running.empty()) {
      PlacedOp placed = begun(call, thread);
      placed.op.kind = StepOp::Kind::wait;
      placed.after = each_once(std::move(running));
      ops_.push_back(std::move(placed));
      thread.last_end = waited;
    }
    thread.allocating += between(waited, time.end);
    ++(frees_memory(call.record->function) ? thread.frees : thread.allocations);
  }

  const Recording& recording_;
  const Initialisation initialisation_;
  std::set<StreamOfGpu> ordered_;
  std::vector<PlacedOp> ops_;
  std::unordered_map<std::size_t, std::size_t> op_of_record_;
  std::map<std::uint32_t, Thread> threads_;
  std::map<StreamOfGpu, std::size_t> last_of_stream_;
  std::set<std::uint32_t> gpus_;  ///< the GPUs that have had work
  std::map<std::uint32_t, std::size_t>
      awaited_before_;  ///< ops before this one had been awaited by the last wait for the GPU, by GPU
  /// The ops before an event, by the event's number and then by the GPU of the stream that it was recorded in.
  std::unordered_map<std::uint64_t, std::map<std::uint32_t, std::vector<std::size_t>>> recorded_;
  std::map<StreamOfGpu, std::vector<std::size_t>> stream_waits_;    ///< what the next op of a stream waits for
  std::map<StreamOfGpu, std::vector<std::size_t>> doubtful_waits_;  ///< those of which some may be another GPU's
};

std::vector<Call> calls_in_order(const Recording& recording) {
  std::unordered_map<std::uint64_t, std::size_t> index;
  std::vector<Call> calls;
  for (const Record& record : recording.records)
    if (const auto* call = std::get_if<RecordedCall>(&record))
      if (index.try_emplace(call->call, calls.size()).second)
        calls.push_back({.record = call, .order = nullptr, .work = {}});
  for (std::size_t i = 0; i < recording.records.size(); ++i) {
    const Record& record = recording.records[i];
    if (const auto* order = std::get_if<RecordedOrder>(&record)) {
      if (const auto found = index.find(order->call); found != index.end()) calls[found->second].order = order;
    } else if (const auto work = work_of(record)) {
      if (const auto found = index.find(work->call); found != index.end()) calls[found->second].work.push_back(i);
    }
  }
  std::ranges::stable_sort(calls, {}, [](const Call& call) { return call.record->time.start; });
  return calls;
}

}  // namespace

PlacedOps placed_ops(const Recording& recording) {
  OpMaker maker(recording);
  for (const Call& call : calls_in_order(recording)) maker.add(call);
  return maker.take();
}

}  // namespace shiplap
