#include "shiplap/cluster/share_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

const LocalPart* find_held(const std::vector<LocalPart>& all, const Array& array) {
  const auto found = std::ranges::find(all, array.name, &LocalPart::array);
  return found == all.end() ? nullptr : &*found;
}

void require_possible_share(const Job& whole, ItemRange items, const std::vector<LocalPart>& held) {
  if (items.count == 0)
    throw UsageError(fmt::format("{}: a rank without items has no job: run nothing on this rank", whole.name));
  if (items.first > whole.items || items.count > whole.items - items.first)
    throw UsageError(fmt::format("{}: a share of the items [{}, {}), and the job has {}", whole.name, items.first,
                                 items.first + items.count, whole.items));
  for (const Array& array : whole.arrays)
    if (array.role == Role::carried)
      throw UsageError(
          fmt::format("{}: array {} is carried from one chunk to the next, so a rank could begin only when the one "
                      "before has ended: give each rank an output array of its own, and combine these",
                      whole.name, array.name));
  for (const LocalPart& one : held)
    if (std::ranges::find(whole.arrays, one.array, &Array::name) == whole.arrays.end())
      throw UsageError(
          fmt::format("{}: elements are held of {}, and no array of the job has that name", whole.name, one.array));
}

/// The address of the element `first` of a distributed array.
std::byte* address_of(const Job& whole, const Array& array, const LocalPart& held, ElementRange needed) {
  if (held.element != array.element)
    throw UsageError(fmt::format("{}: the elements held of {} have {} and those of the job {}", whole.name, array.name,
                                 to_string(held.element), to_string(array.element)));
  if (needed.count == 0) return held.data;
  const ElementRange& has = held.elements;
  if (held.data == nullptr || needed.first < has.first || needed.first + needed.count > has.first + has.count)
    throw UsageError(fmt::format(
        "{}: the items of this rank reach the elements [{}, {}) of {}, and it holds [{}, {}): let it hold "
        "all of them, halo included (elements_of_share)",
        whole.name, needed.first, needed.first + needed.count, array.name, has.first, has.first + has.count));
  return held.data + (needed.first - has.first) * array.element.count;
}

/// The reach of an array of the share: that of the whole array, in elements of the share.
Reach reach_in_share(const Job& whole, const Array& array, ItemRange items, ElementRange has) {
  if (!array.reach.elements && array.reach.before == 0 && array.reach.after == 0) return own_items;
  // Only these facts of the job are needed, and the mapping must outlive it.
  Job shape;
  shape.items = whole.items;
  shape.name = whole.name;
  const auto in_whole = std::make_shared<const std::pair<Job, Array>>(std::move(shape), array);
  return mapped_by([in_whole, items, has](ItemRange range) -> ElementRange {
    const auto& [job, mapped] = *in_whole;
    const ElementRange reach = elements_of_share(job, mapped, {items.first + range.first, range.count});
    if (reach.count == 0) return {std::clamp(reach.first, has.first, has.first + has.count) - has.first, 0};
    if (reach.first < has.first || reach.first + reach.count > has.first + has.count)
      throw UsageError(
          fmt::format("{}: the mapping of {} gives some of the items [{}, {}) elements that it does not give all of "
                      "them together",
                      job.name, mapped.name, items.first, items.first + items.count));
    return {reach.first - has.first, reach.count};
  });
}

/// The blocks that the items own, as a list in the same pool. `origin` becomes the offset of the share in the array of
/// all blocks.
Array blocks_of_share(const Job& whole, Array array, ItemRange items, const LocalPart* held, Bytes& origin) {
  if (held != nullptr)
    throw UsageError(
        fmt::format("{}: {} is an array of blocks, whose pool must be whole on every rank", whole.name, array.name));
  Blocks& blocks = *array.blocks;
  const std::uint64_t per_item = blocks.count / whole.items;
  const std::uint64_t first = per_item * items.first;
  blocks.count = per_item * items.count;
  array.size = blocks.block * blocks.count;
  origin = blocks.block * first;
  if (blocks.indices.data != nullptr) {
    blocks.indices.data = static_cast<const std::byte*>(blocks.indices.data) + first * blocks.indices.width;
    blocks.indices.count = blocks.count;
    return array;
  }
  blocks.pool = blocks.pool - blocks.pitch * first;
  if (array.data != nullptr) array.data += (blocks.pitch * first).count;
  return array;
}

/// A broadcast array, whole. A prefix of another array becomes an array of its own, because the share of the other one
/// may begin elsewhere.
Array resident_of_share(const Job& whole, Array array, const LocalPart* held) {
  if (array.prefix_of) {
    array.data = whole.arrays[*array.prefix_of].data;
    array.prefix_of.reset();
  }
  if (held != nullptr) array.data = address_of(whole, array, *held, {0, array.size.count / array.element.count});
  return array;
}

/// An array that is cut. `origin` becomes the offset of the share in the whole array.
Array cut_of_share(const Job& whole, Array array, ItemRange items, const LocalPart* held, Bytes& origin) {
  ElementRange has = elements_of_share(whole, array, items);
  const ElementRange needed = has;
  const std::uint64_t all = array.size.count / array.element.count;
  // An array has at least one element, although a mapping may give these items none.
  if (has.count == 0 && all > 0) has = {std::min(has.first, all - 1), 1};
  array.reach = reach_in_share(whole, array, items, has);
  origin = array.element * has.first;
  array.size = array.element * has.count;
  if (held != nullptr)
    array.data = address_of(whole, array, *held, needed);
  else if (array.data != nullptr)
    array.data += origin.count;
  return array;
}

/// The kernel function, called with indices of the whole job.
template <class Function>
Function in_indices_of_whole(const Function& function, ItemRange items, const std::vector<Bytes>& origins) {
  if (!function) return {};
  return [function, items, origins](const Launch& launch) {
    std::vector<Bytes> moved = origins;
    for (std::size_t i = 0; i < std::min(moved.size(), launch.origins.size()); ++i) moved[i] += launch.origins[i];
    Launch in_whole = launch;
    in_whole.first_item += items.first;
    in_whole.origins = moved;
    return function(in_whole);
  };
}

}  // namespace

ElementRange elements_of_share(const Job& whole, const std::string& array, ItemRange items) {
  const auto found = std::ranges::find(whole.arrays, array, &Array::name);
  if (found == whole.arrays.end())
    throw UsageError(fmt::format("{}: no array of the job has the name {}", whole.name, array));
  return elements_of_share(whole, *found, items);
}

double items_before(const Job& job, std::uint64_t item) {
  const bool even = std::ranges::none_of(
      job.arrays, [](const Array& array) { return is_input(array.role) && bool(array.reach.elements); });
  if (even || item == 0 || item >= job.items) return static_cast<double>(std::min(item, job.items));
  return static_cast<double>(item) * density(job, {0, item});
}

KernelCost cost_at_density(KernelCost cost, double density) {
  if (density == 1 || cost.points.empty()) return cost;
  const KernelCost known = cost;
  const auto fewer = [density](std::uint64_t items) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(static_cast<double>(items) / density)));
  };
  // The number of items is rounded, and the time follows it.
  const auto move = [&](auto& point) {
    const std::uint64_t items = fewer(point.items);
    const double factor = static_cast<double>(items) * density / static_cast<double>(point.items);
    point.items = items;
    point.work = {point.work.value * factor, point.work.low * factor, point.work.high * factor};
  };
  for (KernelCost::Point& point : cost.points) move(point);
  for (KernelCost::Limited& point : cost.limited) move(point);
  for (KernelCost::ZeroCopy& row : cost.zero_copy) {
    for (KernelCost::Point& point : row.alone) move(point);
    for (KernelCost::Point& point : row.beside) move(point);
  }
  if (known.cached_items > 0) cost.cached_items = fewer(known.cached_items);
  return cost;
}

Job job_of_share(const Job& whole, ItemRange items, const std::vector<LocalPart>& held) {
  require_possible_share(whole, items, held);
  Job part = whole;
  part.items = items.count;
  std::vector<Bytes> origins(whole.arrays.size());
  for (std::size_t a = 0; a < whole.arrays.size(); ++a) {
    const Array& array = whole.arrays[a];
    const LocalPart* const own = find_held(held, array);
    if (array.blocks)
      part.arrays[a] = blocks_of_share(whole, array, items, own, origins[a]);
    else if (stays(array.role))
      part.arrays[a] = resident_of_share(whole, array, own);
    else
      part.arrays[a] = cut_of_share(whole, array, items, own, origins[a]);
  }
  const double here = items_before(whole, items.first + items.count) - items_before(whole, items.first);
  const double fraction = here / static_cast<double>(whole.items);
  part.flops = whole.flops * fraction;
  part.device_traffic = Bytes{static_cast<std::uint64_t>(std::llround(in_bytes(whole.device_traffic) * fraction))};
  part.cost = cost_at_density(whole.cost, here / static_cast<double>(items.count));
  part.binding.host = in_indices_of_whole(whole.binding.host, items, origins);
  part.binding.cuda = in_indices_of_whole(whole.binding.cuda, items, origins);
  part.binding.duration = in_indices_of_whole(whole.binding.duration, items, origins);
  return part;
}

}  // namespace shiplap
