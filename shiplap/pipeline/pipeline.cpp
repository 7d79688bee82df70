#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/run.hpp"

namespace shiplap {
namespace {

// Bytes of device memory that `items` items of the job take, all arrays.
Bytes resident_size(const Job& job, std::uint64_t items) {
  Bytes sum;
  for (const Array& array : job.arrays)
    sum += array.role == Role::resident ? array.size : slice(job, array, {0, items}).length;
  return sum;
}

/// Touches all managed buffers there: a buffer's place is where its pages are when a schedule starts.
Schedule all_on_the_host(const Schedule& schedule) {
  Schedule back;
  back.buffers = schedule.buffers;
  for (std::uint32_t b = 0; b < back.buffers.size(); ++b) {
    if (back.buffers[b].memory != MemoryKind::managed || back.buffers[b].size.count == 0) continue;
    back.buffers[b].place = Place::gpu();
    back.add({.what = HostCall{.kind = HostCall::Kind::touch, .region = {BufferId{b}, Bytes{0}, back.buffers[b].size}},
              .queue = {},
              .agent = AgentId{0},
              .after = {},
              .chunk = 0});
  }
  return back;
}

}  // namespace

Pipeline::Pipeline(Device& device, Workload workload) : device_(device), workload_(std::move(workload)) {
  for (const Array& array : workload_.job.arrays)
    arrays_.push_back(device_.allocate(Place::host(), array.memory, array.size));
  refill();
}

Pipeline::~Pipeline() = default;

void Pipeline::refill() {
  std::vector<std::span<std::byte>> spans;
  for (const Memory& memory : arrays_) spans.push_back(memory.bytes());
  workload_.fill(spans);
}

std::string Pipeline::verify() const {
  std::vector<std::span<std::byte>> spans;
  for (const Memory& memory : arrays_) spans.push_back(memory.bytes());
  return workload_.verify(spans);
}

Pipeline::Prepared Pipeline::bind(Schedule schedule, const std::vector<Memory>& given) {
  Prepared prepared;
  prepared.schedule_ = std::move(schedule);
  Bindings bindings;
  for (std::size_t b = 0; b < prepared.schedule_.buffers.size(); ++b) {
    if (b < given.size()) {
      bindings.buffers.push_back(given[b].data());
      continue;
    }
    const Buffer& buffer = prepared.schedule_.buffers[b];
    prepared.device_memory_.push_back(device_.allocate(buffer.place, buffer.memory, buffer.size));
    bindings.buffers.push_back(prepared.device_memory_.back().data());
  }
  bindings.kernels.assign(prepared.schedule_.kernels.size(), workload_.kernel);
  prepared.execution_ = device_.prepare(prepared.schedule_, bindings);
  const Schedule back = all_on_the_host(prepared.schedule_);
  if (!back.ops.empty()) prepared.bring_back_ = device_.prepare(back, {.buffers = bindings.buffers, .kernels = {}});
  return prepared;
}

RunResult Pipeline::Prepared::run(const RunOptions& options) {
  if (schedule_.ops.empty()) return {};
  if (bring_back_) bring_back_->run();
  return execution_->run(options);
}

Pipeline::Prepared Pipeline::prepare(const Choice& choice, const Limits& limits) {
  return bind(find_strategy(choice.strategy).schedule(workload_.job, choice, limits), arrays_);
}

Pipeline::Prepared Pipeline::prepare_duplex(const Limits& limits) {
  // What the link can do, whatever memory the arrays are in: others stand in for those that are not page-locked.
  Job page_locked = workload_.job;
  for (Array& array : page_locked.arrays)
    if (!is_page_locked(array.memory)) array.memory = MemoryKind::pinned;
  const auto memory_of = [](const Array& array) { return array.memory; };
  if (std::ranges::equal(page_locked.arrays, workload_.job.arrays, {}, memory_of, memory_of))
    return bind(duplex_schedule(page_locked, limits.device_memory), arrays_);
  std::vector<Memory> stand_ins;
  for (const Array& array : page_locked.arrays) {
    stand_ins.push_back(device_.allocate(Place::host(), array.memory, array.size));
    device_.fill(stand_ins.back(), stand_ins.size());
  }
  Prepared prepared = bind(duplex_schedule(page_locked, limits.device_memory), stand_ins);
  std::ranges::move(stand_ins, std::back_inserter(prepared.device_memory_));
  return prepared;
}

// `pieces` launches over the same resident data, each of items / pieces items, behind the copies that bring the data.
Schedule Pipeline::kernel_schedule(std::uint64_t items, std::uint32_t pieces, const Limits& limits,
                                   std::uint64_t blocks) const {
  const Job& job = workload_.job;
  Schedule schedule;
  const QueueId queue = schedule.add_queue("compute");
  const KernelId kernel = schedule.add_kernel(job.name);
  const std::uint64_t most = (items + pieces - 1) / pieces;
  std::vector<Access> operands;
  for (const Array& array : job.arrays) {
    const Bytes length = array.role == Role::resident ? array.size : slice(job, array, {0, most}).length;
    const BufferId buffer = schedule.add_buffer(
        {.name = array.name + " on the GPU", .place = Place::gpu(), .memory = MemoryKind::device, .size = length});
    const bool reads_only = array.role == Role::in || array.role == Role::resident;
    operands.push_back({{buffer, Bytes{0}, length}, reads_only ? AccessMode::read : AccessMode::write});
  }
  for (std::uint32_t p = 0; p * most < items; ++p) {
    const std::uint64_t count = std::min(most, items - p * most);
    Grid launch_grid = grid(job, count, limits.resident_threads, 1);
    if (blocks > 0) launch_grid.blocks = std::min(launch_grid.blocks, blocks);
    Kernel launch{.kernel = kernel,
                  .first_item = 0,
                  .items = count,
                  .work = job.cost.points.empty() ? Seconds{0} : kernel_time(job, count, blocks),
                  .blocks = launch_grid.blocks,
                  .resident_blocks = launch_grid.resident_blocks,
                  .operands = operands,
                  .flows = {}};
    schedule.add({.what = std::move(launch), .queue = queue, .agent = AgentId{0}, .after = {}, .chunk = p});
  }
  return schedule;
}

// Real data on the device: a kernel may take another time on whatever the memory held before.
void Pipeline::load_resident(const Prepared& prepared) {
  Schedule load;
  const QueueId queue = load.add_queue("in");
  Bindings bindings;
  std::vector<Memory> copies;  // of managed arrays, whose pages would move
  for (std::size_t a = 0; a < arrays_.size(); ++a) {
    const Array& array = workload_.job.arrays[a];
    const bool copied = array.memory == MemoryKind::managed;
    if (copied) {
      copies.push_back(device_.allocate(Place::host(), MemoryKind::pinned, array.size));
      std::memcpy(copies.back().data(), arrays_[a].data(), array.size.count);
    }
    const BufferId from = load.add_buffer({.name = array.name,
                                           .place = Place::host(),
                                           .memory = copied ? MemoryKind::pinned : array.memory,
                                           .size = array.size});
    bindings.buffers.push_back(copied ? copies.back().data() : arrays_[a].data());
    const BufferId to = load.add_buffer(prepared.schedule_.buffers[a]);
    bindings.buffers.push_back(prepared.device_memory_[a].data());
    const Bytes length = load.buffers[to.index()].size;
    if (length.count == 0) continue;
    load.add({.what = Copy{{from, Bytes{0}, length}, {to, Bytes{0}, length}},
              .queue = queue,
              .agent = AgentId{0},
              .after = {},
              .chunk = 0});
  }
  if (!load.ops.empty()) device_.prepare(load, bindings)->run();
}

Pipeline::Prepared Pipeline::prepare_kernel(const Limits& limits) {
  const Job& job = workload_.job;
  std::uint32_t pieces = 1;
  while (pieces < job.items && resident_size(job, (job.items + pieces - 1) / pieces) > limits.device_memory) ++pieces;
  Prepared prepared = bind(kernel_schedule(job.items, pieces, limits, 0), {});
  load_resident(prepared);
  return prepared;
}

KernelCost Pipeline::probe_kernel(const Limits& limits, unsigned repeats) {
  const Job& job = workload_.job;
  const ProbeKernel empty = device_.probe_kernel(ProbeKernel::Kind::empty, 1, 0);
  Schedule launch;
  const QueueId queue = launch.add_queue("compute");
  const KernelId kernel = launch.add_kernel("empty");
  launch.add({.what = Kernel{.kernel = kernel, .items = 1, .work = empty.work, .operands = {}, .flows = {}},
              .queue = queue,
              .agent = AgentId{0},
              .after = {},
              .chunk = 0});
  const auto launch_only = device_.prepare(launch, {.buffers = {}, .kernels = {empty.binding}});

  struct Size {
    std::uint64_t items;
    std::uint64_t blocks;  // 0: the kernel's own grid
    Prepared prepared;
    std::vector<double> seconds;
  };
  std::vector<Size> sizes;
  std::uint64_t whole = job.items;
  while (whole > 1 && resident_size(job, whole) > limits.device_memory / 2) whole = (whole + 1) / 2;
  // One block for each multiprocessor, one wave of blocks, and the whole: the floor and two points of the full GPU.
  const DeviceInfo info = device_.info();
  const std::uint64_t floor = std::max(1u, info.multiprocessors) * job.items_per_block;
  const std::uint64_t wave =
      std::max<std::uint64_t>(1, info.resident_threads / job.threads_per_block) * job.items_per_block;
  for (const std::uint64_t items : {floor, wave, whole}) {
    if (items > whole || (items < whole && 2 * items > whole) || (!sizes.empty() && sizes.back().items == items))
      continue;
    sizes.push_back({items, 0, bind(kernel_schedule(items, 1, limits, 0), {}), {}});
    load_resident(sizes.back().prepared);
  }
  // The one of a wave once more with few blocks: what the kernel can do when it is throttled.
  constexpr std::uint64_t few_blocks = 16;
  if (const std::uint64_t items = std::min(wave, whole); job.any_grid && items >= few_blocks * job.items_per_block) {
    sizes.push_back({items, few_blocks, bind(kernel_schedule(items, 1, limits, few_blocks), {}), {}});
    load_resident(sizes.back().prepared);
  }
  std::vector<double> latency;
  constexpr unsigned warm_up = 3;
  for (unsigned i = 0; i < warm_up + repeats; ++i) {
    const double launched = launch_only->run({.hold = true}).timeline.makespan.count();
    if (i >= warm_up) latency.push_back(launched);
    for (Size& size : sizes) {
      const double time = size.prepared.run({.hold = true}).timeline.makespan.count();
      if (i >= warm_up) size.seconds.push_back(time);
    }
  }
  KernelCost cost{.points = {}, .limited = std::nullopt, .origin = "measured on resident data"};
  const double launched = median(latency);
  for (const Size& size : sizes) {
    const Estimate e = median_estimate(size.seconds);
    const auto without_launch = [&](double t) { return Seconds{std::max(0.0, t - launched)}; };
    const Interval<Seconds> work{without_launch(e.value), without_launch(e.low), without_launch(e.high)};
    if (size.blocks > 0)
      cost.limited = KernelCost::Limited{size.items, size.blocks, work};
    else
      cost.points.push_back({size.items, work});
  }
  return cost;
}

}  // namespace shiplap
