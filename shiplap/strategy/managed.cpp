// Strategies for arrays in managed memory, whose pages move to the processor that touches them.
// managed: the kernel faults the pages to the GPU, and then host threads fault the results back.
// managed-prefetch: pages are prefetched to the GPU before the kernel of each chunk, and results to the host after it.
// One host thread submits each direction, because the driver may hold the call until pages have moved.
#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/chunk_kernel.hpp"
#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/model_error.hpp"

namespace shiplap {
namespace {

Region in_array(std::size_t array, const ByteRange& part) {
  return {BufferId{static_cast<std::uint32_t>(array)}, part.offset, part.length};
}

/// The launch over these items. Scratch arrays have a buffer on the GPU each; their buffers follow those of all arrays.
Op launch(const Job& job, const Limits& limits, StreamId stream, std::uint32_t chunk, const ItemRange& range) {
  Kernel kernel = launch_over(job, range, limits);
  auto scratch = static_cast<std::uint32_t>(job.arrays.size());
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    const Array& array = job.arrays[a];
    const ByteRange part = reach_of(job, array, range);
    Region region = in_array(array.prefix_of.value_or(a), part);
    if (array.role == Role::scratch) region.buffer = BufferId{scratch++};
    kernel.operands.push_back({region, access_mode(array.role), part.offset});
  }
  return {.what = std::move(kernel), .stream = stream, .agent = AgentId{0}, .after = {}, .chunk = chunk};
}

void add_arrays(const Job& job, Schedule& schedule, const Limits& limits) {
  require_valid_prefixes(job);
  Bytes total;
  for (const Array& a : job.arrays) {
    if (stays(a.role) && !a.prefix_of && a.memory != MemoryKind::managed)
      throw Unsupported(
          fmt::format("{} stays on the GPU and is in {} memory: the managed strategies have it managed too", a.name,
                      to_string(a.memory)));
    schedule.add_buffer({.name = a.name, .place = Place::host(), .memory = a.memory, .size = size_on_host(a)});
    if (!a.prefix_of) total += a.size;
  }
  for (const Array& a : job.arrays)
    if (a.role == Role::scratch)
      schedule.add_buffer(
          {.name = a.name + " on the GPU", .place = Place::gpu(), .memory = MemoryKind::device, .size = a.size});
  if (!limits.holds(total))
    throw Unsupported(
        fmt::format("{} of managed memory and scratch are more than the {} that may be used on the GPU: pages would be "
                    "moved out again; use pinned or pageable arrays",
                    to_string(total), to_string(limits.device_memory)));
}

/// The part of the slice that is not in another array of the job as its front (see Array::prefix_of).
ByteRange without_front(const Job& job, std::size_t array, ByteRange slice) {
  for (const Array& a : job.arrays) {
    if (a.prefix_of != array || slice.offset >= a.size) continue;
    const Bytes in_front = std::min(a.size - slice.offset, slice.length);
    slice = {slice.offset + in_front, slice.length - in_front};
  }
  return slice;
}

/// Threads touch ranges of whole 2 MiB blocks, the unit in which the driver (open-gpu-kernel-modules,
/// UVM_VA_BLOCK_SIZE) keeps track of managed memory, so that no two threads fault on the same block.
constexpr Bytes managed_block = 2_MiB;

/// Whether the host reads the array when the job has ended.
bool comes_back(Role role) { return is_output(role) || role == Role::carried; }

void require_one_gpu(const Choice& choice, std::string_view strategy) {
  if (choice.gpus > 1) throw Unsupported(fmt::format("{} is for one GPU, not {}", strategy, choice.gpus));
}

Schedule managed_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_one_gpu(choice, "managed");
  require_memory(job, ArrayMemory::managed, "managed");
  require_single_calls(choice, "managed");
  if (choice.threads == 0) throw UsageError("`threads`: managed needs at least 1 thread that touches the results");
  Schedule schedule;
  add_arrays(job, schedule, limits);
  schedule.agents.clear();
  for (std::uint32_t t = 0; t < choice.threads; ++t)
    schedule.agents.push_back({.name = fmt::format("thread {}", t), .numa_node = std::uint16_t{0}});
  const StreamId stream = schedule.add_stream("compute");
  schedule.add_kernel(job.name.substr(0, job.name.find(':')));
  const OpId launched = schedule.add(launch(job, limits, stream, 0, {0, job.items}));
  // Each thread touches an equal number of the pages of each result.
  constexpr std::uint64_t page = managed_block.count;
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    if (!comes_back(job.arrays[a].role)) continue;
    const std::uint64_t pages = (job.arrays[a].size.count + page - 1) / page;
    for (std::uint32_t t = 0; t < choice.threads; ++t) {
      const std::uint64_t begin = pages * t / choice.threads * page;
      const std::uint64_t end = std::min(job.arrays[a].size.count, pages * (t + 1) / choice.threads * page);
      if (end <= begin) continue;
      const Region part{BufferId{static_cast<std::uint32_t>(a)}, Bytes{begin}, Bytes{end - begin}};
      schedule.add({.what = HostCall{.kind = HostCall::Kind::touch, .region = part},
                    .stream = {},
                    .agent = AgentId{t},
                    .after = {launched},
                    .chunk = 0});
    }
  }
  return schedule;
}

Schedule prefetch_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_one_gpu(choice, "managed-prefetch");
  require_memory(job, ArrayMemory::managed, "managed-prefetch");
  require_single_calls(choice, "managed-prefetch");
  Schedule schedule;
  add_arrays(job, schedule, limits);
  schedule.agents = {{.name = "in", .numa_node = {}}, {.name = "out", .numa_node = {}}};
  const StreamId in = schedule.add_stream("in");
  const StreamId compute = schedule.add_stream("compute");
  const StreamId out = schedule.add_stream("out");
  schedule.add_kernel(job.name.substr(0, job.name.find(':')));
  // Returns the op; none when there are no bytes to move.
  const auto move = [&](std::size_t array, const ByteRange& part, Place to, std::uint32_t chunk, OpId after) {
    if (part.length.count == 0) return OpId{};
    const Region region = in_array(job.arrays[array].prefix_of.value_or(array), part);
    Op op{.what = Prefetch{region, to},
          .stream = to.is_gpu() ? in : out,
          .agent = AgentId{to.is_gpu() ? 0u : 1u},
          .after = {},
          .chunk = chunk};
    if (!after.is_none()) op.after.push_back(after);
    return schedule.add(std::move(op));
  };
  const auto ranges = cut_into_chunks(job, choice.chunks);
  std::vector<std::vector<ChunkReach>> cut;
  for (const Array& a : job.arrays) {
    const ByteRange all{Bytes{0}, a.size};
    cut.push_back(stays(a.role) ? std::vector<ChunkReach>(ranges.size(), ChunkReach{all, all})
                                : chunk_reaches(job, a, ranges));
  }
  for (std::uint32_t c = 0; c < ranges.size(); ++c) {
    OpId moved;
    for (std::size_t a = 0; a < job.arrays.size(); ++a)
      if (job.arrays[a].role != Role::scratch && (!stays(job.arrays[a].role) || c == 0)) {
        const OpId op = move(a, without_front(job, a, cut[a][c].fresh), Place::gpu(), c, {});
        if (!op.is_none()) moved = op;
      }
    Op op = launch(job, limits, compute, c, ranges[c]);
    if (!moved.is_none()) op.after.push_back(moved);
    const OpId launched = schedule.add(std::move(op));
    OpId after = launched;
    for (std::size_t a = 0; a < job.arrays.size(); ++a)
      if (is_output(job.arrays[a].role) || (job.arrays[a].role == Role::carried && c + 1 == ranges.size())) {
        // Further results follow in the same stream and wait for nothing more.
        if (!move(a, cut[a][c].fresh, Place::host(), c, after).is_none()) after = {};
      }
  }
  return schedule;
}

}  // namespace

const Strategy managed_strategy{.name = "managed",
                                .summary = "kernel and host fault the pages of managed memory over",
                                .threaded = true,
                                .memory = ArrayMemory::managed,
                                .model_error = model_error::managed,
                                .schedule = managed_schedule,
                                .predict = no_closed_form};

const Strategy managed_prefetch_strategy{.name = "managed-prefetch",
                                         .summary = "pages of managed memory moved ahead of the kernel and back",
                                         .chunked = true,
                                         .memory = ArrayMemory::managed,
                                         .model_error = model_error::managed_prefetch,
                                         .schedule = prefetch_schedule,
                                         .predict = no_closed_form};

}  // namespace shiplap
