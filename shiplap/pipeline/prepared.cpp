#include "shiplap/pipeline/prepared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/pipeline/kept_arrays.hpp"
#include "shiplap/pipeline/planned_job.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

/// A schedule in which the host touches all managed buffers, so that their pages are on the host, where the pipeline
/// expects them.
Schedule all_on_the_host(const Schedule& schedule) {
  Schedule back;
  back.buffers = schedule.buffers;
  for (std::uint32_t b = 0; b < back.buffers.size(); ++b) {
    if (back.buffers[b].memory != MemoryKind::managed || back.buffers[b].size.count == 0) continue;
    back.buffers[b].place = Place::gpu();
    back.add({.what = HostCall{.kind = HostCall::Kind::touch, .region = {BufferId{b}, Bytes{0}, back.buffers[b].size}},
              .stream = {},
              .agent = AgentId{0},
              .after = {},
              .chunk = 0});
  }
  return back;
}

}  // namespace

struct Prepared::Parts {
  bool overdue() const;
  std::shared_ptr<Device> device;  // destroyed last, because the executions use it
  std::shared_ptr<const Schedule> schedule;
  std::size_t given = 0;                           ///< number of buffers that the caller has bound
  std::vector<IndexList> lists;                    ///< indices of the caller, by BlockListId
  std::vector<std::vector<std::uint32_t>> narrow;  ///< the same as the device reads them; empty for a list that it
                                                   ///< reads itself
  std::vector<Memory> own;                         ///< memory that the constructor allocated for buffers
  std::vector<Memory> handed;                      ///< memory that the runs need, from `keep`
  KeptArrays kept_arrays;
  bool in_flight = false;                 ///< whether a run was submitted and not waited for
  std::unique_ptr<Execution> bring_back;  ///< moves managed pages to the host; null without managed arrays
  std::unique_ptr<Execution> execution;
};

Prepared::Prepared(Device& device, Schedule schedule, std::vector<std::byte*> given, const KernelBinding& kernel,
                   const Prepared* behind, std::vector<IndexList> lists)
    : Prepared(device, schedule,
               Bindings{.buffers = std::move(given), .kernels = std::vector(schedule.kernels.size(), kernel)}, behind,
               std::move(lists)) {}

Prepared::Prepared(Device& device, Schedule schedule, Bindings given, const Prepared* behind,
                   std::vector<IndexList> lists)
    : parts_(new Parts) {
  Parts& p = *parts_;
  p.device = shared_device(device);
  p.schedule = std::make_shared<const Schedule>(std::move(schedule));
  Bindings bindings = std::move(given);
  p.given = bindings.buffers.size();
  p.narrow.resize(lists.size());
  p.lists = std::move(lists);
  for (std::size_t i = 0; i < p.lists.size(); ++i) {
    const IndexList& list = p.lists[i];
    const bool is_read_by_device = list.width == sizeof(std::uint32_t) && !list.is_signed;
    if (list.data != nullptr && !is_read_by_device) p.narrow[i].resize(list.count);
    const auto* own = static_cast<const std::uint32_t*>(list.data);
    bindings.lists.push_back(p.narrow[i].empty() ? std::span(own, list.count)
                                                 : std::span<const std::uint32_t>(p.narrow[i]));
  }
  for (std::size_t b = p.given; b < p.schedule->buffers.size(); ++b) {
    const Buffer& buffer = p.schedule->buffers[b];
    p.own.push_back(device.allocate(buffer.place, buffer.memory, buffer.size));
    bindings.buffers.push_back(p.own.back().data());
  }
  p.execution = behind != nullptr ? device.prepare_behind(*behind->parts_->execution, *p.schedule, bindings)
                                  : device.prepare(*p.schedule, bindings);
  p.kept_arrays = KeptArrays(device, *p.schedule, bindings.buffers);
  const Schedule back = all_on_the_host(*p.schedule);
  if (!back.ops.empty()) p.bring_back = device.prepare(back, {.buffers = bindings.buffers, .kernels = {}});
}

void Prepared::Release::operator()(Parts* parts) const {
  if (!parts->overdue()) delete parts;
}

bool Prepared::Parts::overdue() const {
  return (execution != nullptr && execution->overdue()) || kept_arrays.overdue();
}

bool Prepared::overdue() const { return parts_->overdue(); }

std::vector<LaunchShape> Prepared::launches() const { return parts_->execution->launches(); }

const Schedule& Prepared::schedule() const { return *parts_->schedule; }

void Prepared::changed(std::string_view array) { parts_->kept_arrays.changed(array); }

void Prepared::changed() { parts_->kept_arrays.changed(); }

void Prepared::check_kept(bool on) { parts_->kept_arrays.check(on); }

void Prepared::fetch(std::string_view array, const RunOptions& options) {
  require_no_run("fetch");
  parts_->kept_arrays.fetch(array, options);
}

void Prepared::fetch(const RunOptions& options) {
  require_no_run("fetch");
  parts_->kept_arrays.fetch(options);
}

void Prepared::require_no_run(std::string_view call) const {
  if (parts_->in_flight || parts_->overdue())
    throw Error(fmt::format("`{}`: a run that uses the arrays is in flight: wait for its end first", call));
}

RunResult Prepared::run(const RunOptions& options) {
  if (parts_->schedule->ops.empty()) return {};
  submit(options);
  return wait();
}

// While a run or a copy of a kept array uses the memory, nothing is copied there. The execution refuses a second run.
void Prepared::submit(const RunOptions& options) {
  Parts& p = *parts_;
  if (p.kept_arrays.overdue())
    throw Error(
        "a copy of an array that stays on the GPU has passed its time limit and still uses the memory: wait until "
        "`overdue` is false");
  if (p.in_flight || p.execution->overdue()) return p.execution->submit(options);
  if (p.bring_back) p.bring_back->run();
  read_lists();
  const RunOptions left = p.kept_arrays.copy(options);
  try {
    p.execution->submit(left);
  } catch (...) {
    p.kept_arrays.run_failed();
    throw;
  }
  p.in_flight = true;
}

void Prepared::capture(void* stream) {
  if (parts_->bring_back)
    throw Unsupported(
        "the host brings managed arrays back before each run, which CUDA cannot capture: use arrays in pinned or "
        "pageable memory");
  if (parts_->kept_arrays.any_outdated())
    throw Unsupported(
        "an array that stays on the GPU is not there yet, or has changed since, and a graph would copy it each time: "
        "run once before the capture");
  read_lists();
  parts_->execution->capture(stream);
}

// The device reads lists of unsigned 32-bit indices itself.
void Prepared::read_lists() {
  for (std::size_t i = 0; i < parts_->narrow.size(); ++i)
    for (std::size_t k = 0; k < parts_->narrow[i].size(); ++k) {
      const std::uint64_t index = parts_->lists[i][k];
      if (index > std::numeric_limits<std::uint32_t>::max())
        throw UsageError(fmt::format(
            "{}: index {} at position {} is outside of the pool", parts_->schedule->lists[i].name,
            parts_->lists[i].is_signed ? std::to_string(static_cast<std::int64_t>(index)) : std::to_string(index), k));
      parts_->narrow[i][k] = static_cast<std::uint32_t>(index);
    }
}

RunResult Prepared::wait() {
  const bool was_submitted = std::exchange(parts_->in_flight, false);
  try {
    return parts_->execution->wait();
  } catch (...) {
    if (was_submitted) parts_->kept_arrays.run_failed();
    throw;
  }
}

void Prepared::keep(std::vector<Memory> memory) {
  parts_->handed.insert(parts_->handed.end(), std::make_move_iterator(memory.begin()),
                        std::make_move_iterator(memory.end()));
}

const Memory& Prepared::own(BufferId buffer) const { return parts_->own.at(buffer.index() - parts_->given); }

std::vector<std::byte*> data_of(const Job& job) {
  std::vector<std::byte*> data;
  for (const Array& array : job.arrays) {
    if (array.data == nullptr && size_on_host(array).count > 0)
      throw UsageError(
          fmt::format("{}: only the shape of array {} is known, so the job can be planned and not run: give the array "
                      "memory, as in "
                      "`.in(name, data)` or Array::data",
                      job.name, array.name));
    data.push_back(array.data);
  }
  const auto overlap = [](const Array& a, const Array& b) {
    const std::uint64_t of_a = size_on_host(a).count;
    const std::uint64_t of_b = size_on_host(b).count;
    return of_a > 0 && of_b > 0 && a.data < b.data + of_b && b.data < a.data + of_a;
  };
  for (std::size_t a = 0; a < job.arrays.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if ((is_written(job.arrays[a].role) || is_written(job.arrays[b].role)) && overlap(job.arrays[a], job.arrays[b]))
        throw UsageError(fmt::format(
            "{}: arrays {} and {} share memory, and one of them is written, so chunks would read what other "
            "chunks have written: use one inout array, or separate memory",
            job.name, job.arrays[b].name, job.arrays[a].name));
  return data;
}

std::vector<IndexList> lists_of(const Job& job) {
  std::vector<IndexList> lists;
  for (const Array& array : job.arrays)
    if (array.blocks) lists.push_back(array.blocks->indices);
  return lists;
}

Prepared prepare(Device& device, const Job& job, const Candidate& candidate) {
  return {device, *candidate.schedule, data_of(job), job.binding, nullptr, lists_of(job)};
}

Prepared prepare(Device& device, const Job& job, const Choice& choice, const Limits& limits) {
  std::vector<std::byte*> data = data_of(job);
  return {device,          find_strategy(choice.strategy).schedule(job, choice, limits),
          std::move(data), job.binding,
          nullptr,         lists_of(job)};
}

Prepared prepare(Device& device, const Plan& plan, const Job& given) {
  const Job job = planned_job(plan, given);
  for (const Array& array : job.arrays)
    if (array.data != nullptr && (device.kind_of(array.data) == MemoryKind::device) != is_on_gpu(array))
      throw UsageError(fmt::format("{}: array {} is {} the GPU, and was {}when the job was planned: plan this job",
                                   job.name, array.name, is_on_gpu(array) ? "not on" : "on",
                                   is_on_gpu(array) ? "" : "not "));
  std::vector<Memory> pinned_arrays;
  if (plan.pins) pinned_arrays = pin_arrays(device, job);
  Prepared prepared = has_reach_by_function(job) ? prepare(device, job, plan.chosen.choice, plan.limits)
                                                 : prepare(device, job, plan.chosen);
  prepared.keep(std::move(pinned_arrays));
  return prepared;
}

}  // namespace shiplap
