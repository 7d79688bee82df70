#include "shiplap/workload/step_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

/// Memory that arrays of a step have together.
struct Whole {
  std::byte* begin;
  std::byte* end;
  std::string name{};  ///< name of the largest array
  Bytes largest{};
};

bool has_memory(const Array& array) {
  return array.role != Role::scratch && array.data != nullptr && array.size.count > 0 && !array.blocks &&
         !array.prefix_of;
}

std::vector<Whole> wholes_of(const Step& step) {
  std::vector<Array> arrays;
  for (const auto& part : step.parts)
    if (const Job* const job = std::get_if<Job>(&part))
      std::ranges::copy_if(job->arrays, std::back_inserter(arrays), has_memory);
  std::ranges::stable_sort(arrays, {}, &Array::data);
  std::vector<Whole> wholes;
  for (const Array& array : arrays) {
    if (wholes.empty() || array.data >= wholes.back().end) wholes.push_back({.begin = array.data, .end = array.data});
    Whole& whole = wholes.back();
    whole.end = std::max(whole.end, array.data + array.size.count);
    if (array.size <= whole.largest) continue;
    whole.name = array.name;
    whole.largest = array.size;
  }
  return wholes;
}

/// The reach of a part in elements of the whole, of which it begins at `first`.
Reach reach_in_whole(const Job& job, const Array& part, std::uint64_t first) {
  if (part.role == Role::broadcast)
    return mapped_by([all = ElementRange{first, part.size.count / part.element.count}](ItemRange) { return all; });
  // Only these facts of the job are needed, and the mapping must outlive it.
  Job shape;
  shape.items = job.items;
  shape.name = job.name;
  const auto known = std::make_shared<const std::pair<Job, Array>>(std::move(shape), part);
  return mapped_by([known, first](ItemRange items) -> ElementRange {
    const ByteRange reach = reach_of(known->first, known->second, items);
    const std::uint64_t element = known->second.element.count;
    return {first + reach.offset.count / element, reach.length.count / element};
  });
}

/// Makes an array of the job the whole. Returns how far behind the begin of the whole the array begins.
Bytes widen(const Step& step, const Job& job, Array& array, const Whole& whole) {
  const Bytes offset{static_cast<std::uint64_t>(array.data - whole.begin)};
  const Bytes size{static_cast<std::uint64_t>(whole.end - whole.begin)};
  if (array.role == Role::carried || array.kept)
    throw UsageError(fmt::format("{}: {} of {} is {}, and other kernels use more of its memory: give them one array",
                                 step.name, array.name, job.name, array.kept ? "kept" : "carried"));
  if (offset.count % array.element.count != 0 || size.count % array.element.count != 0)
    throw UsageError(
        fmt::format("{}: {} of {} overlaps other arrays, and does not begin at one of their elements, or "
                    "has elements of another size",
                    step.name, array.name, job.name));
  array.reach = reach_in_whole(job, array, offset.count / array.element.count);
  if (array.role == Role::broadcast) array.role = Role::in;
  array.data = whole.begin;
  array.size = size;
  array.part_of = whole.name;
  return offset;
}

/// The kernel function, called with offsets in the job's own arrays.
template <class Function>
Function with_own_origins(const Function& function, const std::vector<Bytes>& offsets) {
  if (!function) return {};
  return [function, offsets](const Launch& launch) {
    Launch own = launch;
    std::vector<Bytes> origins(launch.origins.begin(), launch.origins.end());
    for (std::size_t a = 0; a < std::min(origins.size(), offsets.size()); ++a) origins[a] = origins[a] - offsets[a];
    own.origins = origins;
    return function(own);
  };
}

}  // namespace

Step with_whole_arrays(Step step) {
  const std::vector<Whole> wholes = wholes_of(step);
  for (auto& part : step.parts) {
    Job* const job = std::get_if<Job>(&part);
    if (job == nullptr) continue;
    std::vector<Bytes> offsets(job->arrays.size());
    bool is_changed = false;
    for (std::size_t a = 0; a < offsets.size(); ++a) {
      Array& array = job->arrays[a];
      if (!has_memory(array)) continue;
      const Whole& whole = *std::ranges::find_if(wholes, [&](const Whole& one) { return array.data < one.end; });
      if (array.data == whole.begin && array.data + array.size.count == whole.end) continue;
      offsets[a] = widen(step, *job, array, whole);
      is_changed = true;
    }
    if (!is_changed) continue;
    for (KernelFunction* const function : {&job->binding.host, &job->binding.cuda})
      *function = with_own_origins(*function, offsets);
    job->binding.duration = with_own_origins(job->binding.duration, offsets);
  }
  return step;
}

}  // namespace shiplap
