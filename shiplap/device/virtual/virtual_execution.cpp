#include "shiplap/device/virtual/virtual_execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/file_bytes.hpp"
#include "shiplap/device/move_blocks.hpp"
#include "shiplap/schedule/succession.hpp"

namespace shiplap {
namespace {

/// Number of ended runs that are simulated again with those in flight. Earlier runs no longer affect the result.
constexpr std::size_t ended_runs_that_count = 2;

}  // namespace

const VirtualStreams::Run& VirtualStreams::submit(Schedule schedule) {
  while (runs_.size() > ended_runs_that_count && runs_[ended_runs_that_count].has_ended) runs_.pop_front();
  // Buffer sizes are dropped here because several schedules are simulated as one, whose sum could exceed the device
  // memory. The check for enough memory was made when it was allocated.
  for (Buffer& buffer : schedule.buffers)
    if (buffer.place.is_gpu()) buffer.size = {};
  runs_.push_back(Run{.number = next_, .schedule = std::move(schedule)});
  try {
    const Run& last = simulate_last();
    ++next_;  // the numbers of the runs have no gap
    return last;
  } catch (...) {
    runs_.pop_back();
    throw;
  }
}

const VirtualStreams::Run& VirtualStreams::simulate_last() {
  Run& added = runs_.back();
  for (const Run& run : runs_)
    if (run.has_ended) added.behind = run.number;

  std::vector<Successor> successors;
  const std::uint64_t front = runs_.front().number;
  for (const Run& run : runs_) {
    const bool is_there = run.behind && *run.behind >= front;
    successors.push_back({.schedule = &run.schedule,
                          .slot = static_cast<std::uint32_t>(successors.size()),
                          .awaited = is_there ? std::optional<std::size_t>(*run.behind - front) : std::nullopt});
  }
  const Succession all = succession(successors);
  const Timeline timeline = shiplap::simulate(all.schedule, *profile_).timeline;
  const std::size_t last = successors.size() - 1;
  const Span own = all.span(timeline, last);
  added.end = last > 0 ? runs_[last - 1].end + (own.end - all.span(timeline, last - 1).end) : now_ + own.end;
  added.timeline.makespan = own.end - own.start;
  for (std::uint32_t i = all.first[last]; i < all.first[last + 1]; ++i) {
    const Span& span = timeline.spans[i];
    added.timeline.spans.push_back(
        {.start = span.start - own.start, .end = span.end - own.start, .engine = span.engine});
  }
  return added;
}

Seconds VirtualStreams::wait(std::uint64_t number) {
  for (Run& run : runs_) {
    if (run.number != number) continue;
    run.has_ended = true;
    now_ = std::max(now_, run.end);
  }
  return now_;
}

VirtualExecution::VirtualExecution(std::shared_ptr<const Profile> profile, Schedule schedule, Bindings bindings,
                                   std::shared_ptr<VirtualStreams> streams, VirtualBytes bytes)
    : profile_(std::move(profile)),
      schedule_(std::move(schedule)),
      bindings_(std::move(bindings)),
      streams_(std::move(streams)),
      bytes_(bytes),
      stated_(simulate(schedule_, *profile_)) {
  if (!schedule_.lists.empty() || !bindings_.lists.empty()) lists_.emplace(schedule_, bindings_);
  if (can_be_held(schedule_)) held_ = simulate(schedule_, *profile_, {.held = true});
  order_.resize(schedule_.ops.size());
  std::iota(order_.begin(), order_.end(), 0u);
  const auto& spans = stated_.timeline.spans;
  // An op starts after everything it depends on has ended; equal times only occur in submission order.
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return spans[a].start < spans[b].start; });
}

VirtualExecution::~VirtualExecution() {
  if (submitted_ && run_) streams_->wait(*run_);
}

void VirtualExecution::submit(const RunOptions& options) {
  if (submitted_) throw Error("a run was submitted that is still in flight: wait for it first");
  const bool shared = streams_.use_count() > 1;
  if (options.hold && !held_)
    throw Unsupported("a schedule whose host waits for some of its ops cannot be held until it is submitted");
  if (options.hold && shared)
    throw Unsupported(
        "an execution that shares its streams cannot be held: run it without holding, or prepare it with streams of "
        "its own");
  static_cast<void>(Deadline::in(options.limit));  // refuses what is no time limit
  if (lists_) lists_->check();
  limit_ = options.limit;
  const std::optional<Schedule> told = perform(options);
  const Prediction& stated = options.hold ? *held_ : stated_;
  RunResult result;
  Timeline timeline;
  run_.reset();
  if (shared) {
    const VirtualStreams::Run& run = streams_->submit(told ? *told : schedule_);
    run_ = run.number;
    timeline = run.timeline;
  } else {
    timeline = told ? simulate(*told, *profile_, {.held = options.hold}).timeline : stated.timeline;
  }
  result.submission = stated.submission;
  result.timeline.makespan = options.timed.is_none() ? timeline.makespan : end_of(options.timed, timeline);
  result.host_total = std::max(result.submission, timeline.makespan);
  const bool by_agents = std::ranges::any_of(schedule_.ops, [](const Op& op) { return op.stream.is_none(); });
  if (by_agents) result.host_spans.resize(schedule_.ops.size());
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i) {
    if (schedule_.ops[i].stream.is_none()) result.host_spans[i] = timeline.spans[i];
    if (options.trace == Trace::kernels && !std::holds_alternative<Kernel>(schedule_.ops[i].what))
      timeline.spans[i] = {};
  }
  if (options.trace != Trace::none) {
    result.timeline.spans = std::move(timeline.spans);
    result.trace_source = "simulation";
  }
  submitted_ = std::move(result);
}

RunResult VirtualExecution::wait() {
  if (!submitted_) throw Error("no run was submitted: submit one before waiting for it");
  RunResult result = std::move(*submitted_);
  submitted_.reset();
  if (limit_ > Seconds{0} && result.host_total > limit_) {
    // The bytes have moved already, and the simulated clock tells what the host would have waited for.
    static_cast<void>(run_ ? streams_->wait(*run_) : streams_->pass(result.host_total));
    throw TimedOut(fmt::format("the run takes {} on the simulated GPU, which is above its time limit of {}",
                               to_string(result.host_total), to_string(limit_)));
  }
  result.ended = run_ ? streams_->wait(*run_) : streams_->pass(result.host_total);
  return result;
}

Seconds VirtualExecution::end_of(StreamId stream, const Timeline& timeline) const {
  Seconds end{0};
  for (std::size_t i = 0; i < schedule_.ops.size(); ++i)
    if (schedule_.ops[i].stream == stream) end = std::max(end, timeline.spans[i].end);
  return end;
}

// As on a GPU: a host agent whose op fails, or that is told to stop, submits nothing more, and the others begin no
// further chunk and launch no further kernel. The output of a chunk whose kernel is not launched stays as it was.
std::optional<Schedule> VirtualExecution::perform(const RunOptions& options) {
  if (schedule_.as_graph && options.stop && options.stop())
    throw Cancelled("the run was stopped before its graph was launched");
  std::optional<Schedule> told;
  std::exception_ptr failure;
  std::vector<bool> done(schedule_.ops.size());
  std::vector<std::uint32_t> ends(schedule_.agents.size(), static_cast<std::uint32_t>(schedule_.ops.size()));
  std::set<std::uint32_t> begun;  // chunks
  for (const std::uint32_t i : order_) {
    const Op& op = schedule_.ops[i];
    std::uint32_t& end = ends[op.agent.index()];
    if (i > end) continue;
    if (!std::ranges::all_of(op.after, [&](OpId before) { return done[before.index()]; })) {
      end = i;
      continue;
    }
    try {
      const bool begins = !schedule_.as_graph && begun.insert(op.chunk).second;
      const bool goes_on =
          begins || (schedule_.agents.size() > 1 && std::holds_alternative<Kernel>(op.what) && !schedule_.as_graph);
      if (goes_on && (failure || (options.stop && options.stop())))
        throw Cancelled(fmt::format("the run was stopped before {}", describe(schedule_, OpId{i})));
      const std::optional<Seconds> work = perform(OpId{i});
      done[i] = true;
      if (!work) continue;
      if (!told) told = schedule_;
      std::get<Kernel>(told->ops[i].what).work = *work;
    } catch (...) {
      if (!failure) failure = std::current_exception();
      end = i;
    }
  }
  if (failure) std::rethrow_exception(failure);
  return told;
}

// What a kernel throws gets the name of the kernel and its chunk, as on a GPU.
std::optional<Seconds> VirtualExecution::perform(OpId id) const {
  const Op& op = schedule_.ops[id.index()];
  const auto named = [&](const char* what) { return fmt::format("{}: {}", describe(schedule_, id), what); };
  if (const auto* kernel = std::get_if<Kernel>(&op.what)) try {
      return perform(*kernel);
    } catch (const Cancelled&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const Unsupported& error) {
      std::throw_with_nested(Unsupported(named(error.what())));
    } catch (const std::exception& error) {
      std::throw_with_nested(Error(named(error.what())));
    } catch (...) {
      std::throw_with_nested(Error(named("it has thrown something that says nothing of itself (no std::exception)")));
    }
  if (bytes_ == VirtualBytes::moved) move(op);
  return std::nullopt;
}

void VirtualExecution::rebind(const Bindings& bindings) {
  if (submitted_) throw Unsupported("a run is in flight: wait for it before its memory changes");
  for (const Op& op : schedule_.ops)
    if ((!std::holds_alternative<Copy>(op.what) && !std::holds_alternative<HostCopy>(op.what)) || op.batched)
      throw Unsupported("only copies that are submitted one by one get other memory: prepare another execution");
  bindings_ = bindings;
}

void VirtualExecution::move(const Op& op) const {
  const auto copied = [&](const auto& copy) { std::memcpy(at(copy.to), at(copy.from), copy.from.length.count); };
  if (const auto* copy = std::get_if<Copy>(&op.what))
    copied(*copy);
  else if (const auto* host = std::get_if<HostCopy>(&op.what))
    if (const FileBytes* file = bindings_.file_of(host->from.buffer.index()))
      read_file(*file, host->from.offset, at(host->to), host->from.length);
    else
      copied(*host);
  else if (const auto* blocks = std::get_if<BlockCopy>(&op.what))
    move_on_host(block_move(schedule_, *blocks, bindings_));
}

std::optional<Seconds> VirtualExecution::perform(const Kernel& kernel) const {
  std::vector<std::byte*> operands;
  std::vector<Bytes> lengths;
  std::vector<Bytes> origins;
  for (const Access& operand : kernel.operands) {
    operands.push_back(at(operand.region));
    lengths.push_back(operand.region.length);
    origins.push_back(operand.origin);
  }
  const Launch launch{.first_item = kernel.first_item,
                      .items = kernel.items,
                      .operands = operands,
                      .lengths = lengths,
                      .origins = origins,
                      .blocks = kernel.blocks};
  const KernelBinding& binding = bindings_.kernels[kernel.kernel.index()];
  const std::optional<Seconds> takes = binding.duration ? std::optional(binding.duration(launch)) : std::nullopt;
  if (bytes_ == VirtualBytes::moved) binding.host(launch);
  return takes;
}

}  // namespace shiplap
