#include "shiplap/advise/program_step.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
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
    once_ = steps.once;
    std::vector<std::size_t> sizes;
    for (const Part& part : parts_) sizes.push_back(part.size());
    counts_ = of_usual_size(sizes);
    counts_[typical_] = true;
    for (std::size_t back = 1; back <= std::min(most_steps_before, typical_); ++back)
      before_.push_back(correspondence_of(parts_[typical_ - back]));
  }

  ProgramStep build() const {
    const Part& typical = parts_[typical_];
    ProgramStep step;
    step.once = once_;
    for (std::size_t i = typical.first; i < typical.end; ++i) {
      step.ops.push_back(all_[i].op);
      step.ops.back().after = earlier_ops(all_[i].after);
      if (all_[i].handed_over_by)
        if (const std::vector<EarlierOp> by = earlier_ops({*all_[i].handed_over_by}); !by.empty())
          step.ops.back().handed_over_by = by.front();
    }
    step.is_iteration = iterates(step);
    number_gpus(step);
    note_repeats(step);
    if (once_ && !step.ops.empty())
      note_time_of_single(step);
    else
      note_times(step);
    return step;
  }

 private:
  /// What ops that correspond to each other have in common.
  static auto kind_of(const StepOp& op) {
    return std::tuple(op.kind, op.to_device, op.kind == StepOp::Kind::copy ? std::string_view() : op.name);
  }

  /// The index in the typical step of the op that corresponds to each op of another step.
  std::vector<std::optional<std::size_t>> correspondence_of(const Part& part) const {
    const Part& typical = parts_[typical_];
    std::vector<std::optional<std::size_t>> indices(part.size());
    bool are_alike = part.size() == typical.size();
    for (std::size_t i = 0; i < part.size() && are_alike; ++i) {
      indices[i] = i;
      are_alike = kind_of(all_[part.first + i].op) == kind_of(all_[typical.first + i].op);
    }
    if (are_alike) return indices;
    std::ranges::fill(indices, std::nullopt);
    std::map<decltype(kind_of(all_[0].op)), std::vector<std::size_t>> of_kind;  // not yet found ones, in order
    for (std::size_t i = 0; i < typical.size(); ++i) of_kind[kind_of(all_[typical.first + i].op)].push_back(i);
    for (std::size_t i = part.size(); i-- > 0;)
      if (auto& left = of_kind[kind_of(all_[part.first + i].op)]; !left.empty()) {
        indices[i] = left.back();
        left.pop_back();
      }
    return indices;
  }

  std::vector<EarlierOp> earlier_ops(const std::vector<std::size_t>& after) const {
    std::vector<EarlierOp> earlier;
    for (const std::size_t op : after)
      for (std::size_t back = 0; back <= std::min(most_steps_before, typical_); ++back) {
        const Part& part = parts_[typical_ - back];
        if (op < part.first || op >= part.end) continue;
        if (!counts_[typical_ - back]) break;
        const std::optional<std::size_t> index =
            back == 0 ? std::optional(op - part.first) : before_[back - 1][op - part.first];
        if (index) earlier.push_back({*index, back});
        break;
      }
    return earlier;
  }

  /// Whether at least half of the kernels' time is in one kernel that is launched several times with one grid, and the
  /// host waits between most of these launches.
  static bool iterates(const ProgramStep& step) {
    constexpr std::size_t fewest = 3;
    struct Launches {
      std::size_t count = 0, awaited = 0, waits_before = 0;
      Seconds time{0};
    };
    std::map<std::pair<std::string_view, std::uint64_t>, Launches> kernels;  // by name and grid
    Seconds all{0};
    std::size_t waits = 0;
    for (const StepOp& op : step.ops) {
      if (op.kind == StepOp::Kind::wait) ++waits;
      if (op.kind != StepOp::Kind::kernel || op.work != StepOp::Work::kernel) continue;
      Launches& of_kernel = kernels[{op.name, op.grid}];
      if (of_kernel.count > 0 && waits > of_kernel.waits_before) ++of_kernel.awaited;
      of_kernel.waits_before = waits;
      ++of_kernel.count;
      of_kernel.time += op.time;
      all += op.time;
    }
    return std::ranges::any_of(kernels, [&](const auto& kernel) {
      const Launches& launches = kernel.second;
      return launches.count >= fewest && 2 * launches.awaited >= launches.count - 1 && 2.0 * launches.time >= all;
    });
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
    for (StepOp& op : step.ops) op.same_address = op.same_content = op.kind == StepOp::Kind::copy && !once_;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (!counts_[p]) continue;
      ++step.repeats;
      std::vector<const PlacedOp*> ones(step.ops.size());
      const auto indices = correspondence_of(parts_[p]);
      for (std::size_t i = 0; i < indices.size(); ++i)
        if (indices[i]) ones[*indices[i]] = &all_[parts_[p].first + i];
      for (std::size_t i = 0; i < step.ops.size(); ++i) {
        const PlacedOp* const one = ones[i];
        StepOp& op = step.ops[i];
        op.same_address =
            op.same_address && one != nullptr && one->op.host_address != 0 && one->op.host_address == op.host_address;
        const std::uint64_t content = all_[typical.first + i].content;
        op.same_content = op.same_content && one != nullptr && one->content != 0 && one->content == content &&
                          one->op.size == op.size;
        op.changed_content =
            op.changed_content || (one != nullptr && one->content != 0 && content != 0 && one->content != content);
      }
    }
  }

  Seconds initialising_in(const Part& part) const {
    Seconds sum{0};
    for (std::size_t i = part.first; i < part.end; ++i) sum += all_[i].initialising;
    return sum;
  }

  void note_times(ProgramStep& step) const {
    std::vector<double> times, moves, to_device, to_host, on_device, on_host;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      if (!counts_[p] || part.end >= all_.size()) continue;
      const Nanoseconds span{all_[part.first].start, std::max(all_[part.first].start, all_[part.end].start)};
      times.push_back(std::max(Seconds{0}, between(span.start, span.end) - initialising_in(part)).count());
      const StepMigrations moved = migrations_in(span);
      moves.push_back(static_cast<double>(moved.moves_to_device));
      to_device.push_back(static_cast<double>(moved.to_device.count));
      to_host.push_back(static_cast<double>(moved.to_host.count));
      on_device.push_back(moved.on_device.count());
      on_host.push_back(moved.on_host.count());
    }
    if (times.empty()) return;
    step.time = {Seconds{median(times)}, Seconds{quantile(times, 0.25)}, Seconds{quantile(times, 0.75)}};
    for (const double time : times) step.total += Seconds{time};
    step.migrations = {static_cast<std::size_t>(median(moves)), Bytes{static_cast<std::uint64_t>(median(to_device))},
                       Bytes{static_cast<std::uint64_t>(median(to_host))}, Seconds{median(on_device)},
                       Seconds{median(on_host)}};
  }

  /// A single step is from its first call to the end of all its work, and of the pages that move until the next op.
  void note_time_of_single(ProgramStep& step) const {
    const Part& part = parts_[typical_];
    const std::uint64_t start = all_[part.first].call.start;
    std::uint64_t end = start, last_call = start;
    std::set<std::uint32_t> threads;
    for (std::size_t i = part.first; i < part.end; ++i) {
      const PlacedOp& one = all_[i];
      end = std::max({end, one.end, one.call.end});
      StepOp& op = step.ops[i - part.first];
      if (threads.insert(op.thread).second && !op.handed_over_by) op.host_before = between(start, one.call.start);
      op.allocating = std::min(op.allocating, op.host_before);
      if (op.thread == step.ops.front().thread) last_call = one.call.end;
    }
    for (const RecordedMigration* migration : migrations_)
      if (part.end >= all_.size() || migration->time.start < all_[part.end].call.start)
        end = std::max(end, migration->time.end);
    const Seconds time = std::max(Seconds{0}, between(start, end) - initialising_in(part));
    step.time = Interval<Seconds>::exact(time);
    step.total = time;
    step.migrations = migrations_in({start, end});
    step.host_after = step.migrations.to_host.count > 0 ? between(last_call, end) : Seconds{0};
  }

  StepMigrations migrations_in(Nanoseconds span) const {
    StepMigrations moved;
    const auto start = [](const RecordedMigration* migration) { return migration->time.start; };
    const auto first = std::ranges::lower_bound(migrations_, span.start, {}, start);
    const auto last = std::ranges::lower_bound(first, migrations_.end(), span.end, {}, start);
    for (const RecordedMigration* migration : std::span(first, last)) {
      moved.moves_to_device += migration->to_device ? 1 : 0;
      (migration->to_device ? moved.to_device : moved.to_host) += migration->size;
      (migration->to_device ? moved.on_device : moved.on_host) += between(migration->time.start, migration->time.end);
    }
    return moved;
  }

  std::vector<const RecordedMigration*> migrations_;
  std::vector<PlacedOp> all_;
  std::vector<Part> parts_;
  std::vector<bool> counts_;  ///< by part: whether it is of the usual size
  std::size_t typical_ = 0;
  bool once_ = false;
  std::vector<std::vector<std::optional<std::size_t>>> before_;  ///< correspondence of the steps before, last one first
};

}  // namespace

ProgramStep program_step(const Recording& recording, const Steps& steps) {
  ProgramStep step = StepBuilder(recording, steps).build();
  step.has_inferred_waits = recording.has_inferred_waits;
  return step;
}

}  // namespace shiplap
