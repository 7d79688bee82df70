#include "shiplap/pipeline/ideal_overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/pattern.hpp"
#include "shiplap/plan/duplex_schedule.hpp"
#include "shiplap/plan/ideal_overlap.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/chunk_kernel.hpp"
#include "shiplap/workload/array_place.hpp"
#include "shiplap/workload/launches.hpp"

namespace shiplap {
namespace {

/// Whether launches on resident data read the caller's memory: an array on the GPU that they do not write.
bool is_read_in_place(const Array& array) { return is_on_gpu(array) && !is_written(array.role); }

// Several launches over the same resident data, each of items / launches items. The buffers of `read_in_place` come
// first, because the caller has them.
Schedule kernel_schedule(const Job& job, std::uint64_t items, std::uint32_t launches, const Limits& limits,
                         std::uint64_t blocks, DeviceRing::Alignment aligned = DeviceRing::Alignment::own) {
  Schedule schedule;
  const StreamId stream = schedule.add_stream("compute");
  schedule.add_kernel(job.name);
  const ItemRange most = launched_items(job, (items + launches - 1) / launches);
  // What is read in place has its alignment, and so have all other operands, as in the runs (ChunkMemory).
  if (std::ranges::any_of(job.arrays, is_on_gpu)) aligned = DeviceRing::Alignment::in_array;
  std::vector<Access> operands(job.arrays.size());
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    const Array& array = job.arrays[a];
    if (!is_read_in_place(array)) continue;
    const ByteRange part = reach_of(job, array, most);
    const BufferId buffer =
        schedule.add_buffer({.name = array.name, .place = place_of(array), .memory = array.memory, .size = array.size});
    operands[a] = {{buffer, part.offset, part.length}, AccessMode::read, part.offset};
  }
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    const Array& array = job.arrays[a];
    if (is_read_in_place(array)) continue;
    const ByteRange part = reach_of(job, array, most);
    const bool in_array = aligned == DeviceRing::Alignment::in_array && part.length.count > 0;
    const BufferId buffer = schedule.add_buffer({.name = array.name + " on the GPU",
                                                 .place = Place::gpu(),
                                                 .memory = MemoryKind::device,
                                                 .size = part.length + (in_array ? DeviceRing::alignment : Bytes{})});
    const Bytes offset = in_array ? DeviceRing::offset_in_slot(part.offset, aligned) : Bytes{};
    operands[a] = {{buffer, offset, part.length}, access_mode(array.role), part.offset};
  }
  for (std::uint32_t p = 0; p * most.count < items; ++p) {
    const std::uint64_t count = std::min(most.count, items - p * most.count);
    const ItemRange range{most.first, count};
    Kernel launch = untimed_launch(job, range, limits, blocks);
    if (!job.cost.points.empty()) launch.work = kernel_time(job, average_items(job, range), blocks);
    launch.operands = operands;
    schedule.add({.what = std::move(launch), .stream = stream, .agent = AgentId{0}, .after = {}, .chunk = p});
  }
  return schedule;
}

// Copies the job's data to the device, because the time of a kernel may depend on the data.
void load_resident(Device& device, const Job& job, const Prepared& prepared) {
  Schedule load;
  const StreamId stream = load.add_stream("in");
  Bindings bindings;
  std::vector<Memory> copies;  // copies of managed arrays, whose own pages must not move
  const std::vector<Access>& operands = std::get<Kernel>(prepared.schedule().ops.front().what).operands;
  const std::vector<std::byte*> data = data_of(job);
  for (std::uint32_t a = 0; a < job.arrays.size(); ++a) {
    const Array& array = job.arrays[a];
    if (array.role == Role::scratch || is_read_in_place(array)) continue;
    const std::size_t source = array.prefix_of.value_or(a);
    const BufferId resident = operands[a].region.buffer;
    const ByteRange part{operands[a].origin, operands[a].region.length};
    const MemoryKind memory = job.arrays[source].memory;
    const bool copied = memory == MemoryKind::managed;
    if (copied) {
      copies.push_back(device.allocate(Place::host(), MemoryKind::pinned, array.size));
      std::memcpy(copies.back().data(), data[source], array.size.count);
    }
    const BufferId from = load.add_buffer({.name = array.name,
                                           .place = place_of(job.arrays[source]),
                                           .memory = copied ? MemoryKind::pinned : memory,
                                           .size = array.size});
    bindings.buffers.push_back(copied ? copies.back().data() : data[source]);
    const BufferId to = load.add_buffer(prepared.schedule().buffers[resident.index()]);
    bindings.buffers.push_back(prepared.own(resident).data());
    if (part.length.count == 0) continue;
    load.add({.what = Copy{{from, part.offset, part.length}, {to, operands[a].region.offset, part.length}},
              .stream = stream,
              .agent = AgentId{0},
              .after = {},
              .chunk = 0});
  }
  if (!load.ops.empty()) device.prepare(load, bindings)->run();
}

Prepared loaded(Device& device, const Job& job, Schedule schedule) {
  Prepared prepared(device, std::move(schedule), read_in_place(job), job.binding);
  load_resident(device, job, prepared);
  return prepared;
}

}  // namespace

std::vector<std::byte*> read_in_place(const Job& job) {
  std::vector<std::byte*> data;
  for (const Array& array : job.arrays)
    if (is_read_in_place(array)) data.push_back(array.prefix_of ? job.arrays[*array.prefix_of].data : array.data);
  return data;
}

ItemRange launched_items(const Job& job, std::uint64_t items) {
  const std::uint64_t middle = (job.items - items) / 2;
  return {middle - middle % job.items_per_block, items};
}

Bytes resident_size(const Job& job, std::uint64_t items) {
  Bytes sum;
  for (const Array& array : job.arrays)
    if (!is_read_in_place(array)) sum += reach_of(job, array, launched_items(job, items)).length;
  return sum;
}

std::uint64_t items_that_fit(const Job& job, std::uint64_t items, const Limits& limits) {
  while (items > 1 && resident_size(job, items) > limits.device_memory / 2) items = (items + 1) / 2;
  return items;
}

Prepared prepare_duplex(Device& device, const Job& job, const Limits& limits, std::uint32_t gpus, const Relay& relay) {
  Job pinned = job;
  std::vector<std::byte*> data = data_of(job);
  std::vector<Memory> stand_ins;
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    if (is_pinned(job.arrays[a].memory) || is_on_gpu(job.arrays[a])) continue;
    pinned.arrays[a].memory = MemoryKind::pinned;
    stand_ins.push_back(device.allocate(Place::host(), MemoryKind::pinned, size_on_host(job.arrays[a])));
    fill_pattern(stand_ins.back().bytes(), stand_ins.size());
    data[a] = stand_ins.back().data();
  }
  Prepared prepared(device, duplex_schedule(pinned, limits.device_memory, gpus, relay), std::move(data), {});
  prepared.keep(std::move(stand_ins));
  return prepared;
}

Prepared prepare_kernel(Device& device, const Job& job, const Limits& limits, std::uint32_t gpus) {
  const std::uint64_t items = (job.items + gpus - 1) / gpus;
  if (resident_size(job, 1) > limits.device_memory)
    throw Error(
        fmt::format("{}: the arrays that stay on the GPU and one item need {} of device memory, and {} may be "
                    "used: allow more device memory, or make the arrays smaller",
                    job.name, to_string(resident_size(job, 1)), to_string(limits.device_memory)));
  std::uint32_t launches = 1;
  while (launches < items && resident_size(job, (items + launches - 1) / launches) > limits.device_memory) ++launches;
  return loaded(device, job, kernel_schedule(job, items, launches, limits, 0));
}

IdealOverlapRuns::IdealOverlapRuns(Device& device, const Job& job, const Limits& limits, std::uint32_t gpus,
                                   const Relay& relay)
    : copies_(prepare_duplex(device, job, limits, gpus, relay)), kernel_(prepare_kernel(device, job, limits, gpus)) {
  kernel_.run();  // may allocate or load code, which a GPU that is held cannot do
}

Seconds IdealOverlapRuns::run() {
  const bool held = can_be_held(kernel_.schedule());
  return std::max(copies_.run({.hold = true}).timeline.makespan, kernel_.run({.hold = held}).timeline.makespan);
}

Bytes IdealOverlapRuns::device_memory() const {
  return memory_at(copies_.schedule(), Place::gpu()) + memory_at(kernel_.schedule(), Place::gpu());
}

Schedule launch_schedule(const Job& job, std::uint64_t items, const Limits& limits, std::uint64_t blocks,
                         DeviceRing::Alignment aligned) {
  return kernel_schedule(job, items, 1, limits, blocks, aligned);
}

Prepared prepare_launch(Device& device, const Job& job, std::uint64_t items, const Limits& limits, std::uint64_t blocks,
                        DeviceRing::Alignment aligned) {
  return loaded(device, job, launch_schedule(job, items, limits, blocks, aligned));
}

}  // namespace shiplap
