#include "shiplap/sim/kernel_flow.hpp"

#include <algorithm>

#include "shiplap/core/error.hpp"

namespace shiplap::sim {
namespace {

/// One way: bytes, and how many of them are under way at once at most. Accesses of a thread to several buffers wait for
/// none of each other.
struct Way {
  double bytes = 0;
  double in_flight = 0;
};

struct Flows {
  const ZeroCopyModel* link = nullptr;
  Way reads;
  Way writes;
};

Flows flows_of(const Schedule& schedule, const Kernel& kernel, std::uint16_t gpu, const Machine& machine) {
  Flows flows;
  for (const Flow& f : kernel.flows) {
    const Place place = schedule.buffers[f.buffer.index()].place;
    if (!place.is_host())
      throw Unsupported("the simulator has no figures for kernels that access another GPU's memory");
    const ZeroCopyModel* link = &machine.zero_copy(gpu, place.index);
    if (flows.link != nullptr && flows.link != link)
      throw Unsupported("the simulator has no figures for kernels that access memory of several NUMA nodes");
    flows.link = link;
    Way& way = f.mode == AccessMode::read ? flows.reads : flows.writes;
    way.bytes += in_bytes(f.bytes);
    way.in_flight += in_bytes(f.in_flight);
  }
  return flows;
}

/// Seconds of the way's bytes at what such a kernel moves alone, or beside copies where `beside` has rows.
double of_way(const Way& way, const std::vector<MappedRate>& alone, const std::vector<MappedBeside>* beside) {
  if (way.bytes <= 0) return 0;
  const Bandwidth rate = beside == nullptr || beside->empty() ? rate_at(alone, way.in_flight)
                                                              : kernel_rate_at(*beside, way.in_flight);
  return way.bytes / rate.bytes_per_second;
}

/// Both ways share the link as those of a kernel do that moves as much one way as the other.
double on_the_link(const Flows& flows, const std::vector<MappedBeside>* reads, const std::vector<MappedBeside>* writes) {
  const double apart =
      std::max(of_way(flows.reads, flows.link->read, reads), of_way(flows.writes, flows.link->write, writes));
  if (flows.reads.bytes <= 0 || flows.writes.bytes <= 0) return apart;
  const double in_flight = std::max(flows.reads.in_flight, flows.writes.in_flight);
  const double each_way = rate_at(flows.link->both, in_flight).bytes_per_second;
  return std::max(apart, (flows.reads.bytes + flows.writes.bytes) / (2 * each_way));
}

double copy_per_byte(const Way& way, const std::vector<MappedBeside>& rows) {
  return way.bytes <= 0 || rows.empty() ? 0 : 1 / copy_rate_at(rows, way.in_flight).bytes_per_second;
}

}  // namespace

KernelFlowTimes kernel_flow_times(const Schedule& schedule, const Kernel& kernel, std::uint16_t gpu,
                                  const Machine& machine) {
  if (kernel.measured) {
    const double beside = kernel.measured->beside_copies.count();
    return {.alone = kernel.measured->alone.count(),
            .beside = {beside, beside},
            .copies_beside = kernel.measured->copies_beside,
            .copy_per_byte = {}};
  }
  const Flows flows = flows_of(schedule, kernel, gpu, machine);
  const ZeroCopyModel& link = *flows.link;
  const double work = kernel.work.count();
  KernelFlowTimes times{.alone = std::max(work, on_the_link(flows, nullptr, nullptr)),
                        .beside = {std::max(work, on_the_link(flows, &link.read_beside_d2h, nullptr)),
                                   std::max(work, on_the_link(flows, nullptr, &link.write_beside_h2d))},
                        .copies_beside = 1,
                        .copy_per_byte = {copy_per_byte(flows.reads, link.read_beside_d2h),
                                          copy_per_byte(flows.writes, link.write_beside_h2d)}};
  return times;
}

}  // namespace shiplap::sim
