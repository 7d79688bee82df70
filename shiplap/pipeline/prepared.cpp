#include "shiplap/pipeline/prepared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/schedule.hpp"

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

Prepared::Prepared(Device& device, Schedule schedule, std::vector<std::byte*> given, const KernelBinding& kernel,
                   const Prepared* behind, std::vector<IndexList> lists)
    : parts_(new Parts) {
  Parts& p = *parts_;
  p.device = shared_device(device);
  p.schedule = std::make_shared<const Schedule>(std::move(schedule));
  p.given = given.size();
  p.narrow.resize(lists.size());
  p.lists = std::move(lists);
  Bindings bindings{.buffers = std::move(given), .kernels = {}};
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
  bindings.kernels.assign(p.schedule->kernels.size(), kernel);
  p.execution = behind != nullptr ? device.prepare_behind(*behind->parts_->execution, *p.schedule, bindings)
                                  : device.prepare(*p.schedule, bindings);
  prepare_kept(device, bindings.buffers);
  const Schedule back = all_on_the_host(*p.schedule);
  if (!back.ops.empty()) p.bring_back = device.prepare(back, {.buffers = bindings.buffers, .kernels = {}});
}

void Prepared::Release::operator()(Parts* parts) const {
  if (!parts->overdue()) delete parts;
}

bool Prepared::Parts::overdue() const {
  return (execution != nullptr && execution->overdue()) || std::ranges::any_of(kept_arrays, [](const Kept& array) {
           return array.to_gpu->overdue() || (array.to_host != nullptr && array.to_host->overdue());
         });
}

void Prepared::prepare_kept(Device& device, const std::vector<std::byte*>& buffers) {
  const Schedule& schedule = *parts_->schedule;
  const auto is_written = [&](const KeptArray& array) {
    bool written = false;
    for (const Op& op : schedule.ops)
      for_each_access(op, [&](const Region& region, AccessMode mode) {
        written = written || (region.buffer == array.gpu && mode == AccessMode::write);
      });
    return written;
  };
  for (auto first = schedule.kept.begin(); first != schedule.kept.end();) {
    const auto end =
        std::find_if(first, schedule.kept.end(), [&](const KeptArray& a) { return a.host != first->host; });
    const std::span arrays(first, end);
    const auto copies = [&](CopyDirection way) {
      return device.prepare(copies_of_kept(schedule, arrays, way), {.buffers = buffers, .kernels = {}});
    };
    const Buffer& host = schedule.buffers[first->host.index()];
    parts_->kept_arrays.push_back(
        {.name = host.name,
         .host = {reinterpret_cast<const char*>(buffers[first->host.index()]), host.size.count},
         .to_gpu = copies(CopyDirection::host_to_device),
         .to_host = is_written(*first) ? copies(CopyDirection::device_to_host) : nullptr});
    first = end;
  }
}

Prepared::Kept& Prepared::kept_array(std::string_view name) {
  const auto found = std::ranges::find(parts_->kept_arrays, name, &Kept::name);
  if (found != parts_->kept_arrays.end()) return *found;
  throw UsageError(fmt::format(
      "{}: no array of this name stays on the GPU from run to run: describe it with `.kept` or `.kept_state`", name));
}

void Prepared::changed(std::string_view array) { kept_array(array).outdated = true; }

void Prepared::changed() {
  for (Kept& array : parts_->kept_arrays) array.outdated = true;
}

void Prepared::fetch(std::string_view array) {
  Kept& kept = kept_array(array);
  if (kept.to_host == nullptr)
    throw UsageError(fmt::format(
        "{}: no kernel writes this array, so the caller's memory holds it already: describe it with `.kept_state` if "
        "kernels are to change it",
        array));
  fetch(kept);
}

void Prepared::fetch() {
  for (Kept& array : parts_->kept_arrays)
    if (array.to_host != nullptr) fetch(array);
}

void Prepared::fetch(Kept& array) {
  if (parts_->in_flight || parts_->overdue())
    throw Error(fmt::format("{}: a run that may write it is in flight: wait for the run before `fetch`", array.name));
  if (array.outdated)
    throw Error(
        fmt::format("{}: it is not on the GPU, because no run has copied it since it was described or "
                    "changed: run first, then `fetch`",
                    array.name));
  array.to_host->run();
  array.hash = 0;  // a checked run takes the hash of what came back
}

void Prepared::copy_kept(const RunOptions& options) {
  for (Kept& array : parts_->kept_arrays) {
    const auto hash = [&] { return std::hash<std::string_view>{}(array.host); };
    if (!array.outdated) {
      if (!parts_->checks_kept) continue;
      const std::size_t now = hash();
      if (array.hash != 0 && array.hash != now)
        throw Error(
            fmt::format("{0}: the array stays on the GPU, and its values in host memory have changed since they were "
                        "copied, so the "
                        "run would use the earlier ones: call `changed(\"{0}\")` after a change",
                        array.name));
      array.hash = now;
      continue;
    }
    array.to_gpu->run({.stop = options.stop, .limit = options.limit});
    array.outdated = false;
    array.hash = parts_->checks_kept ? hash() : 0;
  }
}

RunResult Prepared::run(const RunOptions& options) {
  if (parts_->schedule->ops.empty()) return {};
  submit(options);
  return wait();
}

void Prepared::submit(const RunOptions& options) {
  if (parts_->bring_back) parts_->bring_back->run();
  read_lists();
  copy_kept(options);
  parts_->execution->submit(options);
  parts_->in_flight = true;
}

void Prepared::capture(void* stream) {
  if (parts_->bring_back)
    throw Unsupported(
        "the host brings managed arrays back before each run, which CUDA cannot capture: use arrays in pinned or "
        "pageable memory");
  if (std::ranges::any_of(parts_->kept_arrays, &Kept::outdated))
    throw Unsupported(
        "an array that stays on the GPU has not been copied there yet, and a graph would copy it in each run: run once "
        "before the capture");
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
  parts_->in_flight = false;
  return parts_->execution->wait();
}

void Prepared::keep(std::vector<Memory> memory) {
  parts_->kept.insert(parts_->kept.end(), std::make_move_iterator(memory.begin()),
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

}  // namespace shiplap
