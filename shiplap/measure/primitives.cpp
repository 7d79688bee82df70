#include "shiplap/measure/primitives.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

// How the time is spent at most (one H200, 55 GB/s; the budgets of a point are in measure.cpp and most points end
// earlier). Pinned memory takes 0.6 s per GiB to obtain, and the host writes or compares about 3 GiB a second.
//              quick (bar: 15 s)                      standard (bar: 90 s)
//   copies     2 × 12 points × 0.06 to 0.15 s .. 2 s  2 × 31 × 0.2 s ..... 12 s
//   bursts     2 × 9 × 0.06 s .................. 1 s  2 × 27 × 0.2 s ..... 11 s
//   duplex     2 × 5 × 0.06 s ................ 0.6 s  2 × 11 × 0.25 s ..... 5 s
//   waiting    3 × 2 × 0.06 s ................ 0.4 s  3 × 5 × 0.2 s ....... 3 s
//   chains     12 × 0.06 s .................. 0.7 s  12 × 0.2 s ........... 2 s
//   mapped     18 × 0.06 s .................. 1.1 s  72 × 0.1 to 0.2 s .. 11 s
//   beside     36 × 0.06 to 0.1 s ............. 3 s  204 × 0.1 to 0.2 s . 30 s
//   the rest   27 × 0.06 s .................. 1.6 s  29 × 0.2 s .......... 6 s
//   memory     4 GiB obtained, 9 GiB checked . 5.5 s  5 and 16 GiB ........ 8 s

unsigned whole(const Arguments& arguments, const char* name) { return static_cast<unsigned>(arguments.at(name)); }
Bytes bytes(const Arguments& arguments) { return {static_cast<std::uint64_t>(arguments.at("bytes"))}; }
double number(Bytes size) { return static_cast<double>(size.count); }
bool quick(const Setting& setting) { return setting.effort == Effort::quick; }

/// Powers of two from `first` to `last`, or every `stride`-th of them.
std::vector<Bytes> powers_of_two(Bytes first, Bytes last, unsigned stride = 1) {
  std::vector<Bytes> sizes;
  for (Bytes size = first; size <= last; size = {size.count << stride}) sizes.push_back(size);
  return sizes;
}

std::vector<Bytes> no_larger_than(Bytes largest, std::vector<Bytes> sizes) {
  std::erase_if(sizes, [&](Bytes size) { return size > largest; });
  return sizes;
}

std::vector<Bytes> copy_sizes(const Setting& setting) {
  if (!quick(setting)) return powers_of_two(1_B, setting.largest);
  return no_larger_than(setting.largest,
                        {1_B, 1_KiB, 16_KiB, 64_KiB, 256_KiB, 1_MiB, 4_MiB, 16_MiB, 64_MiB, 256_MiB, 512_MiB, 1_GiB});
}

std::vector<Bytes> up_to(const Setting& setting, Bytes limit, std::vector<Bytes> sizes, std::string_view what) {
  sizes = no_larger_than(std::min(limit, setting.largest), std::move(sizes));
  if (sizes.empty())
    throw Unsupported(fmt::format("no {} is within the largest copy, {}", what, to_string(setting.largest)));
  return sizes;
}

std::vector<Point> copy_points(const Setting& setting) {
  std::vector<Point> points;
  for (const Bytes size : copy_sizes(setting)) points.push_back({to_string(size), {{{"bytes", number(size)}}}});
  return points;
}

Point burst_point(Bytes size, unsigned few, unsigned many) {
  Point point{fmt::format("{} x {}, {}", to_string(size), few, many), {}};
  for (const unsigned copies : {few, many})
    point.variants.push_back({{"bytes", number(size)}, {"copies", static_cast<double>(copies)}});
  return point;
}

// A long burst and one an eighth as long: their difference holds copies only, no start and no end. At least 64 MiB in
// total or 512 copies, so that the clock's resolution does not count; at least 4 copies.
std::vector<Point> burst_points(const Setting& setting) {
  std::vector<Point> points;
  for (const Bytes size : up_to(setting, 64_MiB, copy_sizes(setting), "burst")) {
    const auto many = static_cast<unsigned>(std::clamp<std::uint64_t>((64_MiB).count / size.count, 4, 512));
    points.push_back(burst_point(size, std::max(1u, many / 8), many));
  }
  return points;
}

void require_two_engines(const Setting& setting) {
  if (setting.info.copy_engines < 2)
    throw Unsupported(fmt::format("{} has one copy engine: the two directions take turns", setting.info.name));
}

// A burst and one an eighth as long, beside copies the other way that outlast it.
std::vector<Point> duplex_points(const Setting& setting) {
  require_two_engines(setting);
  const std::vector<Bytes> sizes =
      quick(setting) ? std::vector<Bytes>{256_KiB, 1_MiB, 4_MiB, 16_MiB, 64_MiB} : powers_of_two(256_KiB, 256_MiB);
  std::vector<Point> points;
  for (const Bytes size : up_to(setting, 256_MiB, sizes, "copy in both directions")) {
    const auto many = static_cast<unsigned>(std::clamp<std::uint64_t>((64_MiB).count / size.count, 2, 128));
    points.push_back(burst_point(size, std::max(1u, many / 8), many));
  }
  return points;
}

// A long pipeline and a short one, with the kernels in a queue of their own and with each in its copies' queue, so that
// several queues have kernels that wait.
std::vector<Point> waiting_points(const Setting& setting) {
  const std::vector<Bytes> sizes =
      quick(setting) ? std::vector{1_MiB, 8_MiB} : std::vector{512_KiB, 1_MiB, 2_MiB, 4_MiB, 8_MiB};
  std::vector<Point> points;
  for (const Bytes size : up_to(setting, 8_MiB, sizes, "burst")) {
    const double few = 16;
    const double many = std::clamp(number(128_MiB) / number(size), 32.0, 80.0);
    Point point{fmt::format("{} x {}, {} in 1 and 4 queues", to_string(size), few, many), {}};
    for (const double queues : {1.0, 4.0})
      for (const double copies : {few, many})
        point.variants.push_back({{"bytes", number(size)}, {"copies", copies}, {"queues", queues}});
    points.push_back(std::move(point));
  }
  if (points.size() < 2) throw Unsupported("the largest copy leaves no two sizes to compare");
  return points;
}
std::vector<Point> waiting_points_of_both(const Setting& setting) {
  require_two_engines(setting);
  return waiting_points(setting);
}
template <bool to_device, bool from_device>
Trial waiting(Device& device, const Arguments& arguments) {
  return empty_pipeline(device, {.to_device = to_device,
                                 .from_device = from_device,
                                 .size = bytes(arguments),
                                 .chunks = whole(arguments, "copies"),
                                 .queues = whole(arguments, "queues")});
}

/// One point with several counts of the same thing.
Point counts(const char* name, std::vector<unsigned> values, const Arguments& fixed = {}) {
  Point point{fmt::format("{} {}", fmt::join(values, ", "), name), {}};
  for (const unsigned value : values) {
    Arguments arguments = fixed;
    arguments[name] = value;
    point.variants.push_back(std::move(arguments));
  }
  return point;
}

// The grids around the ends of the first waves, where the time steps up if the GPU holds what it says it holds.
std::vector<Point> grid_points(const Setting& setting) {
  const std::uint64_t wave = setting.info.resident_threads / 1024;
  if (wave == 0) throw Unsupported(fmt::format("{} does not say how many threads it holds", setting.info.id));
  std::vector<std::uint64_t> grids{1,        wave / 2,     wave - 1, wave,         wave + 1, 3 * wave / 2,
                                   2 * wave, 2 * wave + 1, 3 * wave, 3 * wave + 1, 4 * wave};
  std::erase(grids, 0u);
  std::ranges::sort(grids);
  grids.erase(std::unique(grids.begin(), grids.end()), grids.end());
  std::vector<Point> points;
  for (const std::uint64_t blocks : grids)
    points.push_back({fmt::format("{} blocks", blocks), {{{"blocks", static_cast<double>(blocks)}}}});
  return points;
}

// Beyond the caches of the GPU, where the time is in proportion to the amount.
std::vector<Point> stream_points(const Setting& setting) {
  const Bytes most = std::min(quick(setting) ? 1_GiB : 4_GiB, setting.largest * 4);
  const Bytes least = std::max(Bytes{64}, std::min(256_MiB, most / 4));
  std::vector<Point> points;
  for (const Bytes amount : powers_of_two(least, most))
    points.push_back({to_string(amount), {{{"bytes", number(amount)}}}});
  if (points.size() < 2) throw Unsupported("the largest copy leaves no two amounts of memory traffic to compare");
  return points;
}

std::vector<Point> multiply_add_points(const Setting&) {
  std::vector<Point> points;
  for (const double flops : {1e10, 2e10, 4e10, 8e10, 1.6e11})
    points.push_back({fmt::format("{:g} flop", flops), {{{"flops", flops}}}});
  return points;
}

template <CopyDirection way>
Trial single_copy(Device&, const Arguments& arguments) {
  return copy_burst(way, bytes(arguments), 1);
}
template <CopyDirection way>
Trial burst(Device&, const Arguments& arguments) {
  return copy_burst(way, bytes(arguments), whole(arguments, "copies"));
}
template <CopyDirection way>
Trial duplex(Device&, const Arguments& arguments) {
  return duplex_burst(way, bytes(arguments), whole(arguments, "copies"));
}
// Chains in one queue and over several, alone and beside copies. Two lengths: their difference has no start and no end.
template <Chain::Link link>
std::vector<Point> chain_points(const Setting& setting) {
  std::vector<Point> points;
  for (const double queues : {1.0, 4.0}) {
    for (const double busy : {0.0, 1.0}) {
      if (busy > 0 && setting.info.copy_engines < 2) continue;
      Point point{fmt::format("over {} queue(s){}", queues, busy > 0 ? " beside copies" : ""), {}};
      for (const double count : {8.0, 40.0}) {
        Arguments arguments{{"count", count}, {"queues", queues}, {"busy", busy}};
        if (link != Chain::Link::kernels) arguments["bytes"] = number(256_KiB);
        point.variants.push_back(std::move(arguments));
      }
      points.push_back(std::move(point));
    }
  }
  return points;
}
template <Chain::Link link>
Trial chain_of(Device& device, const Arguments& arguments) {
  return chain(device, {.link = link,
                        .count = whole(arguments, "count"),
                        .queues = whole(arguments, "queues"),
                        .busy = arguments.at("busy") > 0,
                        .size = link == Chain::Link::kernels ? Bytes{} : bytes(arguments)});
}
// Grids from one block to a full GPU. A few kernels (or copies) against more: their difference has no start and no end.
Point mapped_point(std::uint64_t blocks, Bytes size, double width, std::pair<double, double> counts) {
  Point point{fmt::format("{} blocks, {}, {} bytes an access", blocks, to_string(size), width), {}};
  for (const double count : {counts.first, counts.second})
    point.variants.push_back(
        {{"bytes", number(size)}, {"count", count}, {"blocks", static_cast<double>(blocks)}, {"width", width}});
  return point;
}
/// The grids given, and those that have a block for each multiprocessor, two for each, and as many as fit.
std::vector<std::uint64_t> possible_grids(const Setting& setting, std::vector<std::uint64_t> grids) {
  const std::uint64_t most = setting.info.resident_threads / map_probe_threads;
  if (most == 0) throw Unsupported(fmt::format("{} does not say how many threads it holds", setting.info.id));
  if (setting.largest < 8_MiB)
    throw Unsupported("the largest copy asked for is smaller than the 8 MiB that one kernel moves");
  grids.push_back(setting.info.multiprocessors);
  if (!quick(setting)) grids.push_back(2ull * setting.info.multiprocessors);
  grids.push_back(most);
  std::erase_if(grids, [&](std::uint64_t blocks) { return blocks == 0 || blocks > most; });
  std::ranges::sort(grids);
  grids.erase(std::unique(grids.begin(), grids.end()), grids.end());
  return grids;
}

/// So many in proportion, and enough that the long trial touches most of the memory that trials go around in: they
/// find translated only what the GPU keeps translated of so much. Few threads take too long for more than 64 MiB, and
/// short launches would be too many for a queue that is held.
std::pair<double, double> mapped_counts(const Setting& setting, Bytes size, std::uint64_t blocks, double few = 2,
                                        double many = 7) {
  const bool all = !quick(setting) && blocks >= 8 && size >= 2_MiB;
  const double touched = number(mapped_footprint) * (all ? 0.875 : 0.21875);
  const double more = std::max(1.0, touched / number(size) / many);
  return {std::round(few * more), std::round(many * more)};
}

// Where much is under way, a launch must be long beside it.
std::vector<Point> mapped_points(const Setting& setting) {
  const auto grids = possible_grids(
      setting, quick(setting) ? std::vector<std::uint64_t>{1, 4, 16, 32}
                              : std::vector<std::uint64_t>{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96});
  std::vector<Point> points;
  for (const double width : quick(setting) ? std::vector{16.0} : std::vector{4.0, 8.0, 16.0})
    for (const std::uint64_t blocks : grids)
      if (width == 16 || blocks == 4 || blocks == 16 || blocks == 64 || blocks == grids.back())
        points.push_back(blocks > 64 ? mapped_point(blocks, std::min(64_MiB, setting.largest), width, {1, 4})
                                     : mapped_point(blocks, 8_MiB, width, mapped_counts(setting, 8_MiB, blocks)));
  return points;
}
// Few blocks, which do not wait for each other.
std::vector<Point> map_points(const Setting& setting) {
  const auto grids = possible_grids(setting, {16});
  return {mapped_point(grids.front(), 8_MiB, 16, mapped_counts(setting, 8_MiB, grids.front()))};
}

/// A copy engine against kernels: the pairs that hybrid pipelines consist of over launches of several sizes.
std::vector<Point> points_beside(const Setting& setting, bool pipelines,
                                 const std::function<std::pair<double, double>(Bytes, std::uint64_t)>& counts) {
  const auto grids = possible_grids(setting, quick(setting) ? std::vector<std::uint64_t>{4, 32}
                                                            : std::vector<std::uint64_t>{1, 4, 8, 16, 24, 32, 48, 64});
  // Beside short and long launches the rates change less from grid to grid.
  const auto wanted = [](Bytes size, std::uint64_t blocks) {
    if (size < 2_MiB) return blocks == 1 || blocks == 4 || blocks == 8 || blocks == 16 || blocks == 32 || blocks >= 64;
    return size < 32_MiB || blocks >= 4;
  };
  std::vector<Point> points;
  for (const Bytes size : quick(setting) || !pipelines ? std::vector{8_MiB} : std::vector{1_MiB, 2_MiB, 8_MiB, 32_MiB})
    for (const std::uint64_t blocks : grids)
      if (size <= setting.largest && wanted(size, blocks))
        points.push_back(mapped_point(blocks, size, 16, counts(size, blocks)));
  return points;
}
template <bool pipelines>
std::vector<Point> beside_points(const Setting& setting) {
  return points_beside(setting, pipelines,
                       [&](Bytes size, std::uint64_t blocks) { return mapped_counts(setting, size, blocks); });
}
/// Of which the copies are counted.
template <bool pipelines>
std::vector<Point> copies_beside_points(const Setting& setting) {
  return points_beside(setting, pipelines, [](Bytes, std::uint64_t) { return std::pair{1.0, 4.0}; });
}
std::vector<Point> step_points(const Setting& setting) {
  return points_beside(setting, true,
                       [&](Bytes size, std::uint64_t blocks) { return mapped_counts(setting, size, blocks, 5, 17); });
}

using MappedAccess = MappedKernels::Access;
MappedKernels kernels_of(MappedAccess access, const Arguments& arguments, unsigned count) {
  return {.access = access,
          .size = bytes(arguments),
          .kernels = count,
          .blocks = whole(arguments, "blocks"),
          .width = whole(arguments, "width")};
}
template <MappedAccess access>
Trial mapped(Device& device, const Arguments& arguments) {
  return mapped_kernels(device, kernels_of(access, arguments, whole(arguments, "count")));
}
/// The kernels are timed, and the copies outlast them, at whatever rate.
template <MappedAccess access, CopyDirection way>
Trial mapped_beside(Device& device, const Arguments& arguments) {
  MappedKernels wanted = kernels_of(access, arguments, whole(arguments, "count"));
  // A block reads 1 GB/s at least and a copy moves 60 at most; a full GPU has the link's rate.
  const double slowest = std::min(20.0, 1.0 * arguments.at("blocks"));
  const double copies = wanted.kernels * arguments.at("bytes") / number(beside_copy_size);
  wanted.copies = way;
  wanted.copy_count = 4 + static_cast<unsigned>(copies * 60 / slowest);
  return mapped_kernels(device, wanted);
}
/// As a pipeline has it: a copy starts when the kernel beside it does.
template <MappedAccess access>
Trial copies_in_step(Device& device, const Arguments& arguments) {
  return lock_step(device, {.access = access,
                            .size = bytes(arguments),
                            .copies = whole(arguments, "count"),
                            .blocks = whole(arguments, "blocks"),
                            .width = whole(arguments, "width")});
}
/// The copies are timed, and the kernels outlast them.
template <MappedAccess access, CopyDirection way>
Trial copies_beside(Device& device, const Arguments& arguments) {
  const unsigned copies = whole(arguments, "count");
  // Copies come down to 4 GB/s beside a full GPU, and kernels of one block to 1 GB/s.
  const double fastest = std::min(60.0, 25 * arguments.at("blocks"));
  const double kernels = copies * number(beside_copy_size) / arguments.at("bytes");
  MappedKernels wanted = kernels_of(access, arguments, 4 + static_cast<unsigned>(kernels * fastest / 4));
  wanted.copies = way;
  wanted.copy_count = copies;
  wanted.time_copies = true;
  return mapped_kernels(device, wanted);
}
Trial empty_kernels(Device& device, const Arguments& arguments) {
  return kernel_row(device, whole(arguments, "kernels"));
}

constexpr auto to_device = CopyDirection::host_to_device;
constexpr auto to_host = CopyDirection::device_to_host;

const std::array rows{
    PrimitiveRow{
        {"copy.pinned.h2d", "one copy from pinned memory to the GPU", "events"}, copy_points, single_copy<to_device>},
    PrimitiveRow{
        {"copy.pinned.d2h", "one copy from the GPU to pinned memory", "events"}, copy_points, single_copy<to_host>},
    PrimitiveRow{
        {"burst.pinned.h2d", "copies to the GPU right behind one another", "events"}, burst_points, burst<to_device>},
    PrimitiveRow{
        {"burst.pinned.d2h", "copies from the GPU right behind one another", "events"}, burst_points, burst<to_host>},
    PrimitiveRow{{"duplex.pinned.h2d", "copies to the GPU right behind one another beside copies from it", "events"},
                 duplex_points,
                 duplex<to_device>},
    PrimitiveRow{{"duplex.pinned.d2h", "copies from the GPU right behind one another beside copies to it", "events"},
                 duplex_points,
                 duplex<to_host>},
    PrimitiveRow{{"waiting.pinned.h2d", "copies to the GPU while kernels of one queue wait, and of several", "events"},
                 waiting_points,
                 waiting<true, false>},
    PrimitiveRow{
        {"waiting.pinned.d2h", "copies from the GPU while kernels of one queue wait, and of several", "events"},
        waiting_points,
        waiting<false, true>},
    PrimitiveRow{{"waiting.pinned.both", "copies both ways while kernels of one queue wait, and of several", "events"},
                 waiting_points_of_both,
                 waiting<true, true>},
    PrimitiveRow{
        {"submit.copy", "host time to submit a copy", "host"},
        [](const Setting&) -> std::vector<Point> {
          return {counts("copies", {28, 224})};
        },
        [](Device&, const Arguments& arguments) { return copy_burst(to_device, 4_KiB, whole(arguments, "copies")); }},
    PrimitiveRow{{"submit.launch", "host time to launch a kernel", "host"},
                 [](const Setting&) -> std::vector<Point> {
                   return {counts("kernels", {28, 224})};
                 },
                 empty_kernels},
    PrimitiveRow{{"submit.record", "host time of launches, each waited for by one queue", "host"},
                 [](const Setting&) -> std::vector<Point> {
                   return {counts("launches", {16, 112}, {{"followers", 1}})};
                 },
                 [](Device& device, const Arguments& arguments) {
                   return followers(device, whole(arguments, "launches"), whole(arguments, "followers"));
                 }},
    PrimitiveRow{{"submit.wait", "host time of launches, each waited for by four queues", "host"},
                 [](const Setting&) -> std::vector<Point> {
                   return {counts("launches", {6, 48}, {{"followers", 4}})};
                 },
                 [](Device& device, const Arguments& arguments) {
                   return followers(device, whole(arguments, "launches"), whole(arguments, "followers"));
                 }},
    PrimitiveRow{{"launch.latency", "one empty kernel", "events"},
                 [](const Setting&) -> std::vector<Point> { return {counts("kernels", {1})}; },
                 empty_kernels},
    PrimitiveRow{{"launch.gap", "empty kernels behind one another", "events"},
                 [](const Setting&) -> std::vector<Point> {
                   return {counts("kernels", {28, 224})};
                 },
                 empty_kernels},
    PrimitiveRow{{"chain.kernels", "empty kernels, each waiting for the one before it", "events"},
                 chain_points<Chain::Link::kernels>,
                 chain_of<Chain::Link::kernels>},
    PrimitiveRow{
        {"chain.h2d", "a copy to the GPU, an empty kernel, and so on, each waiting for the one before", "events"},
        chain_points<Chain::Link::to_device>,
        chain_of<Chain::Link::to_device>},
    PrimitiveRow{
        {"chain.d2h", "a copy from the GPU, an empty kernel, and so on, each waiting for the one before", "events"},
        chain_points<Chain::Link::from_device>,
        chain_of<Chain::Link::from_device>},
    PrimitiveRow{
        {"mapped.read", "kernels that read mapped host memory", "events"}, mapped_points, mapped<MappedAccess::read>},
    PrimitiveRow{{"mapped.write", "kernels that write mapped host memory", "events"},
                 mapped_points,
                 mapped<MappedAccess::write>},
    PrimitiveRow{{"mapped.both", "kernels that read and write mapped host memory", "events"},
                 mapped_points,
                 mapped<MappedAccess::both>},
    PrimitiveRow{{"mapped.read.beside.h2d", "kernels that read mapped host memory beside copies to the GPU", "events"},
                 beside_points<false>,
                 mapped_beside<MappedAccess::read, to_device>},
    PrimitiveRow{{"copies.h2d.beside.read", "copies to the GPU beside kernels that read mapped host memory", "events"},
                 copies_beside_points<false>,
                 copies_beside<MappedAccess::read, to_device>},
    PrimitiveRow{
        {"mapped.read.beside.d2h", "kernels that read mapped host memory beside copies from the GPU", "events"},
        beside_points<true>,
        mapped_beside<MappedAccess::read, to_host>},
    PrimitiveRow{
        {"copies.d2h.beside.read", "copies from the GPU beside kernels that read mapped host memory", "events"},
        copies_beside_points<true>,
        copies_beside<MappedAccess::read, to_host>},
    PrimitiveRow{
        {"copies.d2h.in_step.read", "copies from the GPU in step with kernels that read mapped host memory", "events"},
        step_points,
        copies_in_step<MappedAccess::read>},
    PrimitiveRow{
        {"mapped.write.beside.h2d", "kernels that write mapped host memory beside copies to the GPU", "events"},
        beside_points<true>,
        mapped_beside<MappedAccess::write, to_device>},
    PrimitiveRow{
        {"copies.h2d.in_step.write", "copies to the GPU in step with kernels that write mapped host memory", "events"},
        step_points,
        copies_in_step<MappedAccess::write>},
    PrimitiveRow{
        {"mapped.write.beside.d2h", "kernels that write mapped host memory beside copies from the GPU", "events"},
        beside_points<false>,
        mapped_beside<MappedAccess::write, to_host>},
    PrimitiveRow{
        {"copies.d2h.beside.write", "copies from the GPU beside kernels that write mapped host memory", "events"},
        copies_beside_points<false>,
        copies_beside<MappedAccess::write, to_host>},
    PrimitiveRow{{"kernel.grid", "a kernel of busy blocks, over grid sizes", "events"},
                 grid_points,
                 [](Device& device, const Arguments& arguments) {
                   return single_kernel(device, ProbeKernel::Kind::spin, whole(arguments, "blocks"), 0);
                 }},
    PrimitiveRow{{"kernel.stream", "a kernel that reads and writes device memory", "events"},
                 stream_points,
                 [](Device& device, const Arguments& arguments) {
                   return single_kernel(device, ProbeKernel::Kind::stream, 1, arguments.at("bytes"));
                 }},
    PrimitiveRow{{"kernel.map", "kernels that read and write device memory with few threads", "events"},
                 map_points,
                 mapped<MappedAccess::none>},
    PrimitiveRow{{"kernel.multiply_add", "a kernel of fused multiply-adds in registers", "events"},
                 multiply_add_points,
                 [](Device& device, const Arguments& arguments) {
                   return single_kernel(device, ProbeKernel::Kind::multiply_add, 1, arguments.at("flops"));
                 }},
};

}  // namespace

std::span<const PrimitiveRow> primitive_rows() { return rows; }

std::span<const Primitive> primitives() {
  static const std::vector<Primitive> table = [] {
    std::vector<Primitive> result;
    for (const PrimitiveRow& row : rows) result.push_back(row.primitive);
    return result;
  }();
  return table;
}

}  // namespace shiplap
