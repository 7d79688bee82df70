#include "shiplap/pipeline/kept_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "shiplap/core/deadline.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {
namespace {

bool is_written(const Schedule& schedule, BufferId buffer) {
  return std::ranges::any_of(schedule.ops, [&](const Op& op) {
    bool writes = false;
    for_each_access(op, [&](const Region& region, AccessMode mode) {
      writes = writes || (region.buffer == buffer && mode == AccessMode::write);
    });
    return writes;
  });
}

std::size_t hash_of(std::string_view bytes) { return std::hash<std::string_view>{}(bytes); }

/// The options with what is left of the time limit since `began`.
RunOptions left_of(RunOptions options, Seconds began) {
  if (options.limit > Seconds{0})
    options.limit = std::max(options.limit - (steady_time() - began), Seconds{microseconds(1)});
  return options;
}

}  // namespace

KeptArrays::KeptArrays(Device& device, const Schedule& schedule, const std::vector<std::byte*>& buffers) {
  std::map<std::uint32_t, std::vector<KeptArray>> on_gpus;  // by the buffer of the host
  for (const KeptArray& array : schedule.kept) on_gpus[array.host.value].push_back(array);
  for (const auto& [index, copies] : on_gpus) {
    const auto prepared = [&, &copies = copies](CopyDirection way) {
      return device.prepare(copies_of_kept(schedule, copies, way), {.buffers = buffers, .kernels = {}});
    };
    const Buffer& host = schedule.buffers[index];
    arrays_.push_back(
        {.name = host.name,
         .host = {reinterpret_cast<const char*>(buffers[index]), host.size.count},
         .to_gpu = prepared(CopyDirection::host_to_device),
         .to_host = is_written(schedule, copies.front().gpu) ? prepared(CopyDirection::device_to_host) : nullptr});
  }
}

KeptArrays::Kept& KeptArrays::find(std::string_view array) {
  const auto found = std::ranges::find(arrays_, array, &Kept::name);
  if (found != arrays_.end()) return *found;
  throw UsageError(fmt::format(
      "{}: no array of this name stays on the GPU from run to run: describe it with `.kept` or `.kept_state`", array));
}

void KeptArrays::Kept::mark_changed() {
  outdated = true;
  undefined = false;
}

void KeptArrays::Kept::require_defined() const {
  if (undefined && !outdated)
    throw Error(fmt::format(
        "{0}: a run that writes it has failed, so it may be changed in part on the GPU: give it its values in "
        "host memory, and call `changed(\"{0}\")`",
        name));
}

void KeptArrays::Kept::require_unchanged() {
  const std::size_t now = hash_of(host);
  if (hash.value_or(now) != now)
    throw Error(fmt::format(
        "{0}: the array stays on the GPU, and its values in host memory have changed since they were copied, "
        "so the run would use the earlier ones: call `changed(\"{0}\")` after a change",
        name));
  hash = now;
}

void KeptArrays::changed() {
  for (Kept& array : arrays_) array.mark_changed();
}

void KeptArrays::fetch(std::string_view array, const RunOptions& options) {
  Kept& kept = find(array);
  if (kept.to_host == nullptr)
    throw UsageError(fmt::format(
        "{}: no kernel writes this array, so the caller's memory holds it already: describe it with `.kept_state` if "
        "kernels are to change it",
        array));
  fetch(kept, options);
}

void KeptArrays::fetch(const RunOptions& options) {
  const Seconds began = steady_time();
  for (Kept& array : arrays_)
    if (array.to_host != nullptr) fetch(array, left_of(options, began));
}

void KeptArrays::fetch(Kept& array, const RunOptions& options) {
  if (array.outdated)
    throw Error(fmt::format(
        "{}: no run has copied it to the GPU since it was described or changed: run first, then `fetch`", array.name));
  array.require_defined();
  array.to_host->run({.stop = options.stop, .limit = options.limit});
  if (array.hash) array.hash = hash_of(array.host);
}

RunOptions KeptArrays::copy(const RunOptions& options) {
  const Seconds began = steady_time();
  for (Kept& array : arrays_) {
    array.require_defined();
    if (!array.outdated) {
      if (checks_) array.require_unchanged();
      continue;
    }
    array.to_gpu->run({.stop = options.stop, .limit = left_of(options, began).limit});
    array.outdated = false;
    array.hash = checks_ ? std::optional(hash_of(array.host)) : std::nullopt;
  }
  return arrays_.empty() ? options : left_of(options, began);
}

void KeptArrays::run_failed() {
  for (Kept& array : arrays_) array.undefined = array.undefined || array.to_host != nullptr;
}

bool KeptArrays::any_outdated() const { return std::ranges::any_of(arrays_, &Kept::outdated); }

bool KeptArrays::overdue() const {
  return std::ranges::any_of(arrays_, [](const Kept& array) {
    return array.to_gpu->overdue() || (array.to_host != nullptr && array.to_host->overdue());
  });
}

}  // namespace shiplap
