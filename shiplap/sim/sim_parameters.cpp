#include "shiplap/sim/sim_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/more_gpus.hpp"
#include "shiplap/schedule/names.hpp"
#include "shiplap/sim/assumptions.hpp"

namespace shiplap::sim {
namespace {

double or_zero(const Parameter<Seconds>& parameter) { return parameter ? parameter->value.count() : 0; }

/// The costs of a transfer of which only the whole time is known. The copy engine is busy for all of it.
CopyFigures figures_from_times(const std::vector<TimeAt>& rows, Bytes size) {
  const double per_byte = time_at(rows, size).count() / static_cast<double>(size.count);
  return {.per_byte = per_byte, .duplex_per_byte = per_byte};
}

}  // namespace

SimParameters::SimParameters(const Profile& profile) : profile_(&profile) {
  submit_copy = or_zero(profile.submission.copy);
  submit_launch = or_zero(profile.submission.launch);
  record = or_zero(profile.submission.event_record);
  wait = or_zero(profile.submission.event_wait);
  for (std::size_t number = 0; number < profile.gpus.size(); ++number) {
    const GpuModel model = with_figures_of_first(profile, number);
    sim::Gpu& gpu = gpus_.emplace_back(
        sim::Gpu{.copy_engines = model.copy_engines,
                 .order = model.engine_order,
                 .stream_groups = serves_streams_in_groups(model) ? model.stream_groups.value_or(1) : 1,
                 .implicit_sync = model.implicit_sync,
                 .concurrent_kernels = model.concurrent_kernels,
                 .launch_latency = or_zero(model.launch_latency),
                 .kernel_gap = or_zero(model.kernel_gap),
                 .h2d_handover = {},
                 .d2h_handover = {}});
    if (!model.handovers) continue;
    gpu.h2d_handover = {model.handovers->h2d_same_stream.value.count(),
                        model.handovers->h2d_other_stream.value.count()};
    gpu.d2h_handover = {model.handovers->d2h_same_stream.value.count(),
                        model.handovers->d2h_other_stream.value.count()};
  }
}

const ZeroCopyModel& SimParameters::zero_copy(std::uint16_t gpu, std::uint16_t numa_node) const {
  const LinkModel& link = profile_->link(gpu, numa_node);
  if (!link.zero_copy) throw_missing("kernels that access host memory");
  return *link.zero_copy;
}

CopyFigures SimParameters::copy(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const {
  const LinkModel& link = profile_->link(gpu, numa_node);
  const DirectionModel& direction = to_device ? link.h2d : link.d2h;
  const CostAt cost = cost_at(direction, size);
  const double per_byte = direction.per_byte.value.seconds;
  const WaitingStreams waiting = link.waiting_streams.value_or(WaitingStreams{});
  const Slowdown& alone = to_device ? waiting.h2d : waiting.d2h;
  return {.latency = cost.latency_overhead.count(),
          .gap = cost.gap.count(),
          .duplex_gap = duplex_gap_at(direction, size).count(),
          .per_byte = per_byte,
          .duplex_per_byte = direction.duplex ? direction.duplex->per_byte.value.seconds : per_byte,
          .waiting_gap = alone.gap.value.count(),
          .duplex_waiting_gap = waiting.duplex.gap.value.count(),
          .waiting_per_byte = alone.per_byte.value.seconds,
          .duplex_waiting_per_byte = waiting.duplex.per_byte.value.seconds};
}

double SimParameters::just_written_delay(Bytes size) const {
  return profile_->host ? shiplap::just_written_delay(*profile_->host, size).count() : 0;
}

double SimParameters::batched_gap(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const {
  const LinkModel& link = profile_->link(gpu, numa_node);
  return gap_at(known((to_device ? link.h2d : link.d2h).batched, "copies in batches"), size).count();
}

double SimParameters::batched_copy() const {
  const Parameter<Seconds>& cost = profile_->submission.batched_copy;
  if (!cost) throw_missing("copies in batches");
  return cost->value.count();
}

double SimParameters::graph_launch(std::size_t ops) const {
  const SubmissionModel& cost = profile_->submission;
  if (!cost.graph_launch || !cost.graph_op) throw_missing("the launch of graphs");
  return cost.graph_launch->value.count() + static_cast<double>(ops) * cost.graph_op->value.count();
}

const Gpu& SimParameters::gpu(std::uint16_t number) const {
  if (number >= gpus_.size())
    throw Unsupported(
        fmt::format("profile {} knows {} GPU(s); the schedule uses GPU {}", profile_->name, gpus_.size(), number));
  return gpus_[number];
}

CopyFigures SimParameters::pageable_copy(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const {
  const LinkModel& link = profile_->link(gpu, numa_node);
  const char* what = "copies between pageable memory and the GPU";
  if (!link.pageable) throw_missing(what);
  CopyFigures figures = figures_from_times(known(to_device ? link.pageable->h2d : link.pageable->d2h, what), size);
  figures.duplex_per_byte =
      link.pageable->both.empty() ? figures.per_byte : figures_from_times(link.pageable->both, size).per_byte;
  return figures;
}

const BlockModel& SimParameters::blocks(std::uint16_t gpu, std::uint16_t numa_node) const {
  const LinkModel& link = profile_->link(gpu, numa_node);
  if (!link.blocks) throw_missing("moves of scattered blocks");
  return *link.blocks;
}

// Host threads move blocks without the GPU, so each link of the node has their times.
const BlockModel& SimParameters::blocks_by_host(std::uint16_t numa_node) const {
  const auto found = std::ranges::find_if(profile_->links, [&](const LinkModel& link) {
    return link.blocks && (numa_node == any_numa_node || link.numa_node == numa_node);
  });
  if (found == profile_->links.end()) throw_missing("moves of scattered blocks");
  return *found->blocks;
}

const std::vector<BlockTime>& SimParameters::block_times(const BlockModel& model, const std::string& name) const {
  const auto rows = model.movers.find(name);
  if (rows == model.movers.end()) throw_missing(fmt::format("the mover \"{}\"", name));
  return known(rows->second, fmt::format("the mover \"{}\"", name));
}

BlockCost SimParameters::block_copy(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, const Mover& mover,
                                    MemoryKind pool, Bytes block, std::uint64_t blocks) const {
  const BlockModel& model = this->blocks(gpu, numa_node);
  return block_cost(block_times(model, name_in_profile(mover, pool, to_device)), mover.grid, block, blocks);
}

double SimParameters::block_copy_by_host(std::uint16_t numa_node, bool gather, Bytes block,
                                         std::uint64_t blocks) const {
  const BlockModel& model = blocks_by_host(numa_node);
  return block_cost(block_times(model, gather ? "host pinned h2d" : "host pinned d2h"), 0, block, blocks).time.count();
}

std::optional<MutualSlowdown> SimParameters::beside_mover(std::uint16_t gpu, std::uint16_t numa_node, bool gather,
                                                          std::uint32_t grid) const {
  const BlockModel& model = blocks(gpu, numa_node);
  return beside_at(gather ? model.beside_gather : model.beside_scatter, grid);
}

CopyFigures SimParameters::prefetch(std::uint16_t gpu, std::uint16_t numa_node, bool to_device, Bytes size) const {
  const ManagedModel& model = managed(gpu, numa_node);
  return figures_from_times(known(to_device ? model.prefetch_h2d : model.prefetch_d2h, "prefetches of managed memory"),
                            size);
}

CopyFigures SimParameters::device_copy(std::uint16_t from, std::uint16_t to, bool peer_access, Bytes size) const {
  if (from == to) {
    const GpuModel& model = profile_->gpus.at(from);
    if (!model.copy_bandwidth) throw_missing("copies inside the memory of a GPU");
    const double per_byte = 1 / model.copy_bandwidth->value.bytes_per_second;
    return {.latency = gpu(from).launch_latency, .per_byte = per_byte, .duplex_per_byte = per_byte};
  }
  const std::string what = fmt::format("copies from GPU {} to GPU {}", from, to);
  for (const PeerModel& peer : profile_->peers)
    if (peer.from == from && peer.to == to)
      return figures_from_times(known(peer_access && !peer.direct.empty() ? peer.direct : peer.staged, what), size);
  throw_missing(what);
}

std::vector<SharedPath> SimParameters::shared(std::size_t gpus) const {
  std::vector<SharedPath> paths;
  for (const SharedRates& rates : profile_->shared) {
    SharedPath path{.gpus = std::vector<bool>(gpus),
                    .h2d = rates.h2d.value.bytes_per_second,
                    .d2h = rates.d2h.value.bytes_per_second,
                    .both = rates.both.value.bytes_per_second};
    for (const std::uint16_t gpu : rates.gpus)
      if (gpu < gpus) path.gpus[gpu] = true;
    if (std::ranges::count(path.gpus, true) > 1) paths.push_back(std::move(path));
  }
  return paths;
}

double SimParameters::demand(std::uint16_t gpu, std::uint16_t numa_node, Bytes missing) const {
  if (missing.count == 0) return 0;
  return time_at(known(managed(gpu, numa_node).demand_h2d, "kernels that touch managed memory on the host"), missing)
      .count();
}

double SimParameters::host_call(HostCall::Kind kind, MemoryKind memory, Bytes size) const {
  const std::string name = name_in_profile(kind, memory);
  const auto rows = host().calls.find(name);
  if (rows == host().calls.end() || rows->second.empty()) throw_missing(fmt::format("\"{}\" by the host", name));
  return time_at(rows->second, size).count();
}

std::vector<RateOfThreads> SimParameters::host_copy_rates(Bytes rings) const {
  return known(rings.count == 0 ? host().copy : staging_rates(host(), rings), "copies by host threads");
}

double SimParameters::host_demand_rate(std::size_t threads) const {
  const char* what = "host threads that touch managed memory on a GPU";
  const std::uint16_t gpu = 0;  // several GPUs cannot share managed memory
  return rate_of(known(managed(gpu, any_numa_node).demand_d2h, what), static_cast<unsigned>(threads)).bytes_per_second;
}

const HostModel& SimParameters::host() const {
  if (!profile_->host) throw_missing("what host threads do");
  return *profile_->host;
}

const ManagedModel& SimParameters::managed(std::uint16_t gpu, std::uint16_t numa_node) const {
  const LinkModel& link = profile_->link(gpu, numa_node);
  if (!link.managed) throw_missing("managed memory");
  return *link.managed;
}

void SimParameters::throw_missing(const std::string& what) const {
  throw Unsupported(
      fmt::format("profile {} has no figures for {}: measure it (shiplap measure)", profile_->name, what));
}

}  // namespace shiplap::sim
