// Primitives of several GPUs of one node: copies between GPUs, and all GPUs copying with the host at once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

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
    Point point{fmt::format("{} x {}, {}", to_string(size), many / 4, many), {}};
    for (const double copies : {many / 4, many})
      point.variants.push_back({{"bytes", in_bytes(size)}, {"copies", copies}});
    points.push_back(std::move(point));
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
  Point point{fmt::format("{} x 2, 8 on {} GPUs", to_string(size), setting.info.gpus), {}};
  for (const double copies : {2.0, 8.0})
    point.variants.push_back({{"bytes", in_bytes(size)}, {"copies", copies}, {"gpus", double(setting.info.gpus)}});
  return {point};
}
std::vector<Point> peer_kernel_points(const Setting& setting) {
  require_access(setting);
  const Bytes size = std::min(256_MiB, setting.largest);
  std::vector<Point> points;
  for (const double blocks : {32.0, 132.0, 528.0, 1056.0}) {
    Point point{fmt::format("{} x 2, 6 with {} blocks", to_string(size), blocks), {}};
    for (const double count : {2.0, 6.0})
      point.variants.push_back({{"bytes", in_bytes(size)}, {"count", count}, {"blocks", blocks}});
    points.push_back(std::move(point));
  }
  return points;
}
std::vector<Point> peer_chase_points(const Setting& setting) {
  require_access(setting);
  Point point{"256, 2048 in 2 MiB", {}};
  for (const double reads : {256.0, 2048.0}) point.variants.push_back({{"bytes", in_bytes(2_MiB)}, {"reads", reads}});
  return {point};
}
std::vector<Point> peer_move_points(const Setting& setting) {
  require_two(setting);
  not_in_quick(setting);
  return size_points(no_larger_than(setting.largest, {64_KiB, 1_MiB, 16_MiB, 128_MiB}));
}

PeerCopies burst_of(const Arguments& arguments) {
  return {.size = bytes(arguments), .copies = whole(arguments, "copies")};
}
template <bool to_device, bool from_device>
Trial copies_with_all(MeasurableDevice&, const Arguments& arguments) {
  return all_copies({.to_device = to_device,
                     .from_device = from_device,
                     .size = bytes(arguments),
                     .copies = whole(arguments, "copies"),
                     .gpus = whole(arguments, "gpus")});
}
template <AccessMode mode, bool both = false>
Trial peer_accesses(MeasurableDevice& device, const Arguments& arguments) {
  return peer_kernels(device, {.mode = mode,
                               .size = bytes(arguments),
                               .kernels = whole(arguments, "count"),
                               .blocks = whole(arguments, "blocks"),
                               .both = both});
}
template <bool on_demand, bool both = false>
Trial peer_moves(MeasurableDevice& device, const Arguments& arguments) {
  return managed_to_peer(device, bytes(arguments), on_demand, both);
}

}  // namespace

std::span<const PrimitiveRow> peer_rows() {
  static const std::array rows{
      PrimitiveRow{{"peer.copy", "copies from GPU 0 to GPU 1, which address each other's memory", "events"},
                   direct_bursts,
                   [](MeasurableDevice&, const Arguments& arguments) { return peer_copies(burst_of(arguments)); }},
      PrimitiveRow{{"peer.copy.both", "duplex copies between two GPUs with peer access", "events"},
                   direct_bursts,
                   [](MeasurableDevice&, const Arguments& arguments) {
                     PeerCopies wanted = burst_of(arguments);
                     wanted.both = true;
                     return peer_copies(wanted);
                   }},
      PrimitiveRow{{"peer.staged", "copies from GPU 0 to GPU 1 through the host", "events"},
                   staged_bursts,
                   [](MeasurableDevice&, const Arguments& arguments) {
                     PeerCopies wanted = burst_of(arguments);
                     wanted.access = false;
                     return peer_copies(wanted);
                   }},
      PrimitiveRow{{"peer.staged.both", "duplex copies between two GPUs through the host", "events"},
                   staged_bursts,
                   [](MeasurableDevice&, const Arguments& arguments) {
                     PeerCopies wanted = burst_of(arguments);
                     wanted.access = false;
                     wanted.both = true;
                     return peer_copies(wanted);
                   }},
      PrimitiveRow{{"peer.read", "kernels on GPU 0 that read the memory of GPU 1, over grids", "events"},
                   peer_kernel_points,
                   peer_accesses<AccessMode::read>},
      PrimitiveRow{{"peer.write", "kernels on GPU 0 that write the memory of GPU 1, over grids", "events"},
                   peer_kernel_points,
                   peer_accesses<AccessMode::write>},
      PrimitiveRow{{"peer.read.both", "kernels on each GPU that read the memory of the other at once", "events"},
                   peer_kernel_points,
                   peer_accesses<AccessMode::read, true>},
      PrimitiveRow{{"peer.write.both", "kernels on each GPU that write the memory of the other at once", "events"},
                   peer_kernel_points,
                   peer_accesses<AccessMode::write, true>},
      PrimitiveRow{{"latency.chase.peer",
                    "reads of what GPU 1 has in its caches by one thread of GPU 0, one after another", "events"},
                   peer_chase_points,
                   [](MeasurableDevice& device, const Arguments& arguments) {
                     return peer_chase(device, bytes(arguments), whole(arguments, "reads"));
                   }},
      PrimitiveRow{{"prefetch.peer", "a prefetch of managed memory from GPU 0 to GPU 1", "events"},
                   peer_move_points,
                   peer_moves<false>},
      PrimitiveRow{{"demand.peer", "a kernel on GPU 1 that touches every page of managed memory on GPU 0", "events"},
                   peer_move_points,
                   peer_moves<true>},
      PrimitiveRow{{"prefetch.peer.both", "a prefetch from each GPU to the other at once, by two threads", "host"},
                   peer_move_points,
                   peer_moves<false, true>,
                   HostClock::completion},
      PrimitiveRow{
          {"demand.peer.both", "a kernel on each GPU that touches managed memory on the other at once", "host"},
          peer_move_points,
          peer_moves<true, true>,
          HostClock::completion},
      PrimitiveRow{{"all.h2d", "copies from the host to every GPU at once", "events"},
                   points_with_all,
                   copies_with_all<true, false>},
      PrimitiveRow{{"all.d2h", "copies from every GPU to the host at once", "events"},
                   points_with_all,
                   copies_with_all<false, true>},
      PrimitiveRow{{"all.both", "duplex copies between the host and every GPU", "events"},
                   points_with_all,
                   copies_with_all<true, true>},
  };
  return rows;
}

}  // namespace shiplap
