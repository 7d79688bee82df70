#include "shiplap/advise/placed_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "shiplap/advise/cuda_functions.hpp"
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

/// The streams whose work was never seen to overlap with that of the default stream. They count as ordered with it.
std::set<std::uint32_t> streams_ordered_with_default(const Recording& recording) {
  std::map<std::uint32_t, std::vector<Nanoseconds>> times;
  for (const Record& record : recording.records)
    if (const auto work = work_of(record)) times[work->stream].push_back(work->time);
  const auto default_times = times.extract(0);
  std::set<std::uint32_t> ordered;
  if (default_times.empty()) return ordered;
  std::vector<Nanoseconds> defaults = default_times.mapped();
  std::ranges::sort(defaults, {}, &Nanoseconds::start);
  for (const auto& [stream, spans] : times) {
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
      : recording_(recording), ordered_(streams_ordered_with_default(recording)) {}

  void add(const Call& call) {
    Thread& thread = threads_[call.record->thread];
    if (!call.work.empty())
      add_work(call, thread);
    else if (call.order != nullptr)
      add_order(call, thread);
    else if (manages_memory(call.record->function))
      thread.allocating += between(call.record->time.start, call.record->time.end);
  }
  PlacedOps take() { return {std::move(ops_), std::move(op_of_record_)}; }

 private:
  struct Thread {
    std::uint64_t last_end = 0;
    Seconds allocating{0};
  };

  PlacedOp begun(const Call& call, Thread& thread) {
    PlacedOp placed{};
    placed.call = call.record->time;
    placed.op.thread = call.record->thread;
    placed.op.name = printable(call.record->function);
    if (thread.last_end > 0) placed.op.host_before = between(thread.last_end, call.record->time.start);
    note_handover(placed);
    placed.op.allocating = std::min(placed.op.host_before, std::exchange(thread.allocating, Seconds{0}));
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
    for (const std::size_t record : call.work) {
      const Nanoseconds time = work_of(recording_.records[record])->time;
      span = {std::min(span.start, time.start), std::max(span.end, time.end)};
      op_of_record_[record] = ops_.size();
    }
    placed.op.stream = first.stream;
    placed.op.gpu = first.gpu;
    placed.start = span.start;
    placed.end = span.end;
    place_in_stream(placed);
    describe(call, span, placed);
    last_of_stream_[first.stream] = ops_.size();
    ops_.push_back(std::move(placed));
  }

  void describe(const Call& call, Nanoseconds span, PlacedOp& placed) {
    StepOp& op = placed.op;
    op.call = between(placed.call.start, placed.call.end);
    op.time = between(span.start, span.end);
    if (const auto* copy = std::get_if<RecordedCopy>(&recording_.records[call.work.front()]);
        copy != nullptr && copy->size.count > 0 &&
        (copy->from == MemoryKind::device) != (copy->to == MemoryKind::device)) {
      describe_copy(call, *copy, placed);
    } else if (call.work.size() > 1) {
      op.name = fmt::format("graph of {} ops", call.work.size());
    } else if (const auto* kernel = std::get_if<RecordedKernel>(&recording_.records[call.work.front()])) {
      op.name = printable(kernel->name);
      op.grid = kernel->blocks;
      op.threads = kernel->threads;
    }
  }

  void describe_copy(const Call& call, const RecordedCopy& copy, PlacedOp& placed) {
    StepOp& op = placed.op;
    op.kind = StepOp::Kind::copy;
    op.to_device = copy.to == MemoryKind::device;
    const MemoryKind memory = op.to_device ? copy.from : copy.to;
    op.host_memory = memory == MemoryKind::pageable ? MemoryKind::pageable : MemoryKind::pinned;
    op.host_address = op.to_device ? copy.from_address : copy.to_address;
    op.device_address = op.to_device ? copy.to_address : copy.from_address;
    placed.content = copy.content;
    for (const std::size_t record : call.work)
      if (const auto* part = std::get_if<RecordedCopy>(&recording_.records[record])) op.size += part->size;
    op.blocks = !is_asynchronous(call.record->function);
    if (op.host_memory == MemoryKind::pageable) {
      std::uint64_t could_start = placed.call.start;
      for (const std::size_t before : placed.after) could_start = std::max(could_start, ops_[before].end);
      if (const auto before = last_of_stream_.find(op.stream); before != last_of_stream_.end())
        could_start = std::max(could_start, ops_[before->second].end);
      op.time = between(std::min(could_start, placed.call.end), placed.call.end);
    } else if (memory == MemoryKind::pinned) {
      op.time = Seconds{0};
    }
    if (op.blocks && op.host_memory != MemoryKind::pageable) {
      op.returning = between(placed.end, placed.call.end);
      op.call = Seconds{0};  // is spent waiting
    }
  }

  void place_in_stream(PlacedOp& placed) {
    if (const auto waits = stream_waits_.extract(placed.op.stream); !waits.empty()) placed.after = waits.mapped();
    if (placed.op.stream == 0) {
      const auto own = last_of_stream_.find(0);
      // The default stream has waited for what is older than its last op.
      for (const auto& [stream, op] : last_of_stream_)
        if (ordered_.contains(stream) && (own == last_of_stream_.end() || op > own->second)) placed.after.push_back(op);
    } else if (ordered_.contains(placed.op.stream)) {
      if (const auto last = last_of_stream_.find(0); last != last_of_stream_.end())
        placed.after.push_back(last->second);
    }
  }

  void add_order(const Call& call, Thread& thread) {
    const RecordedOrder& order = *call.order;
    const auto last = last_of_stream_.find(order.stream);
    const auto recorded = recorded_.find(order.event);
    std::vector<std::size_t> awaited;
    switch (order.kind) {
      case RecordedOrder::Kind::record:
        if (last != last_of_stream_.end()) recorded_[order.event] = last->second;
        return;
      case RecordedOrder::Kind::stream_wait:
        if (recorded != recorded_.end()) stream_waits_[order.stream].push_back(recorded->second);
        return;
      case RecordedOrder::Kind::event_wait:
        if (recorded != recorded_.end()) awaited.push_back(recorded->second);
        break;
      case RecordedOrder::Kind::host_wait:
        if (last != last_of_stream_.end()) awaited.push_back(last->second);
        break;
      case RecordedOrder::Kind::device_wait:
        for (const auto& [stream, op] : last_of_stream_)
          if (op >= awaited_before_) awaited.push_back(op);
        awaited_before_ = ops_.size();
    }
    PlacedOp placed = begun(call, thread);
    placed.op.kind = StepOp::Kind::wait;
    std::uint64_t waited = placed.call.start;
    for (const std::size_t op : awaited) waited = std::max(waited, ops_[op].end);
    placed.op.returning = between(waited, placed.call.end);
    placed.after = std::move(awaited);
    ops_.push_back(std::move(placed));
  }

  const Recording& recording_;
  std::set<std::uint32_t> ordered_;
  std::vector<PlacedOp> ops_;
  std::unordered_map<std::size_t, std::size_t> op_of_record_;
  std::map<std::uint32_t, Thread> threads_;
  std::map<std::uint32_t, std::size_t> last_of_stream_;
  std::size_t awaited_before_ = 0;  ///< ops before this one had been awaited by the last wait for the device
  std::unordered_map<std::uint64_t, std::size_t> recorded_;  ///< the op before an event, by event
  std::map<std::uint32_t, std::vector<std::size_t>> stream_waits_;
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
