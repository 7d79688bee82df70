// The lower bound: the least time of the kernel and of the link.
#include "shiplap/plan/bound.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "shiplap/plan/kernel_times.hpp"
#include "shiplap/plan/link_states.hpp"
#include "shiplap/profile/variation.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {
namespace {

/// Most chunks for which the bytes of a mapped array are counted.
constexpr std::uint64_t most_mapped_chunks = 4096;

/// The bytes of the mapped array that the items need, counted over equal chunks, whose number is limited.
Bytes mapped_bytes(const Job& job, const Array& array, ItemRange items) {
  const std::uint64_t chunks = std::min(items.count, most_mapped_chunks);
  Bytes sum;
  Bytes end;
  for (std::uint64_t c = 0; c < chunks; ++c) {
    const auto at = [&](std::uint64_t chunk) {
      return items.first + static_cast<std::uint64_t>(static_cast<unsigned __int128>(items.count) * chunk / chunks);
    };
    const ByteRange reach = reach_of(job, array, {at(c), at(c + 1) - at(c)});
    const Bytes last = reach.offset + reach.length;
    if (last <= end) continue;
    sum += last - std::max(end, reach.offset);
    end = last;
  }
  return sum;
}

Bytes bytes_over_link(const Job& job, const Array& array, ItemRange items) {
  if (is_on_gpu(array)) return {};
  if (stays(array.role)) return is_copied_whole(array) ? array.size : Bytes{};
  return array.reach.elements ? mapped_bytes(job, array, items) : reach_of(job, array, items).length;
}

LinkBytes link_bytes(const Job& job, ItemRange items) {
  LinkBytes sum;
  for (const Array& array : job.arrays) {
    if (array.role == Role::scratch) continue;
    const double bytes = in_bytes(bytes_over_link(job, array, items));
    const bool in = array.role != Role::out && arrives(array);
    const bool out = (is_output(array.role) || array.role == Role::carried) && leaves(array);
    if (in) sum.in += bytes;
    if (out) sum.out += bytes;
    if (stays(array.role)) continue;
    if (in && out) sum.inouts += bytes;
    if (in && !out) sum.inputs += bytes;
    if (out && !in) sum.outputs += bytes;
  }
  return sum;
}

/// The bytes that cross the link before the first launch (`in`) and after the last one (`out`): those of arrays that
/// are copied whole. A kernel faults pages of managed memory over while it runs.
LinkBytes bytes_around_kernels(const Job& job) {
  LinkBytes sum;
  for (const Array& array : job.arrays) {
    if (!stays(array.role) || array.kept || array.memory == MemoryKind::managed) continue;
    if (arrives(array)) sum.in += in_bytes(array.size);
    if (array.role == Role::carried && leaves(array)) sum.out += in_bytes(array.size);
  }
  return sum;
}

/// The least time per item of one launch of at most `most` items, in seconds. The time is linear between points, so the
/// time per item is least at a point, at the end of a line or where a line leaves the floor.
double least_time_per_item(const KernelCost& cost, std::uint64_t most) {
  const std::uint64_t one_each = cost.has_floor ? std::max<std::uint64_t>(1, cost.points.front().items) : 1;
  const auto down = [&](std::uint64_t items) { return items / one_each * one_each; };
  const auto up = [&](std::uint64_t items) { return down(items + one_each - 1); };
  std::vector<std::uint64_t> sizes{1, one_each, down(most), most};
  for (const KernelCost::Point& point : cost.points) sizes.insert(sizes.end(), {point.items, up(point.items)});
  if (cost.cached_items > 0)
    sizes.insert(sizes.end(), {down(cost.cached_items), cost.cached_items, cost.cached_items + 1});
  double least = cost.launch_time(most).count() / static_cast<double>(most);
  for (const std::uint64_t items : sizes)
    if (items > 0 && items < most)
      least = std::min(least, cost.launch_time(items).count() / static_cast<double>(items));
  if (!cost.has_floor) return least;
  const double floor = cost.points.front().work.value.count();
  for (std::size_t i = 1; i + 1 < cost.points.size(); ++i) {
    const KernelCost::Point& low = cost.points[i];
    const KernelCost::Point& high = cost.points[i + 1];
    const double rise = (high.work.value - low.work.value).count();
    if (rise <= 0) continue;
    const double apart = static_cast<double>(up(high.items)) - static_cast<double>(up(low.items));
    const double crossing = static_cast<double>(up(low.items)) + (floor - low.work.value.count()) / rise * apart;
    if (crossing >= 1 && crossing < static_cast<double>(most)) least = std::min(least, floor / crossing);
  }
  return least;
}

/// The least times per item of a zero-copy launch. Below the first point the time is proportional to the items.
double least_time_per_item(const std::vector<KernelCost::Point>& points, std::uint64_t most) {
  const KernelCost::ZeroCopy times{.alone = points, .beside = {}};
  double least = times.at(most).count() / static_cast<double>(most);
  for (const KernelCost::Point& point : points)
    if (point.items < most) least = std::min(least, times.at(point.items).count() / static_cast<double>(point.items));
  return least;
}

/// The zero-copy launches that were measured of the job's kernel, over `items` items of average density.
std::vector<MeasuredZeroCopy> measured_zero_copy(const KernelCost& cost, std::uint64_t items, double per_item) {
  std::vector<MeasuredZeroCopy> rows;
  for (const KernelCost::ZeroCopy& row : cost.zero_copy) {
    if (row.alone.empty()) continue;
    const double alone = std::max(per_item, least_time_per_item(row.alone, items));
    const double beside = row.beside.empty() ? alone : std::max(alone, least_time_per_item(row.beside, items));
    const auto all = static_cast<double>(items);
    rows.push_back({row.in, row.out, alone * all, beside * all, row.copies_beside});
  }
  return rows;
}

/// The bound of the part of the job that one GPU does, with `links` times what its own link moves.
Bound bound_of_part(const Job& job, const Profile& profile, std::uint16_t gpu, ItemRange range, double links) {
  const std::uint64_t items = average_items(job, range);
  const KernelCost fast = at_interval_end(job, End::low).cost;
  const Parameter<Seconds>& latency = profile.gpus.at(gpu).launch_latency;
  const Seconds launch = latency ? latency->low : Seconds{0};
  // A cost with faster points may be slower between them, so both count. Launches that run at the same time may be as
  // fast per item as one over the whole job, also where a GPU has a part of it.
  const double per_item = std::min(least_time_per_item(job.cost, job.items), least_time_per_item(fast, job.items));
  const Seconds floor = fast.has_floor ? fast.points.front().work.value : Seconds{0};
  const LinkBytes bytes = link_bytes(job, range);
  const LinkModel& link = profile.link(gpu);
  const auto has = [&](MemoryKind kind) {
    return std::ranges::any_of(job.arrays, [&](const Array& a) { return a.role != Role::scratch && a.memory == kind; });
  };
  const LinkUse use{.two_engines = profile.gpus.at(gpu).copy_engines >= 2,
                    .pageable = has(MemoryKind::pageable),
                    .managed = has(MemoryKind::managed)};
  std::vector<LinkState> states = link_states(link, use, bytes, measured_zero_copy(fast, items, per_item));
  for (LinkState& state : states) {
    state.in *= links;
    state.out *= links;
  }
  const LinkBytes around = bytes_around_kernels(job);
  const Seconds before = least_time({.in = around.in}, states);
  const Seconds after = least_time({.out = around.out}, states);
  Bound part;
  part.kernel = before + launch + std::max(floor, Seconds{per_item * static_cast<double>(items)}) + after;
  const LinkBytes beside{.in = std::max(0.0, bytes.in - around.in), .out = bytes.out - around.out};
  part.link = before + least_time(beside, states) + after;
  if (!use.pageable && !use.managed && part.link > Seconds{0}) part.link += std::min(launch, least_latency(link));
  part.time = std::max(part.link, part.kernel);
  return part;
}

/// How many times as much as the link of `gpu` moves, it and the links of `relays` move together, by the direction in
/// which that is most.
double times_the_link(const Profile& profile, std::uint16_t gpu, std::span<const std::uint16_t> relays) {
  double most = 1;
  for (const auto direction : {&LinkModel::h2d, &LinkModel::d2h}) {
    const PerByte own = (profile.link(gpu).*direction).per_byte.high;
    double sum = own.seconds / (profile.link(gpu).*direction).per_byte.low.seconds;
    for (const std::uint16_t other : relays)
      if (const LinkModel* link = profile.find_link(other))
        sum += own.seconds / (link->*direction).per_byte.low.seconds;
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

Bound bound(const Job& job, const Profile& profile, std::uint32_t gpus, std::span<const std::uint16_t> relays) {
  Bound longest;
  const std::vector<ItemRange> parts = cut_into_chunks(job, gpus);
  for (std::size_t gpu = 0; gpu < parts.size(); ++gpu) {
    const auto number = static_cast<std::uint16_t>(gpu);
    profile.link(number);  // names the pair that the profile lacks
    const double links = relays.empty() ? 1 : times_the_link(profile, number, relays);
    const Bound part = bound_of_part(job, profile, number, parts[gpu], links);
    if (gpu == 0 || part.time > longest.time) longest = part;
  }
  return longest;
}

}  // namespace shiplap
