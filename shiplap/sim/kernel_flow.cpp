#include "shiplap/sim/kernel_flow.hpp"

#include <algorithm>
#include <cmath>

#include "shiplap/core/error.hpp"

namespace shiplap::sim {
namespace {

// Transfers that work does not hide. All blocks start with their reads, which arrive late together: half as much again
// as keeps the GPU busy. Their last writes leave when no work is left: as much as keeps the GPU busy, and less of it
// the further the blocks have drifted apart. These and the bursts below are chosen for the H200; no primitive measures
// them.
constexpr double first_reads = 1.5;
constexpr double last_writes = 0.2;
// Of the shorter of the two ends of a kernel that reads and writes, the part during which it does both: the first
// blocks write while the last ones still read.
constexpr double shared_end = 0.2;
// How far a kernel that its work limits comes from the bytes under way that its rate needs (0) to the most that it can
// have under way (1) when it is close to the link's limit: reads come in bursts of whole blocks.
constexpr double bursts_of_reads = 1;
constexpr double bursts_of_writes = 0.5;

const KernelFlow::Way& way_of(const KernelFlow& flow, bool reads) { return reads ? flow.reads : flow.writes; }

double unhidden(const KernelFlow& flow, bool reads) {
  const KernelFlow::Way& way = way_of(flow, reads);
  if (reads) return std::min({way.bytes, way.in_flight, first_reads * way.busy});
  const double together = std::min(way.in_flight, way.busy);
  return std::min(way.bytes, together) * (last_writes + (1 - last_writes) * std::min(1.0, together / way.bytes));
}

double launch(const KernelFlow& flow) { return std::max(flow.reads.bytes, flow.writes.bytes); }

const std::vector<MappedBeside>& beside(const KernelFlow& flow, bool reads, bool h2d) {
  const ZeroCopyModel& link = *flow.link;
  if (reads) return h2d ? link.read_beside_h2d : link.read_beside_d2h;
  return h2d ? link.write_beside_h2d : link.write_beside_d2h;
}

const std::vector<MappedRate>& alone(const KernelFlow& flow, bool reads) {
  return reads ? flow.link->read : flow.link->write;
}

/// Of one direction in bytes per second while the kernel moves nothing the other way, with so much under way. Copies of
/// either direction leave it a share.
double rate_alone(const KernelFlow& flow, bool reads, double in_flight, bool beside_h2d, bool beside_d2h) {
  const double near = rate_at(alone(flow, reads), in_flight).bytes_per_second;
  double left = near;
  for (const bool h2d : {true, false})
    if (h2d ? beside_h2d : beside_d2h)
      left *= kernel_rate_at(beside(flow, reads, h2d), launch(flow), in_flight).bytes_per_second / near;
  if (!reads) return left;
  // Where copies take the link too, an access waits for them and for its translation at the same time.
  const double as_if = as_if_near(*flow.link, in_flight, flow.accessed);
  return std::min(left, rate_at(alone(flow, reads), as_if).bytes_per_second);
}

/// One figure each way.
struct Ways {
  double reads = 0;
  double writes = 0;
};

/// Seconds for bytes each way with so much under way. The rates of the two ways lie on a superellipse: through what
/// each reaches alone, with the exponent that without copies gives what a kernel reaches that moves the same both ways.
double together(const KernelFlow& flow, const Ways& bytes, const Ways& under_way, bool beside_h2d, bool beside_d2h) {
  const auto by_itself = [&](bool reads) {
    const double moved = reads ? bytes.reads : bytes.writes;
    if (moved <= 0) return 0.0;
    return moved / rate_alone(flow, reads, reads ? under_way.reads : under_way.writes, beside_h2d, beside_d2h);
  };
  const double in = by_itself(true);
  const double out = by_itself(false);
  if (in <= 0 || out <= 0) return in + out;
  return std::pow(std::pow(in, flow.exponent) + std::pow(out, flow.exponent), 1 / flow.exponent);
}

/// Of one direction in bytes per second, with so much under way, and as much in proportion the other way.
double rate(const KernelFlow& flow, bool reads, double in_flight, bool beside_h2d, bool beside_d2h) {
  const double share = in_flight / way_of(flow, reads).in_flight;
  return way_of(flow, reads).bytes / together(flow, {flow.reads.bytes, flow.writes.bytes},
                                              {flow.reads.in_flight * share, flow.writes.in_flight * share}, beside_h2d,
                                              beside_d2h);
}

/// What a kernel reaches in one direction if nothing but the link and its own threads hold it up.
struct Reached {
  double rate = 0;       ///< bytes per second
  double under_way = 0;  ///< bytes on the link at once
};

/// A thread has its access on the link or works on what it got, so that work takes bytes off the link: r bytes per
/// second and t seconds of work for each access leave in_flight - r t under way, which in turn give r (a closed
/// queueing network with think time t). A thread that asks ahead spends the longer of the two on each of a row of
/// accesses, and the shorter once.
Reached reached(const KernelFlow& flow, bool reads, bool beside_h2d, bool beside_d2h) {
  const auto at = [&](double under_way) { return rate(flow, reads, under_way, beside_h2d, beside_d2h); };
  // Kernels that write only read device memory too, and so do those that the rates were measured with.
  double accesses = 1;
  for (const KernelFlow::Way& way : {flow.reads, flow.writes})
    if (way.bytes > 0) accesses = std::max(accesses, way.bytes / way.in_flight);
  const double in_flight = way_of(flow, reads).in_flight;
  const double work = flow.thread_work / accesses;
  const double think = std::max(0.0, work - flow.memory_latency);
  // That threads would need to have such a rate, more than they have.
  const auto too_many = [&](const Reached& r) {
    if (flow.accesses_ahead <= 0) return r.under_way + r.rate * think - in_flight;
    const double worked_on = r.rate * work;
    return std::max(r.under_way, worked_on) + std::min(r.under_way, worked_on) / flow.accesses_ahead - in_flight;
  };
  constexpr double close = 1e-4;
  // The zero of a function that grows with what is under way, by false position (the Illinois variant).
  Reached low;
  double below = -in_flight;
  Reached high{at(in_flight), in_flight};
  double above = too_many(high);
  enum class End : std::uint8_t { none, lower, upper } moved = End::none;
  while (above > close * in_flight && high.under_way - low.under_way > close * high.under_way) {
    const double middle = (low.under_way * above - high.under_way * below) / (above - below);
    const Reached found{at(middle), middle};
    const double beyond = too_many(found);
    if (std::abs(beyond) <= close * in_flight) return found;
    const End side = beyond > 0 ? End::upper : End::lower;
    (side == End::upper ? high : low) = found;
    (side == End::upper ? above : below) = beyond;
    if (side == moved) (side == End::upper ? below : above) /= 2;  // the other end is stuck
    moved = side;
  }
  return high;
}

/// Seconds besides its bytes and its work, of a kernel that only reads.
double launch_of_reads(const KernelFlow& flow) {
  return flow.writes.bytes > 0 || !flow.link->launch ? 0 : flow.link->launch->value.count();
}

/// Seconds besides its bytes and its work, until the last of its writes have come to the host beside copies to the GPU:
/// no more than its bytes take by themselves.
double end_of_writes(const KernelFlow& flow) {
  const auto& end = flow.link->write_end_beside_h2d;
  if (flow.writes.bytes <= 0 || !end) return 0;
  return std::min(end->value.count(),
                  flow.writes.bytes / rate_at(flow.link->write, flow.writes.in_flight).bytes_per_second);
}

struct LeastTimes {
  double link = 0;  ///< seconds that its bytes take
  double work = 0;  ///< seconds of work and of the transfers that it does not hide
  double longest() const { return std::max(link, work); }
};

// Of a kernel that reads and writes, the first reads come while little is written yet, and the last writes leave when
// little is read any more.
LeastTimes least_times(const KernelFlow& flow, bool beside_h2d, bool beside_d2h) {
  Ways under_way;
  Ways between{flow.reads.bytes, flow.writes.bytes};
  Ways ends;  // seconds
  double link = 0;
  for (const bool reads : {true, false}) {
    const KernelFlow::Way& way = way_of(flow, reads);
    if (way.bytes <= 0) continue;
    const double at_an_end = unhidden(flow, reads);
    const Reached found = reached(flow, reads, beside_h2d, beside_d2h);
    (reads ? ends.reads : ends.writes) = at_an_end / rate_alone(flow, reads, way.in_flight, beside_h2d, beside_d2h);
    (reads ? between.reads : between.writes) -= at_an_end;
    (reads ? under_way.reads : under_way.writes) = found.under_way;
    link = std::max(link, way.bytes / found.rate);
  }
  const double apart = ends.reads + ends.writes - shared_end * std::min(ends.reads, ends.writes);
  if (flow.reads.bytes > 0 && flow.writes.bytes > 0)
    link = std::max(link, apart + together(flow, between, under_way, beside_h2d, beside_d2h));
  if (flow.writes.bytes > 0) return {.link = link, .work = apart + flow.work};
  const double launch = launch_of_reads(flow);
  const Bytes read{static_cast<std::uint64_t>(flow.reads.bytes)};
  return {.link = launch + flow.accesses_in_turn * filling(*flow.link, read, flow.reads.in_flight).count() + link,
          .work = launch + apart + flow.work};
}

/// Bytes under way as copies feel them. A kernel that the link limits piles up as much as its threads leave it; one
/// that its work limits has what its own rate needs and, in bursts, more: the closer to the link's limit, the more.
/// Reads come back one block at a time, so that they pile up no further than on a busy link; writes of blocks that work
/// in step leave together.
double pressure(const KernelFlow& flow, bool reads, bool beside_h2d) {
  const auto [bytes, in_flight, busy] = way_of(flow, reads);
  const LeastTimes limit = least_times(flow, beside_h2d, !beside_h2d);
  const double under_way = reached(flow, reads, beside_h2d, !beside_h2d).under_way;
  const double least = bytes / rate(flow, reads, in_flight, beside_h2d, !beside_h2d);
  if (launch_of_reads(flow) + least >= limit.work) return under_way;
  const double steady = in_flight_for(alone(flow, reads), Bandwidth{bytes / limit.longest()});
  const double most = reads ? under_way : in_flight;
  if (steady >= most) return most;
  const double bursts = reads ? bursts_of_reads : bursts_of_writes;
  return steady * std::pow(most / steady, bursts * least / limit.longest());
}

/// What its bytes under way do to copies of a direction: that of its ways which slows them down more.
void slow_copies(const KernelFlow& flow, bool to_device, KernelFlowTimes& times) {
  for (const bool reads : {true, false}) {
    if (way_of(flow, reads).bytes <= 0) continue;
    const double under_way = pressure(flow, reads, to_device);
    const std::vector<MappedBeside>& rows = beside(flow, reads, to_device);
    double& per_byte = times.copy_per_byte[to_device];
    per_byte = std::max(per_byte, 1 / copy_rate_at(rows, launch(flow), under_way).bytes_per_second);
    double& gap = times.copy_gap[to_device];
    gap = std::max(gap, copy_gap_at(rows, launch(flow), under_way).count());
  }
}

/// The sum of the powers of two shares of the link, one each way, is 1 at what a kernel reaches that moves as much one
/// way as the other.
double exponent(const KernelFlow& flow) {
  const double in_flight = std::max(flow.reads.in_flight, flow.writes.in_flight);
  const double both = rate_at(flow.link->both, in_flight).bytes_per_second;
  const double reads = both / rate_at(flow.link->read, in_flight).bytes_per_second;
  const double writes = both / rate_at(flow.link->write, in_flight).bytes_per_second;
  double low = 0.125;  // both ways at once much slower than one after the other
  double high = 32;    // neither way feels the other
  while (high - low > 1e-6) {
    const double middle = (low + high) / 2;
    (std::pow(reads, middle) + std::pow(writes, middle) > 1 ? low : high) = middle;
  }
  return high;
}

}  // namespace

double accessed_by_kernels(const Schedule& schedule, std::uint16_t gpu) {
  std::vector<double> moved(schedule.buffers.size(), 0);
  for (const Op& op : schedule.ops) {
    const auto* kernel = std::get_if<Kernel>(&op.what);
    if (kernel == nullptr || schedule.queues[op.queue.index()].place.index != gpu) continue;
    for (const Flow& f : kernel->flows) moved[f.buffer.index()] += in_bytes(f.bytes);
  }
  double sum = 0;
  for (std::size_t b = 0; b < moved.size(); ++b) sum += std::min(moved[b], in_bytes(schedule.buffers[b].size));
  return sum;
}

KernelFlow kernel_flow(const Schedule& schedule, const Kernel& kernel, std::uint16_t gpu, const Machine& machine,
                       double accessed) {
  KernelFlow flow;
  flow.accessed = accessed;
  flow.work = kernel.work.count();
  flow.thread_work = kernel.thread_work.count();
  flow.accesses_ahead = static_cast<double>(kernel.accesses_ahead);
  flow.accesses_in_turn = static_cast<double>(kernel.accesses_in_turn);
  flow.memory_latency = machine.gpu(gpu).memory_latency;
  for (const Flow& f : kernel.flows) {
    const Place place = schedule.buffers[f.buffer.index()].place;
    if (!place.is_host())
      throw Unsupported("the simulator has no figures for kernels that access another GPU's memory");
    const ZeroCopyModel* link = &machine.zero_copy(gpu, place.index);
    if (flow.link != nullptr && flow.link != link)
      throw Unsupported("the simulator has no figures for kernels that access memory of several NUMA nodes");
    flow.link = link;
    KernelFlow::Way& way = f.mode == AccessMode::read ? flow.reads : flow.writes;
    way.bytes += static_cast<double>(f.bytes.count);
    way.in_flight += static_cast<double>(f.in_flight.count);
    way.busy += static_cast<double>((f.busy.count > 0 ? f.busy : f.in_flight).count);
  }
  if (flow.reads.bytes > 0 && flow.writes.bytes > 0) flow.exponent = exponent(flow);
  return flow;
}

KernelFlowTimes times(const KernelFlow& flow) {
  KernelFlowTimes result;
  for (const bool h2d : {false, true})
    for (const bool d2h : {false, true}) result.duration[h2d][d2h] = least_times(flow, h2d, d2h).longest();
  result.end_beside_h2d = end_of_writes(flow);
  for (const bool to_device : {false, true}) slow_copies(flow, to_device, result);
  return result;
}

}  // namespace shiplap::sim
