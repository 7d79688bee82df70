#include "shiplap/workload/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <span>

#include "shiplap/core/error.hpp"
#include "shiplap/core/interpolation.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {

namespace {

constexpr std::array role_names{std::pair{Role::in, "in"sv},           std::pair{Role::out, "out"sv},
                                std::pair{Role::inout, "inout"sv},     std::pair{Role::broadcast, "broadcast"sv},
                                std::pair{Role::carried, "carried"sv}, std::pair{Role::scratch, "scratch"sv}};

/// The part of the kernel's time that does not depend on the items: the line through the first point (which may be the
/// floor) and the last point, read at 0 items. 0 with a single point.
Seconds time_without_items(std::span<const KernelCost::Point> points) {
  const KernelCost::Point& few = points.front();
  const KernelCost::Point& many = points.back();
  if (many.items <= few.items) return Seconds{0};
  const Seconds per_item = (many.work.value - few.work.value) / static_cast<double>(many.items - few.items);
  return std::max(Seconds{0}, few.work.value - per_item * static_cast<double>(few.items));
}

}  // namespace

EnumNames<Role> names_of(Role) { return role_names; }

Seconds KernelCost::launch_time(std::uint64_t items, std::uint64_t concurrent_items) const {
  if (points.empty())
    throw Error(
        "the time of the kernel is unknown: plan the job, which measures or derives it, or state it with "
        "`.kernel_time`");
  std::span<const Point> known = points;
  // With a floor, items are rounded up to one more block for every SM, because a launch takes as long as the busiest
  // SM.
  const auto in_rounds = [&, one_each = std::max<std::uint64_t>(1, known[0].items)](std::uint64_t of) {
    return static_cast<double>(has_floor ? (of + one_each - 1) / one_each * one_each : of);
  };
  const double x = in_rounds(items);
  const auto in_proportion_to = [&](const Point& p) { return p.work.value * (x / in_rounds(p.items)); };
  // Points beyond the cache have another rate, so they do not count for cached launches.
  if (cached_items > 0)
    while (known.size() > 1 && known.back().items > cached_items) known = known.first(known.size() - 1);
  if (cached_items > 0 && items + concurrent_items > cached_items) {
    const Point& whole = points.back();
    const Seconds launches = std::min(time_without_items(known), whole.work.value);
    const Seconds time = std::max(has_floor ? points[0].work.value : Seconds{0},
                                  launches + (whole.work.value - launches) * (x / in_rounds(whole.items)));
    return items > cached_items ? time : std::max(time, launch_time(items));
  }
  if (known.size() == 1) return in_proportion_to(known[0]);
  std::size_t above = has_floor && known.size() > 2 ? 2 : 1;
  while (above + 1 < known.size() && in_rounds(known[above].items) < x) ++above;
  const Point& low = known[above - 1];
  const Point& high = known[above];
  const auto fraction_between = [&](const Point& from, const Point& to) {
    const double apart = in_rounds(to.items) - in_rounds(from.items);
    return apart > 0 ? (x - in_rounds(from.items)) / apart : 1.0;
  };
  const double t = fraction_between(low, high);
  const Seconds line = low.work.value + (high.work.value - low.work.value) * t;
  if (!has_floor) return std::max(Seconds{0}, line);
  const Seconds time = std::max(known[0].work.value, line);
  if (x >= in_rounds(known[1].items)) return time;
  // Small launches may take less per item than the line says, because their data stay in the caches.
  const double from_floor = fraction_between(known[0], known[1]);
  const Seconds between = known[0].work.value + (known[1].work.value - known[0].work.value) * std::max(0.0, from_floor);
  return std::max(known[0].work.value, std::min(time, between));
}

namespace {

Seconds on_lines(std::span<const KernelCost::Point> points, std::uint64_t items) {
  const auto x = static_cast<double>(items);
  const KernelCost::Point& first = points.front();
  if (points.size() == 1 || items <= first.items) return first.work.value * (x / static_cast<double>(first.items));
  const auto key = [](const KernelCost::Point& point) { return static_cast<double>(point.items); };
  const auto [low, high] = neighbours(points, x, key, BeyondLast::last_two_rows);
  const double part = (x - key(*low)) / static_cast<double>(high->items - low->items);
  return std::max(low->work.value, on_line(low->work.value, high->work.value, part));
}

}  // namespace

Seconds KernelCost::ZeroCopy::at(std::uint64_t items) const { return on_lines(alone, items); }

Seconds KernelCost::ZeroCopy::beside_at(std::uint64_t items) const {
  return beside.empty() ? at(items) : std::max(at(items), on_lines(beside, items));
}

std::optional<KernelCost::ZeroCopy> KernelCost::zero_copy_at(bool in, bool out, std::uint64_t blocks,
                                                             std::uint64_t own_blocks) const {
  // The kernel's own grid is treated as the largest one.
  constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  const auto grid_of = [](std::uint64_t count) { return count == 0 ? all : count; };
  const std::uint64_t wanted = blocks >= own_blocks ? all : grid_of(blocks);
  const ZeroCopy* below = nullptr;
  const ZeroCopy* above = nullptr;
  for (const ZeroCopy& row : zero_copy) {
    if (row.in != in || row.out != out) continue;
    const std::uint64_t at = grid_of(row.blocks);
    if (at <= wanted && (below == nullptr || at > grid_of(below->blocks))) below = &row;
    if (at >= wanted && (above == nullptr || at < grid_of(above->blocks))) above = &row;
  }
  if (below == nullptr && above == nullptr) return std::nullopt;
  if (above == nullptr || below == above) return *below;
  // No grid as small as this one was measured.
  if (below == nullptr && above->blocks == 0) return std::nullopt;
  ZeroCopy result = *above;
  result.blocks = blocks;
  const auto scaled = [&](std::vector<Point>& times, const std::vector<Point>& fewer, double factor) {
    for (Point& point : times)
      point.work = Interval<Seconds>::exact(std::max(point.work.value, on_lines(fewer, point.items) * factor));
  };
  const auto of = [&](std::uint64_t count) { return static_cast<double>(std::min(grid_of(count), own_blocks)); };
  const ZeroCopy& fewer = below == nullptr ? *above : *below;
  const double factor = of(fewer.blocks) / of(blocks);
  scaled(result.alone, fewer.alone, factor);
  if (!fewer.beside.empty()) scaled(result.beside, fewer.beside, factor);
  return result;
}

double density(const Job& job, ItemRange range) {
  double here = 0;
  double all = 0;
  const double fraction = static_cast<double>(range.count) / static_cast<double>(job.items);
  const std::uint64_t end = range.first + range.count;
  for (const Array& array : job.arrays) {
    if (!is_input(array.role)) continue;
    if (!array.reach.elements) {
      here += in_bytes(array.size) * fraction;
      all += in_bytes(array.size);
      continue;
    }
    const ByteRange whole = reach_of(job, array, {0, job.items});
    const ByteRange piece = reach_of(job, array, range);
    const ByteRange before =
        range.first > 0 ? reach_of(job, array, {0, range.first}) : ByteRange{whole.offset, Bytes{0}};
    const Bytes after =
        end < job.items ? reach_of(job, array, {end, job.items - end}).offset : whole.offset + whole.length;
    if (before.offset + before.length != piece.offset || piece.offset + piece.length != after) continue;
    here += in_bytes(piece.length);
    all += in_bytes(whole.length);
  }
  return all > 0 ? here / all / fraction : 1;
}

bool is_copied_whole(const Array& array) {
  return stays(array.role) && !array.prefix_of && !array.kept && crosses_link(array);
}

void treat_all_as_pageable_if_one_is(Job& job) {
  const auto is_cut = [](const Array& array) { return !stays(array.role) && crosses_link(array); };
  const auto first = std::ranges::find_if(
      job.arrays, [&](const Array& array) { return is_cut(array) && array.memory == MemoryKind::pageable; });
  if (first == job.arrays.end()) return;
  for (Array& array : job.arrays) {
    if (!is_cut(array) || array.memory == MemoryKind::pageable) continue;
    array.memory = MemoryKind::pageable;
    array.forced_pageable_by = static_cast<std::uint32_t>(first - job.arrays.begin());
  }
}

std::uint64_t average_items(const Job& job, ItemRange range) {
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::llround(static_cast<double>(range.count) * density(job, range))));
}

void require_valid_prefixes(const Job& job) {
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    const Array& array = job.arrays[a];
    if (!array.prefix_of) continue;
    const bool is_front = *array.prefix_of < a && array.role == Role::broadcast &&
                          job.arrays[*array.prefix_of].role == Role::in &&
                          array.size <= job.arrays[*array.prefix_of].size;
    if (!is_front)
      throw UsageError(
          fmt::format("{}: {} must be a broadcast array to be a prefix of an array described before it that is an "
                      "input and no smaller",
                      job.name, array.name));
  }
}

void share_memory_of_prefixes(Job& job) {
  for (Array& array : job.arrays)
    if (array.prefix_of) array.memory = job.arrays[*array.prefix_of].memory;
}

bool offers_zero_copy(const Job& job) { return job.each_byte_once.value_or(!job.cost.zero_copy.empty()); }

namespace {

/// Ends of the chunks in units. Every chunk has at least one unit.
std::vector<std::uint64_t> ramped_ends(std::uint64_t units, std::uint32_t chunks, const Ramp& ramp) {
  std::vector<double> sum(chunks);
  double total = 0;
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const double up = ramp.first * std::pow(ramp.growth, c);
    const double down = ramp.last * std::pow(ramp.growth, chunks - 1 - c);
    sum[c] = total += std::min({1.0, up, down});
  }
  std::vector<std::uint64_t> ends(chunks);
  std::uint64_t before = 0;
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const auto end = static_cast<std::uint64_t>(std::llround(sum[c] / total * static_cast<double>(units)));
    ends[c] = before = std::clamp<std::uint64_t>(end, before + 1, units - (chunks - 1 - c));
  }
  return ends;
}

}  // namespace

void require_valid(const Ramp& ramp) {
  const auto is_fraction = [](double part) { return part > 0 && part <= 1; };
  if (!is_fraction(ramp.first) || !is_fraction(ramp.last) || !(ramp.level() || ramp.growth > 1) ||
      !std::isfinite(ramp.growth))
    throw UsageError(
        fmt::format("`ramp` {}:{}:{}: the first and the last chunk must be more than 0 and at most 1 times the "
                    "largest, and the growth from one to the next more than 1",
                    ramp.first, ramp.last, ramp.growth));
}

std::vector<ItemRange> cut_into_chunks(const Job& job, std::uint32_t chunks, const Ramp& ramp) {
  if (chunks == 0) throw UsageError("`chunks` 0: at least 1 is needed");
  if (chunks > most_chunks)
    throw UsageError(fmt::format(
        "`chunks` {}: a job is cut into at most {} chunks on each GPU, because each one costs the host some "
        "microseconds in every run; ask for that many or fewer",
        chunks, most_chunks));
  if (chunks > job.items)
    throw UsageError(fmt::format("`chunks` {}: {} can be cut into at most {} chunks; ask for that many or fewer",
                                 chunks, job.name, job.items));
  std::vector<ItemRange> result;
  result.reserve(chunks);
  require_valid(ramp);
  // Chunks consist of whole blocks if there are enough blocks, because a chunk that starts within a block is copied and
  // computed more slowly.
  const std::uint64_t unit = job.items / job.items_per_block >= chunks ? job.items_per_block : 1;
  const std::uint64_t units = job.items / unit;
  const std::vector<std::uint64_t> ramped =
      ramp.level() ? std::vector<std::uint64_t>{} : ramped_ends(units, chunks, ramp);
  std::uint64_t first = 0;
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const std::uint64_t level = units / chunks * (c + 1) + std::min<std::uint64_t>(c + 1, units % chunks);
    const std::uint64_t end = c + 1 == chunks ? job.items : (ramp.level() ? level : ramped[c]) * unit;
    result.push_back({first, end - first});
    first = end;
  }
  return result;
}

ByteRange owned_bytes(const Job& job, const Array& array, ItemRange range) {
  const std::uint64_t elements = array.size.count / array.element.count;
  // The product has 128 bits, because elements · items may exceed 64 bits.
  const auto at = [&](std::uint64_t item) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(elements) * item / job.items) *
           array.element.count;
  };
  const std::uint64_t begin = at(range.first);
  return {Bytes{begin}, Bytes{at(range.first + range.count) - begin}};
}

namespace {

/// The elements that the mapping of the array gives the items. What it throws gets the names of the job and the array.
ElementRange mapped_elements(const Job& job, const Array& array, ItemRange range) {
  const auto named = [&](const char* what) {
    return Error(fmt::format("{}: the mapping of {} threw for the items [{}, {}): {}", job.name, array.name,
                             range.first, range.first + range.count, what));
  };
  try {
    return array.reach.elements(range);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::throw_with_nested(named(error.what()));
  } catch (...) {
    std::throw_with_nested(named("something that says nothing of itself (no std::exception)"));
  }
}

}  // namespace

ByteRange reach_of(const Job& job, const Array& array, ItemRange range) {
  if (stays(array.role)) return {Bytes{0}, array.size};
  if (!array.reach.elements) {
    const std::uint64_t first = range.first - std::min(range.first, array.reach.before);
    const std::uint64_t end = range.first + range.count;
    return owned_bytes(job, array, {first, std::min(job.items - end, array.reach.after) + end - first});
  }
  const ElementRange elements = mapped_elements(job, array, range);
  const std::uint64_t all = array.size.count / array.element.count;
  if (elements.first > all || elements.count > all - elements.first)
    throw UsageError(fmt::format("{}: the mapping of {} gives the items [{}, {}) the elements [{}, {}), and it has {}",
                                 job.name, array.name, range.first, range.first + range.count, elements.first,
                                 elements.first + elements.count, all));
  return {array.element * elements.first, array.element * elements.count};
}

std::vector<ChunkReach> chunk_reaches(const Job& job, const Array& array, std::span<const ItemRange> chunks) {
  if (is_output(array.role) && !array.private_halo && (array.reach.before > 0 || array.reach.after > 0))
    throw UsageError(
        fmt::format("{}: array {} is written, so that its chunks cannot have a halo: read the halo of another array, "
                    "or use `.carried`",
                    job.name, array.name));
  std::vector<ChunkReach> result;
  result.reserve(chunks.size());
  Bytes begin;
  Bytes end;  // end of the reach of the chunk before
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const ByteRange whole = reach_of(job, array, chunks[c]);
    if (array.role == Role::scratch || array.private_halo) {  // chunks share none of it, so reaches may overlap
      result.push_back({whole, whole, owned_bytes(job, array, chunks[c])});
      continue;
    }
    const Bytes last = whole.offset + whole.length;
    if (whole.length.count > 0 && (whole.offset < begin || last < end))
      throw UsageError(
          fmt::format("{}: the mapping of {} goes back in chunk {}: a later chunk must not begin or end "
                      "earlier than the one before",
                      job.name, array.name, c));
    if (is_output(array.role) && whole.length.count > 0 && whole.offset < end)
      throw UsageError(fmt::format("{}: chunks {} and {} both write {} of {}", job.name, c - 1, c,
                                   to_string(end - whole.offset), array.name));
    const Bytes fresh = std::max(std::min(end, last), whole.offset);
    result.push_back({whole, {fresh, last - fresh}, whole});
    if (whole.length.count == 0) continue;
    begin = whole.offset;
    end = last;
  }
  return result;
}

namespace {
Bytes total(const Job& job, bool (*counts)(const Array&)) {
  Bytes sum;
  for (const Array& a : job.arrays)
    if (counts(a)) sum += a.size;
  return sum;
}
}  // namespace

MemoryKind memory_of(const Job& job) {
  const auto moved =
      std::ranges::find_if(job.arrays, [](const Array& a) { return is_copied_in(a) || is_copied_out(a); });
  return moved == job.arrays.end() ? MemoryKind::pinned : moved->memory;
}

Bytes bytes_in(const Job& job) { return total(job, is_copied_in); }
Bytes bytes_out(const Job& job) { return total(job, is_copied_out); }

bool has_reach_by_function(const Job& job) {
  return std::ranges::any_of(job.arrays, [](const Array& array) { return bool(array.reach.elements); });
}

}  // namespace shiplap
