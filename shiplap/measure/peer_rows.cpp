// Primitives of several GPUs of one node: copies between GPUs, and all GPUs copying with the host at once.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "shiplap/device/device_name.hpp"
#include "shiplap/measure/peer_trial.hpp"
#include "shiplap/measure/rows.hpp"

namespace shiplap {
namespace {

void require_two(const Setting& setting) {
  if (setting.info.gpus >= 2) return;
  const std::optional<std::string> name = name_with_gpus(setting.info.id, 2);
  throw Unsupported(
      fmt::format("{} is one GPU: open two of a node, as in {}", setting.info.id, name.value_or("cuda:0,1")));
}
void require_access(const Setting& setting) {
  require_two(setting);
  if (!setting.info.peer_access) throw Unsupported("these GPUs cannot address each other's memory");
}

// A long burst and a short one. Their difference contains copies only, and no offset between the clocks of two GPUs.
std::vector<Point> peer_bursts(const Setting& setting) {
  const std::vector<Bytes> sizes =
      quick(setting) ? std::vector<Bytes>{1_MiB, 64_MiB} : std::vector<Bytes>{4_KiB, 64_KiB, 1_MiB, 16_MiB, 256_MiB};
  std::vector<Point> points;
  for (const Bytes size : no_larger_than(setting.largest, sizes)) {
    const double many = std::clamp(in_bytes(256_MiB) / in_bytes(size), 4.0, 128.0);
    points.push_back(point_over(fmt::format("{} x {}, {}", to_string(size), many / 4, many), "copies", {many / 4, many},
                                {{"bytes", in_bytes(size)}}));
  }
  return points;
}
std::vector<Point> direct_bursts(const Setting& setting) {
  require_access(setting);
  return peer_bursts(setting);
}
std::vector<Point> staged_bursts(const Setting& setting) {
  require_two(setting);
  return peer_bursts(setting);
}
std::vector<Point> points_with_all(const Setting& setting) {
  require_two(setting);
  const Bytes size = std::min(64_MiB, setting.largest);
  const auto point = [&](const std::string& gpus, Arguments arguments) {
    arguments.insert({"bytes", in_bytes(size)});
    return point_over(fmt::format("{} x 2, 8 on {}", to_string(size), gpus), "copies", {2, 8}, std::move(arguments));
  };
  const unsigned gpus = setting.info.gpus;
  std::vector<Point> points{point(fmt::format("{} GPUs", gpus), {{"gpus", double(gpus)}})};
  if (gpus == 2 || quick(setting)) return points;
  // Two GPUs alone, which may share an uplink.
  for (unsigned first = 0; first < gpus; ++first)
    for (unsigned second = first + 1; second < gpus; ++second)
      points.push_back(point(fmt::format("GPUs {} and {}", first, second),
                             {{"gpus", 2.0}, {"first", double(first)}, {"second", double(second)}}));
  return points;
}
std::vector<std::uint16_t> gpus_of(const Arguments& arguments) {
  if (arguments.contains("first"))
    return {static_cast<std::uint16_t>(whole(arguments, "first")),
            static_cast<std::uint16_t>(whole(arguments, "second"))};
  std::vector<std::uint16_t> gpus(whole(arguments, "gpus"));
  std::iota(gpus.begin(), gpus.end(), std::uint16_t{0});
  return gpus;
}
std::vector<Point> peer_kernel_points(const Setting& setting) {
  require_access(setting);
  const Bytes size = std::min(256_MiB, setting.largest);
  std::vector<Point> points;
  for (const double blocks : {32.0, 132.0, 528.0, 1056.0})
    points.push_back(point_over(fmt::format("{} x 2, 6 with {} blocks", to_string(size), blocks), "count", {2, 6},
                                {{"bytes", in_bytes(size)}, {"blocks", blocks}}));
  return points;
}
std::vector<Point> peer_chase_points(const Setting& setting) {
  require_access(setting);
  return {point_over("256, 2048 in 2 MiB", "reads", {256, 2048}, {{"bytes", in_bytes(2_MiB)}})};
}
std::vector<Point> peer_move_points(const Setting& setting) {
  require_two(setting);
  not_in_quick(setting);
  return size_points(no_larger_than(setting.largest, {64_KiB, 1_MiB, 16_MiB, 128_MiB}));
}

auto copies_between(bool access, bool both) {
  return [=](MeasurableDevice&, const Arguments& arguments) {
    return peer_copies(
        {.size = bytes(arguments), .copies = whole(arguments, "copies"), .access = access, .both = both});
  };
}
auto copies_with_all(bool to_device, bool from_device) {
  return [=](MeasurableDevice&, const Arguments& arguments) {
    return all_copies({.to_device = to_device,
                       .from_device = from_device,
                       .size = bytes(arguments),
                       .copies = whole(arguments, "copies"),
                       .gpus = gpus_of(arguments)});
  };
}
auto peer_accesses(AccessMode mode, bool both) {
  return [=](MeasurableDevice& device, const Arguments& arguments) {
    return peer_kernels(device, {.mode = mode,
                                 .size = bytes(arguments),
                                 .kernels = whole(arguments, "count"),
                                 .blocks = whole(arguments, "blocks"),
                                 .both = both});
  };
}
auto peer_moves(bool on_demand, bool both) {
  return [=](MeasurableDevice& device, const Arguments& arguments) {
    return managed_to_peer(device, bytes(arguments), on_demand, both);
  };
}

}  // namespace

std::vector<PrimitiveRow> peer_rows() {
  constexpr HostClock clock = HostClock::completion;
  using enum AccessMode;
  RowTable rows;
  rows.add("peer.copy", "copies from GPU 0 to GPU 1, which address each other's memory", direct_bursts,
           copies_between(true, false));
  rows.add("peer.copy.both", "duplex copies between two GPUs with peer access", direct_bursts,
           copies_between(true, true));
  rows.add("peer.staged", "copies from GPU 0 to GPU 1 through the host", staged_bursts, copies_between(false, false));
  rows.add("peer.staged.both", "duplex copies between two GPUs through the host", staged_bursts,
           copies_between(false, true));
  rows.add("peer.read", "kernels on GPU 0 that read the memory of GPU 1, over grids", peer_kernel_points,
           peer_accesses(read, false));
  rows.add("peer.write", "kernels on GPU 0 that write the memory of GPU 1, over grids", peer_kernel_points,
           peer_accesses(write, false));
  rows.add("peer.read.both", "kernels on each GPU that read the memory of the other at once", peer_kernel_points,
           peer_accesses(read, true));
  rows.add("peer.write.both", "kernels on each GPU that write the memory of the other at once", peer_kernel_points,
           peer_accesses(write, true));
  rows.add("latency.chase.peer", "reads of what GPU 1 has in its caches by one thread of GPU 0, one after another",
           peer_chase_points, [](MeasurableDevice& device, const Arguments& arguments) {
             return peer_chase(device, bytes(arguments), whole(arguments, "reads"));
           });
  rows.add("prefetch.peer", "a prefetch of managed memory from GPU 0 to GPU 1", peer_move_points,
           peer_moves(false, false));
  rows.add("demand.peer", "a kernel on GPU 1 that touches every page of managed memory on GPU 0", peer_move_points,
           peer_moves(true, false));
  rows.add("prefetch.peer.both", "a prefetch from each GPU to the other at once, by two threads", peer_move_points,
           peer_moves(false, true), clock);
  rows.add("demand.peer.both", "a kernel on each GPU that touches managed memory on the other at once",
           peer_move_points, peer_moves(true, true), clock);
  rows.add("all.h2d", "copies from the host to every GPU at once", points_with_all, copies_with_all(true, false));
  rows.add("all.d2h", "copies from every GPU to the host at once", points_with_all, copies_with_all(false, true));
  rows.add("all.both", "duplex copies between the host and every GPU", points_with_all, copies_with_all(true, true));
  return rows.all;
}

}  // namespace shiplap
