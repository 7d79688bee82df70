#include "shiplap/sim/zero_copy_times.hpp"

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/sim/constants.hpp"

namespace shiplap::sim {
namespace {

/// The traffic of a kernel in one direction. Accesses of a thread to several buffers are independent, so their bytes in
/// flight add up.
struct DirectionTraffic {
  double bytes = 0;
  double in_flight = 0;
};

struct Flows {
  const SimParameters& machine;
  const ZeroCopyModel* link = nullptr;
  DirectionTraffic reads{};
  DirectionTraffic writes{};
};

Flows flows_of(const Schedule& schedule, const Kernel& kernel, std::uint16_t gpu, const SimParameters& machine) {
  Flows flows{.machine = machine};
  for (const Flow& f : kernel.flows) {
    const Place place = schedule.buffers[f.buffer.index()].place;
    if (!place.is_host())
      throw Unsupported("the simulator has no figures for kernels that access another GPU's memory");
    const ZeroCopyModel* link = &machine.zero_copy(gpu, place.index);
    if (flows.link != nullptr && flows.link != link)
      throw Unsupported("the simulator has no figures for kernels that access memory of several NUMA nodes");
    flows.link = link;
    DirectionTraffic& traffic = f.mode == AccessMode::read ? flows.reads : flows.writes;
    traffic.bytes += in_bytes(f.bytes);
    traffic.in_flight += in_bytes(f.in_flight);
  }
  return flows;
}

/// Rate of kernels that do not run concurrently with copies, from a table that a published profile may lack.
double rate_alone(const Flows& flows, const std::vector<ZeroCopyRate>& rows, double in_flight) {
  return rate_at(flows.machine.known(rows, "kernels that access host memory"), in_flight).bytes_per_second;
}

/// The direction of the copies that move concurrently with the kernel.
enum class CopiesBeside : std::uint8_t { none, to_device, from_device };

/// The time of the kernel's reads, or of its writes, while copies of this direction move.
double one_direction_time(const Flows& flows, bool reads, CopiesBeside copies) {
  const DirectionTraffic& traffic = reads ? flows.reads : flows.writes;
  if (traffic.bytes <= 0) return 0;
  const ZeroCopyModel& link = *flows.link;
  const double alone = traffic.bytes / rate_alone(flows, reads ? link.read : link.write, traffic.in_flight);
  if (copies == CopiesBeside::none) return alone;
  if (reads == (copies == CopiesBeside::to_device)) return slowdown_in_same_direction * alone;
  const std::vector<ZeroCopyBeside>& beside = reads ? link.read_beside_d2h : link.write_beside_h2d;
  return beside.empty() ? alone : traffic.bytes / kernel_rate_at(beside, traffic.in_flight).bytes_per_second;
}

/// The time of the kernel's reads and writes together. The link is shared as by a kernel that reads as much as it
/// writes, for which the profile has rates (ZeroCopyModel::both).
double link_time(const Flows& flows, CopiesBeside copies) {
  const double apart = std::max(one_direction_time(flows, true, copies), one_direction_time(flows, false, copies));
  if (flows.reads.bytes <= 0 || flows.writes.bytes <= 0) return apart;
  const double in_flight = std::max(flows.reads.in_flight, flows.writes.in_flight);
  const double rate_per_direction = rate_alone(flows, flows.link->both, in_flight);
  return std::max(apart, (flows.reads.bytes + flows.writes.bytes) / (2 * rate_per_direction));
}

/// The least time per byte of copies of this direction while the kernel runs.
double copy_per_byte(const Flows& flows, CopiesBeside copies) {
  const bool to_device = copies == CopiesBeside::to_device;
  const ZeroCopyModel& link = *flows.link;
  const DirectionTraffic& same_direction = to_device ? flows.reads : flows.writes;
  const DirectionTraffic& opposite_direction = to_device ? flows.writes : flows.reads;
  double longest = 0;
  if (same_direction.bytes > 0)
    longest =
        slowdown_in_same_direction / rate_alone(flows, to_device ? link.read : link.write, same_direction.in_flight);
  const std::vector<ZeroCopyBeside>& beside = to_device ? link.write_beside_h2d : link.read_beside_d2h;
  if (opposite_direction.bytes > 0 && !beside.empty())
    longest = std::max(longest, 1 / copy_rate_at(beside, opposite_direction.in_flight).bytes_per_second);
  return longest;
}

}  // namespace

ZeroCopyTimes zero_copy_times(const Schedule& schedule, const Kernel& kernel, std::uint16_t gpu,
                              const SimParameters& machine) {
  if (kernel.measured) {
    const double beside = kernel.measured->beside_copies.count();
    double bytes[2] = {};
    for (const Flow& flow : kernel.flows) bytes[flow.mode == AccessMode::read] += in_bytes(flow.bytes);
    return {.alone = kernel.measured->alone.count(),
            .beside = {beside, beside},
            .bytes = {bytes[0], bytes[1]},
            .copies_beside = kernel.measured->copies_beside,
            .copy_per_byte = {}};
  }
  const Flows flows = flows_of(schedule, kernel, gpu, machine);
  const double work = kernel.work.count();
  return {.alone = std::max(work, link_time(flows, CopiesBeside::none)),
          .beside = {std::max(work, link_time(flows, CopiesBeside::from_device)),
                     std::max(work, link_time(flows, CopiesBeside::to_device))},
          .bytes = {flows.writes.bytes, flows.reads.bytes},
          .copies_beside = 1,
          .copy_per_byte = {copy_per_byte(flows, CopiesBeside::from_device),
                            copy_per_byte(flows, CopiesBeside::to_device)}};
}

}  // namespace shiplap::sim
