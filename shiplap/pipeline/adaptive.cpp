#include "shiplap/pipeline/adaptive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/pipeline/learn.hpp"
#include "shiplap/pipeline/probe.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {
namespace {

constexpr int runs_of_an_empty_kernel = 21;
constexpr std::uint64_t most_in_flight = 64;  // more hide no further latency

/// The time that a trace shows for a kernel that does nothing.
Seconds time_of_marks(MeasurableDevice& device) {
  const auto execution = prepare_empty_launch(device);
  std::vector<double> seconds;
  for (int i = 0; i < runs_of_an_empty_kernel; ++i) {
    // The launch is held, because in a pipeline too kernels are submitted long before they start.
    const Span span = execution->run({.hold = true, .trace = Trace::kernels}).timeline.spans.front();
    seconds.push_back((span.end - span.start).count());
  }
  return Seconds{median(seconds)};
}

/// The job of a batch with what the device tells about it, which it is asked on the arrays of the first slot.
Job learned(const Node& node, const Job& batch, std::span<const std::span<std::byte>> arrays) {
  Job located = batch;
  for (std::size_t a = 0; a < located.arrays.size(); ++a) located.arrays[a].data = arrays[a].data();
  Job result = learn(node, located).job;
  for (Array& array : result.arrays) array.data = nullptr;
  return result;
}

/// Whether a choice can do the batch within these limits.
bool fits(const Job& batch, const AdaptiveOptions& options, const Limits& limits) {
  const std::vector<Choice> choices = options.choices.empty() ? steady_choices(batch) : options.choices;
  return std::ranges::any_of(choices, [&](const Choice& choice) {
    try {
      static_cast<void>(find_strategy(choice.strategy).schedule(batch, choice, limits));
      return true;
    } catch (const Error&) {
      return false;
    }
  });
}

/// The largest number of batches up to `most` among which the device memory can be divided; 0 where none fits at all.
std::uint64_t batches_in_device_memory(const Job& batch, const AdaptiveOptions& options, const Limits& limits,
                                       unsigned most) {
  unsigned fitting = 0;
  for (unsigned tried = most; fitting < most; tried = fitting + (most - fitting + 1) / 2) {
    if (fits(batch, options, limits.fraction(1, tried)))
      fitting = tried;
    else
      most = tried - 1;
  }
  return fitting;
}

/// Throws UsageError for more batches than fit. Where not a single one fits, what fails first says why.
void require_room(Job batch, const AdaptiveOptions& options, const Limits& limits) {
  for (Array& array : batch.arrays) array.memory = MemoryKind::pinned;
  batch.cost = {.points = {{batch.items, Interval<Seconds>::exact(microseconds(1))}}, .origin = "stated"};
  Bytes on_host{0};
  for (const Array& array : batch.arrays) on_host += size_on_host(array);
  const auto host = available_host_memory();
  const bool too_many = options.in_flight > most_in_flight;
  std::uint64_t fit = batches_in_device_memory(batch, options, limits, options.slots);
  if (host && on_host.count > 0) fit = std::min(fit, host->size.count / on_host.count);
  if (!too_many && (fit == 0 || options.slots <= fit)) return;
  throw UsageError(fmt::format(
      "`{}` {}: at most {} batches are in flight; each needs {} of pinned memory, of which {} are available, and all "
      "share {} of device memory: give at most {}",
      too_many || options.slots == options.in_flight ? "in_flight" : "slots",
      too_many ? options.in_flight : options.slots, most_in_flight, to_string(on_host),
      host ? to_string(*host) : "an unknown amount", to_string(limits.device_memory),
      std::max<std::uint64_t>(1, std::min(fit, most_in_flight))));
}

Trace trace_for(TraceLevel trace_level) {
  return trace_level == TraceLevel::span      ? Trace::none
         : trace_level == TraceLevel::kernels ? Trace::kernels
                                              : Trace::events;
}

}  // namespace

Adaptive::Adaptive(const Node& node, Job batch, AdaptiveOptions options)
    : batch_(std::move(batch)), options_(std::move(options)), limits_(node.limits) {
  if (options_.in_flight == 0) throw UsageError("`in_flight` 0: at least 1 batch is in flight");
  if (options_.slots == 0) options_.slots = options_.in_flight;
  if (options_.slots < options_.in_flight)
    throw UsageError(
        fmt::format("`slots` {}: {} batches in flight need as many slots or more", options_.slots, options_.in_flight));
  for (const Array& array : batch_.arrays)
    if (stays(array.role))
      throw Unsupported(fmt::format(
          "{}: array {} would have to stay on the GPU from one batch to the next, and batches share no arrays: let the "
          "kernel refer to memory of its own, or make the array an input of every batch",
          batch_.name, array.name));
  for (Array& array : batch_.arrays) array.memory = MemoryKind::pinned;  // every batch gets memory of its own
  if (has_blocks(batch_))
    throw Unsupported(fmt::format(
        "{}: an array is blocks of a pool, and adaptive runs move contiguous arrays: plan and run the job instead",
        batch_.name));
  MeasurableDevice& device = device_of(node, batch_.name);
  const Profile& profile = profile_of(node);
  require_room(batch_, options_, limits_);
  limits_ = limits_.fraction(1, options_.slots);
  slots_.resize(options_.slots);
  allocate(device);
  if (options_.sample) options_.sample(slots_.front().arrays);
  batch_ = learned({.device = node.device, .profile = node.profile, .limits = limits_}, batch_, slots_.front().arrays);
  profile_hash_ = parameter_hash(profile);
  table_ = steady_table(batch_, profile, limits_, options_.choices.empty() ? steady_choices(batch_) : options_.choices,
                        options_.in_flight);
  if (!options_.choices.empty() && table_.choices.size() < options_.choices.size())
    for (const Choice& choice : options_.choices)
      if (std::ranges::find(table_.choices, choice) == table_.choices.end())
        throw UsageError(
            fmt::format("batches of {} cannot run as {}: leave that choice out", batch_.name, to_string(choice)));
  make_ready(device);
  mark_ = time_of_marks(device);
  adaptation_ = std::make_unique<Adaptation>(table_, options_.adaptation);
}

void Adaptive::allocate(Device& device) {
  for (Slot& slot : slots_) {
    for (Array& array : batch_.arrays) {
      array.memory = MemoryKind::pinned;
      const Bytes size = size_on_host(array);
      slot.host.push_back(size.count == 0 ? Memory() : device.allocate(Place::host(), MemoryKind::pinned, size));
      slot.arrays.push_back(size.count == 0 ? std::span<std::byte>() : slot.host.back().bytes());
    }
  }
}

// All choices share the buffers of a slot, because only one choice at a time runs in it. So each buffer has the largest
// size that any choice needs.
void Adaptive::make_ready(Device& device) {
  std::vector<Schedule> schedules;
  std::vector<Buffer> largest;
  for (const Choice& choice : table_.choices) {
    schedules.push_back(find_strategy(choice.strategy).schedule(batch_, choice, limits_));
    const std::vector<Buffer>& buffers = schedules.back().buffers;
    for (std::size_t b = batch_.arrays.size(); b < buffers.size(); ++b) {
      const std::size_t own = b - batch_.arrays.size();
      if (own == largest.size()) largest.push_back(buffers[b]);
      Buffer& there = largest[own];
      if (there.place != buffers[b].place || there.memory != buffers[b].memory)
        throw Unsupported(
            fmt::format("batches of {} cannot change to {}, which needs another kind of memory: leave that choice out",
                        batch_.name, to_string(choice)));
      there.size = std::max(there.size, buffers[b].size);
    }
  }
  const Prepared* first = nullptr;
  for (Slot& slot : slots_) {
    for (const Buffer& buffer : largest)
      slot.device.push_back(device.allocate(buffer.place, buffer.memory, buffer.size));
    for (const Schedule& schedule : schedules) {
      std::vector<std::byte*> given;
      for (const std::span<std::byte> array : slot.arrays) given.push_back(array.data());
      for (std::size_t b = given.size(); b < schedule.buffers.size(); ++b)
        given.push_back(slot.device[b - slot.arrays.size()].data());
      slot.choices.push_back(std::make_unique<Prepared>(device, schedule, std::move(given), batch_.binding, first));
      if (first == nullptr) first = slot.choices.back().get();
    }
  }
}

void Adaptive::log_to(LineSink sink) {
  log_ = std::move(sink);
  adaptation_ = std::make_unique<Adaptation>(table_, options_.adaptation);
  if (log_) log_(header_line(batch_.name, profile_hash_, table_, options_.adaptation));
}

AdaptiveReport Adaptive::run(const Source& source, const Sink& sink, const Watch& watch, std::stop_token stop) {
  return run(*adaptation_, source, sink, watch, std::move(stop));
}

AdaptiveReport Adaptive::run(Policy& policy, const Source& source, const Sink& sink, const Watch& watch,
                             std::stop_token stop) {
  AdaptiveReport report{.batches_of_choice = std::vector<std::uint64_t>(table_.choices.size())};
  std::deque<InFlight> in_flight;
  std::optional<Seconds> began;
  std::optional<std::uint32_t> last_choice;
  const bool logs = log_ && &policy == adaptation_.get();
  const auto finish_first = [&] {
    const InFlight first = in_flight.front();
    Slot& slot = slots_[first.batch.slot];
    const RunResult result = slot.choices[first.choice]->wait();
    in_flight.pop_front();
    slot.busy = false;
    if (!began) began = result.ended - result.host_total;
    ++report.batches;
    ++report.batches_of_choice[first.choice];
    report.items += batch_.items;
    report.elapsed = result.ended - *began;
    if (last_choice && *last_choice != first.choice) ++report.changes;
    last_choice = first.choice;
    if (sink) sink(first.batch);
    const BatchObservation seen = seen_of(first, result);
    const std::optional<BatchDecision> decision = policy.observe(seen);
    if (logs) log_(log_line_of(seen));
    if (logs && decision) log_(log_line_of(*decision));
    if (watch) watch({.seen = seen, .decision = decision ? &*decision : nullptr, .ended = report.elapsed});
  };
  try {
    for (std::uint64_t number = 0; !stop.stop_requested(); ++number) {
      if (in_flight.size() == options_.in_flight) finish_first();
      Batch batch{.number = number, .slot = number % slots_.size()};
      batch.arrays = arrays(batch.slot);
      if (!source(batch)) break;
      submit(policy, in_flight, batch);
    }
    while (!in_flight.empty()) finish_first();
  } catch (...) {
    for (const InFlight& one : in_flight) {
      try {
        slots_[one.batch.slot].choices[one.choice]->wait();
      } catch (const std::exception&) {  // only the first error is thrown
      }
      slots_[one.batch.slot].busy = false;
    }
    throw;
  }
  return report;
}

void Adaptive::submit(Policy& policy, std::deque<InFlight>& in_flight, Batch batch) {
  if (batch.slot >= slots_.size() || slots_[batch.slot].busy)
    throw UsageError(fmt::format("batch {} was put into slot {}, which {}: choose a slot that is free", batch.number,
                                 batch.slot, batch.slot < slots_.size() ? "is in flight" : "does not exist"));
  Slot& slot = slots_[batch.slot];
  batch.arrays = slot.arrays;
  const std::uint32_t choice = policy.choice(batch.number);
  const TraceLevel trace_level = policy.trace_level(batch.number);
  in_flight.push_back({.batch = batch, .choice = choice, .trace_level = trace_level});
  try {
    slot.choices.at(choice)->submit({.trace = trace_for(trace_level)});
  } catch (...) {
    in_flight.pop_back();
    throw;
  }
  slot.busy = true;
}

BatchObservation Adaptive::seen_of(const InFlight& one, const RunResult& result) const {
  BatchObservation seen{.batch = one.batch.number, .choice = one.choice, .span = result.timeline.makespan};
  if (one.trace_level == TraceLevel::span) return seen;
  const Schedule& schedule = slots_[one.batch.slot].choices[one.choice]->schedule();
  StageTimes stages;
  std::vector<Span> kernels;
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const Span& span = result.timeline.spans[i];
    if (std::holds_alternative<Kernel>(schedule.ops[i].what)) {
      kernels.push_back(span);
    } else if (const auto* copy = std::get_if<Copy>(&schedule.ops[i].what)) {
      (direction(schedule, *copy) == CopyDirection::host_to_device ? stages.h2d : stages.d2h) += span.end - span.start;
    }
  }
  for (const Seconds added : added_busy_times(std::move(kernels))) {
    seen.kernels.push_back(std::max(Seconds{0}, added - mark_));
    stages.kernel += seen.kernels.back();
  }
  if (one.trace_level == TraceLevel::stages) seen.stages = stages;
  return seen;
}

}  // namespace shiplap
