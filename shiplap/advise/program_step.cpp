#include "shiplap/advise/program_step.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <variant>

#include "shiplap/advise/placed_ops.hpp"
#include "shiplap/core/statistics.hpp"

namespace shiplap {
namespace {

constexpr std::size_t most_steps_before = 4;

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
    PlacedOps placed = placed_ops(recording);
    for (const Record& record : recording.records)
      if (const auto* migration = std::get_if<RecordedMigration>(&record)) migrations_.push_back(migration);
    std::ranges::sort(migrations_, {}, [](const RecordedMigration* migration) { return migration->time.start; });
    const auto& op_of_record = placed.op_of_record;
    const std::vector<std::size_t> order = submitted_order(recording);
    all_ = std::move(placed.ops);
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
  ProgramStep step = StepBuilder(recording, steps).build();
  step.has_inferred_waits = recording.has_inferred_waits;
  return step;
}

}  // namespace shiplap
