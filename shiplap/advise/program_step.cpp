#include "shiplap/advise/program_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <variant>

#include "shiplap/core/printable.hpp"

namespace shiplap {
namespace {

constexpr std::size_t most_steps_before = 4;
/// A thread has waited for another thread's call when its own pause is at least this factor longer than the time since
/// that call.
constexpr double waited_for_another = 4;

Seconds seconds(std::uint64_t nanoseconds) { return Seconds{static_cast<double>(nanoseconds) * 1e-9}; }
Seconds between(std::uint64_t from, std::uint64_t to) { return seconds(to > from ? to - from : 0); }

bool allocates(const std::string& function) {
  constexpr std::array parts{"Malloc", "Alloc", "Free", "Register", "Unregister"};  // the last two pin and unpin
  return std::ranges::any_of(parts, [&](const char* part) { return function.find(part) != std::string::npos; });
}
bool is_async(const std::string& function) { return function.find("Async") != std::string::npos; }

/// The records of one call.
struct Call {
  const RecordedCall* record = nullptr;
  const RecordedOrder* order = nullptr;
  std::vector<std::size_t> work;  ///< indices of records
};

/// An op with the times of its call, and with dependencies that are indices in the list of all ops.
struct PlacedOp {
  StepOp op;
  Nanoseconds call;
  std::uint64_t start = 0;  ///< when its work began on the GPU
  std::uint64_t end = 0;    ///< when its work ended on the GPU
  std::uint64_t content = 0;
  std::vector<std::size_t> after;
  std::optional<std::size_t> handed_over_by;
};

struct Work {
  std::uint64_t call;
  std::uint32_t stream;
  std::uint32_t gpu;
  Nanoseconds time;
};
std::optional<Work> work_of(const Record& record) {
  return std::visit(
      [](const auto& r) -> std::optional<Work> {
        if constexpr (requires { r.stream, r.time; })
          return Work{r.call, r.stream, r.gpu, r.time};
        else
          return std::nullopt;
      },
      record);
}

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
    else if (allocates(call.record->function))
      thread.allocating += between(call.record->time.start, call.record->time.end);
  }
  std::vector<PlacedOp> take() { return std::move(ops_); }
  /// Index of the op that contains a record.
  const std::unordered_map<std::size_t, std::size_t>& op_of_record() const { return op_of_record_; }

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
    const Work first = *work_of(recording_.records[call.work.front()]);
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
    op.blocks = !is_async(call.record->function);
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
      for (const auto& [stream, op] :
           last_of_stream_)  // the default stream has waited for what is older than its last op
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

/// The ops of one step as a range in the list of all ops.
struct Part {
  std::size_t first;
  std::size_t end;
  std::size_t size() const { return end - first; }
};

/// The step of each part, from the ops of all.
class StepBuilder {
 public:
  StepBuilder(const Recording& recording, const Steps& steps) {
    OpMaker maker(recording);
    for (const Record& record : recording.records)
      if (const auto* migration = std::get_if<RecordedMigration>(&record)) migrations_.push_back(migration);
    std::ranges::sort(migrations_, {}, [](const RecordedMigration* migration) { return migration->time.start; });
    for (const Call& call : calls_in_order(recording)) maker.add(call);
    const auto& op_of_record = maker.op_of_record();
    const std::vector<std::size_t> order = submitted_order(recording);
    all_ = maker.take();
    std::vector<std::size_t> firsts;
    for (const std::size_t bound : steps.bounds) {
      const auto op = bound < order.size() ? op_of_record.find(order[bound]) : op_of_record.end();
      firsts.push_back(op == op_of_record.end() ? all_.size() : op->second);
    }
    for (std::size_t i = 0; i + 1 < firsts.size(); ++i)
      parts_.push_back({firsts[i], std::max(firsts[i], firsts[i + 1])});
    typical_ = steps.typical;
  }

  ProgramStep build() const {
    const Part& typical = parts_[typical_];
    ProgramStep step;
    for (std::size_t i = typical.first; i < typical.end; ++i) {
      step.ops.push_back(all_[i].op);
      step.ops.back().after = earlier_ops(all_[i].after);
      if (all_[i].handed_over_by)
        if (const std::vector<EarlierOp> by = earlier_ops({*all_[i].handed_over_by}); !by.empty())
          step.ops.back().handed_over_by = by.front();
    }
    number_gpus(step);
    note_repeats(step);
    note_times(step);
    return step;
  }

 private:
  std::vector<EarlierOp> earlier_ops(const std::vector<std::size_t>& after) const {
    std::vector<EarlierOp> earlier;
    for (const std::size_t op : after)
      for (std::size_t back = 0; back <= std::min(most_steps_before, typical_); ++back) {
        const Part& part = parts_[typical_ - back];
        if (op < part.first || op >= part.end) continue;
        if (part.size() == parts_[typical_].size()) earlier.push_back({op - part.first, back});
        break;
      }
    return earlier;
  }

  /// GPUs are numbered by their first op in the step, so that a program on one GPU uses the first of a profile.
  static void number_gpus(ProgramStep& step) {
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (StepOp& op : step.ops)
      if (op.kind != StepOp::Kind::wait)
        op.gpu = numbers.try_emplace(op.gpu, static_cast<std::uint32_t>(numbers.size())).first->second;
  }

  void note_repeats(ProgramStep& step) const {
    const Part& typical = parts_[typical_];
    for (StepOp& op : step.ops) op.same_address = op.same_content = op.kind == StepOp::Kind::copy;
    for (const Part& part : parts_) {
      if (part.size() != typical.size()) continue;
      ++step.repeats;
      for (std::size_t i = 0; i < step.ops.size(); ++i) {
        const PlacedOp& one = all_[part.first + i];
        StepOp& op = step.ops[i];
        op.same_address = op.same_address && one.op.host_address != 0 && one.op.host_address == op.host_address;
        op.same_content = op.same_content && one.content != 0 && one.content == all_[typical.first + i].content &&
                          one.op.size == op.size;
      }
    }
  }

  void note_times(ProgramStep& step) const {
    std::vector<double> times, to_device, to_host, on_device, on_host;
    for (const Part& part : parts_) {
      if (part.size() != parts_[typical_].size() || part.end >= all_.size()) continue;
      const Nanoseconds span{all_[part.first].start, std::max(all_[part.first].start, all_[part.end].start)};
      times.push_back(between(span.start, span.end).count());
      const StepMigrations moved = migrations_in(span);
      to_device.push_back(static_cast<double>(moved.to_device.count));
      to_host.push_back(static_cast<double>(moved.to_host.count));
      on_device.push_back(moved.on_device.count());
      on_host.push_back(moved.on_host.count());
    }
    if (times.empty()) return;
    step.time = {Seconds{median(times)}, Seconds{quantile(times, 0.25)}, Seconds{quantile(times, 0.75)}};
    for (const double time : times) step.total += Seconds{time};
    step.migrations = {Bytes{static_cast<std::uint64_t>(median(to_device))},
                       Bytes{static_cast<std::uint64_t>(median(to_host))}, Seconds{median(on_device)},
                       Seconds{median(on_host)}};
  }

  StepMigrations migrations_in(Nanoseconds span) const {
    StepMigrations moved;
    const auto start = [](const RecordedMigration* migration) { return migration->time.start; };
    const auto first = std::ranges::lower_bound(migrations_, span.start, {}, start);
    const auto last = std::ranges::lower_bound(first, migrations_.end(), span.end, {}, start);
    for (const RecordedMigration* migration : std::span(first, last)) {
      (migration->to_device ? moved.to_device : moved.to_host) += migration->size;
      (migration->to_device ? moved.on_device : moved.on_host) += between(migration->time.start, migration->time.end);
    }
    return moved;
  }

  std::vector<const RecordedMigration*> migrations_;
  std::vector<PlacedOp> all_;
  std::vector<Part> parts_;
  std::size_t typical_ = 0;
};

}  // namespace

ProgramStep program_step(const Recording& recording, const Steps& steps) {
  return StepBuilder(recording, steps).build();
}

}  // namespace shiplap
