#include "shiplap/sim/kernel_flow.hpp"

#include <algorithm>

#include "shiplap/core/error.hpp"

namespace shiplap::sim {
namespace {

double launch(const KernelFlow& flow) { return std::max(flow.reads, flow.writes); }

const std::vector<MappedBeside>& beside(const KernelFlow& flow, bool reads, bool h2d) {
  const ZeroCopyModel& link = *flow.link;
  if (reads) return h2d ? link.read_beside_h2d : link.read_beside_d2h;
  return h2d ? link.write_beside_h2d : link.write_beside_d2h;
}

const std::vector<MappedRate>& alone(const KernelFlow& flow, bool reads) {
  return reads ? flow.link->read : flow.link->write;
}

/// Bytes under way as copies feel them: a kernel that cannot use what the copies leave it has no more under way than
/// its own rate needs.
double pressure(const KernelFlow& flow, bool reads, bool beside_h2d) {
  if (flow.work <= 0) return flow.in_flight;
  const double rate = (reads ? flow.reads : flow.writes) / flow.work;
  // Close to what the link gives, its writes (or requests) pile up as if it wanted more.
  constexpr double close = 0.9;
  const Bandwidth left = kernel_rate_at(beside(flow, reads, beside_h2d), launch(flow), flow.in_flight);
  if (rate >= close * left.bytes_per_second) return flow.in_flight;
  return std::min(flow.in_flight, in_flight_for(alone(flow, reads), Bandwidth{rate}));
}

}  // namespace

KernelFlow kernel_flow(const Schedule& schedule, const Kernel& kernel, std::uint16_t gpu, const Machine& machine) {
  KernelFlow flow;
  flow.work = kernel.work.count();
  for (const Flow& f : kernel.flows) {
    const Place place = schedule.buffers[f.buffer.index()].place;
    if (!place.is_host())
      throw Unsupported("the simulator has no figures for kernels that access another GPU's memory");
    const ZeroCopyModel* link = &machine.zero_copy(gpu, place.index);
    if (flow.link != nullptr && flow.link != link)
      throw Unsupported("the simulator has no figures for kernels that access memory of several NUMA nodes");
    flow.link = link;
    (f.mode == AccessMode::read ? flow.reads : flow.writes) += static_cast<double>(f.bytes.count);
    flow.in_flight = std::max(flow.in_flight, static_cast<double>(f.in_flight.count));
  }
  return flow;
}

// Copies take from each of its directions what they take from a kernel with that direction alone.
double duration(const KernelFlow& flow, bool beside_h2d, bool beside_d2h) {
  const bool both = flow.reads > 0 && flow.writes > 0;
  double longest = flow.work;
  for (const bool reads : {true, false}) {
    const double bytes = reads ? flow.reads : flow.writes;
    if (bytes <= 0) continue;
    const double by_itself = rate_at(alone(flow, reads), flow.in_flight).bytes_per_second;
    double rate = both ? rate_at(flow.link->both, flow.in_flight).bytes_per_second : by_itself;
    for (const bool h2d : {true, false})
      if (h2d ? beside_h2d : beside_d2h)
        rate *= kernel_rate_at(beside(flow, reads, h2d), launch(flow), flow.in_flight).bytes_per_second / by_itself;
    longest = std::max(longest, bytes / rate);
  }
  return longest;
}

double copy_per_byte(const KernelFlow& flow, bool to_device) {
  double longest = 0;
  for (const bool reads : {true, false}) {
    if ((reads ? flow.reads : flow.writes) <= 0) continue;
    const double under_way = pressure(flow, reads, to_device);
    longest =
        std::max(longest, 1 / copy_rate_at(beside(flow, reads, to_device), launch(flow), under_way).bytes_per_second);
  }
  return longest;
}

}  // namespace shiplap::sim
