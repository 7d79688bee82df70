// Strategies for arrays in managed memory, whose pages move to the processor that touches them.
// managed: the kernel faults the pages to the GPU, and then host threads fault the results back to the host.
// managed-prefetch: pages are prefetched to the GPU before the kernel of each chunk, and results to the host after it.
// managed-implicit: pages stay on the host by advice to the driver, and the kernel accesses them over the link, as
// implicit does with pinned memory.
// Each direction has a host thread of its own, because a prefetch call may return only when the pages have moved.
#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/block_ops.hpp"
#include "shiplap/strategy/chunk_kernel.hpp"
#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/model_error.hpp"

namespace shiplap {
namespace {

Region in_array(std::size_t array, const ByteRange& bytes) {
  return {BufferId{static_cast<std::uint32_t>(array)}, bytes.offset, bytes.length};
}

/// The launch over these items. The buffers of scratch arrays on the GPU follow those of all arrays.
Op launch(const Job& job, const Limits& limits, StreamId stream, std::uint32_t chunk, const ItemRange& range,
          std::uint64_t max_grid = 0) {
  Kernel kernel = launch_over(job, range, limits, max_grid);
  auto scratch = static_cast<std::uint32_t>(job.arrays.size());
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    const Array& array = job.arrays[a];
    const ByteRange reach = reach_of(job, array, range);
    Region region = in_array(array.prefix_of.value_or(a), reach);
    if (array.role == Role::scratch) region.buffer = BufferId{scratch++};
    kernel.operands.push_back({region, access_mode(array.role), reach.offset});
  }
  return {.what = std::move(kernel), .stream = stream, .agent = AgentId{0}, .after = {}, .chunk = chunk};
}

/// Whether the kernel of managed-implicit accesses the array over the link.
bool stays_on_host(const Array& array) { return !stays(array.role) && array.role != Role::scratch; }

/// Adds the buffers of the arrays. With `advised`, those that the kernel of managed-implicit accesses over the link
/// take no memory of the GPU.
void add_arrays(const Job& job, Schedule& schedule, const Limits& limits, bool advised = false) {
  require_contiguous(job, "managed",
                     "the managed strategies need contiguous arrays: have the pool pinned (`pinned_vector`)");
  require_valid_prefixes(job);
  Bytes total;
  for (const Array& a : job.arrays) {
    if (a.kept)
      throw Unsupported(
          fmt::format("{} stays on the GPU from run to run, and runs of the managed strategies begin with all pages on "
                      "the host: use pinned or pageable arrays",
                      a.name));
    if (is_on_gpu(a))
      throw Unsupported(fmt::format(
          "{} is on the GPU already, and the managed strategies need all arrays in managed memory: use pinned or "
          "pageable arrays beside it",
          a.name));
    if (stays(a.role) && !a.prefix_of && a.memory != MemoryKind::managed)
      throw Unsupported(
          fmt::format("{} stays on the GPU and is in {} memory, but the managed strategies need it in managed memory "
                      "(`memory` managed)",
                      a.name, to_string(a.memory)));
    schedule.add_buffer({.name = a.name, .place = Place::host(), .memory = a.memory, .size = size_on_host(a)});
    if (advised && stays_on_host(a))
      schedule.buffers.back().advice = MemoryAdvice::prefer_host;
    else if (!a.prefix_of)
      total += a.size;
  }
  for (const Array& a : job.arrays)
    if (a.role == Role::scratch)
      schedule.add_buffer(
          {.name = a.name + " on the GPU", .place = Place::gpu(), .memory = MemoryKind::device, .size = a.size});
  if (!limits.holds(total))
    throw Unsupported(fmt::format(
        "{} of managed memory and scratch exceed the {} that may be used on the GPU, so pages would be evicted; "
        "use pinned or pageable arrays",
        to_string(total), to_string(limits.device_memory)));
}

/// The bytes without those that are in another array of the job, the prefix of this array (see Array::prefix_of).
ByteRange without_prefix(const Job& job, std::size_t array, ByteRange bytes) {
  for (const Array& a : job.arrays) {
    if (a.prefix_of != array || bytes.offset >= a.size) continue;
    const Bytes in_prefix = std::min(a.size - bytes.offset, bytes.length);
    bytes = {bytes.offset + in_prefix, bytes.length - in_prefix};
  }
  return bytes;
}

/// The unit in which the driver manages pages of managed memory (UVM_VA_BLOCK_SIZE in open-gpu-kernel-modules). Threads
/// touch whole blocks, so that no two threads fault on the same block.
constexpr Bytes managed_block = 2_MiB;

/// Whether the host reads the array after the job.
bool returns_to_host(Role role) { return is_output(role) || role == Role::carried; }

void require_one_gpu(const Choice& choice, std::string_view strategy) {
  if (choice.gpus > 1)
    throw Unsupported(fmt::format("`gpus` {1}: {0} runs on one GPU only; use pinned or pageable arrays for several",
                                  strategy, choice.gpus));
}

Schedule managed_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_one_gpu(choice, "managed");
  require_memory(job, ArrayMemory::managed, "managed");
  require_single_calls(choice, "managed");
  if (choice.threads == 0) throw UsageError("`threads` 0: managed needs at least 1 thread that touches the results");
  Schedule schedule;
  add_arrays(job, schedule, limits);
  schedule.agents.clear();
  for (std::uint32_t t = 0; t < choice.threads; ++t)
    schedule.agents.push_back({.name = fmt::format("thread {}", t), .numa_node = any_numa_node});
  const StreamId stream = schedule.add_stream("compute");
  schedule.add_kernel(job.name.substr(0, job.name.find(':')));
  const OpId launched = schedule.add(launch(job, limits, stream, 0, {0, job.items}));
  // Each thread touches an equal number of blocks of each result.
  constexpr std::uint64_t block = managed_block.count;
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    if (!returns_to_host(job.arrays[a].role)) continue;
    const std::uint64_t blocks = (job.arrays[a].size.count + block - 1) / block;
    for (std::uint32_t t = 0; t < choice.threads; ++t) {
      const std::uint64_t begin = blocks * t / choice.threads * block;
      const std::uint64_t end = std::min(job.arrays[a].size.count, blocks * (t + 1) / choice.threads * block);
      if (end <= begin) continue;
      const Region touched{BufferId{static_cast<std::uint32_t>(a)}, Bytes{begin}, Bytes{end - begin}};
      schedule.add({.what = HostCall{.kind = HostCall::Kind::touch, .region = touched},
                    .stream = {},
                    .agent = AgentId{t},
                    .after = {launched},
                    .chunk = 0});
    }
  }
  return schedule;
}

/// The parts of a schedule with prefetches: a stream and an agent for each direction, and a stream for the kernels.
struct PrefetchStreams {
  const Job& job;
  Schedule& schedule;
  StreamId in;
  StreamId compute;
  StreamId out;

  PrefetchStreams(const Job& of, Schedule& to) : job(of), schedule(to) {
    schedule.agents = {{.name = "in", .numa_node = {}}, {.name = "out", .numa_node = {}}};
    in = schedule.add_stream("in");
    compute = schedule.add_stream("compute");
    out = schedule.add_stream("out");
    schedule.add_kernel(job.name.substr(0, job.name.find(':')));
  }
  /// Adds a prefetch and returns its id, or none when there are no bytes to move.
  OpId move(std::size_t array, const ByteRange& bytes, Place to, std::uint32_t chunk, OpId after) const {
    if (bytes.length.count == 0) return {};
    const Region region = in_array(job.arrays[array].prefix_of.value_or(array), bytes);
    Op op{.what = Prefetch{region, to},
          .stream = to.is_gpu() ? in : out,
          .agent = AgentId{to.is_gpu() ? 0u : 1u},
          .after = {},
          .chunk = chunk};
    if (!after.is_none()) op.after.push_back(after);
    return schedule.add(std::move(op));
  }
};

Schedule prefetch_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_one_gpu(choice, "managed-prefetch");
  require_memory(job, ArrayMemory::managed, "managed-prefetch");
  require_single_calls(choice, "managed-prefetch");
  Schedule schedule;
  add_arrays(job, schedule, limits);
  const PrefetchStreams streams(job, schedule);
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
        const OpId op = streams.move(a, without_prefix(job, a, cut[a][c].fresh), Place::gpu(), c, {});
        if (!op.is_none()) moved = op;
      }
    Op op = launch(job, limits, streams.compute, c, ranges[c]);
    if (!moved.is_none()) op.after.push_back(moved);
    const OpId launched = schedule.add(std::move(op));
    OpId after = launched;
    for (std::size_t a = 0; a < job.arrays.size(); ++a)
      if (is_output(job.arrays[a].role) || (job.arrays[a].role == Role::carried && c + 1 == ranges.size())) {
        // Later results of the chunk are in the same stream, so only the first one needs the dependency.
        if (!streams.move(a, cut[a][c].fresh, Place::host(), c, after).is_none()) after = {};
      }
  }
  return schedule;
}

/// The arrays that stay on the GPU are prefetched, because its kernels read them again and again.
Schedule managed_implicit_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_one_gpu(choice, "managed-implicit");
  require_memory(job, ArrayMemory::managed, "managed-implicit");
  require_single_calls(choice, "managed-implicit");
  require_zero_copy(job);
  Schedule schedule;
  add_arrays(job, schedule, limits, true);
  const PrefetchStreams streams(job, schedule);
  OpId moved;
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    if (!stays(job.arrays[a].role) || job.arrays[a].prefix_of) continue;  // a prefix is read with its array
    const OpId op = streams.move(a, {Bytes{0}, job.arrays[a].size}, Place::gpu(), 0, {});
    if (!op.is_none()) moved = op;
  }
  Op op = launch(job, limits, streams.compute, 0, {0, job.items}, choice.max_grid);
  auto& kernel = std::get<Kernel>(op.what);
  add_flows(job, kernel, {0, job.items}, limits, choice.max_grid,
            [&](std::size_t a) { return stays_on_host(job.arrays[a]); });
  if (!moved.is_none()) op.after.push_back(moved);
  OpId after = schedule.add(std::move(op));
  for (std::size_t a = 0; a < job.arrays.size(); ++a)
    if (job.arrays[a].role == Role::carried &&
        !streams.move(a, {Bytes{0}, job.arrays[a].size}, Place::host(), 0, after).is_none())
      after = {};
  return schedule;
}

}  // namespace

const Strategy managed_strategy{.name = "managed",
                                .summary = "kernel and host fault pages of managed memory to themselves",
                                .threaded = true,
                                .memory = ArrayMemory::managed,
                                .model_error = model_error::managed,
                                .schedule = managed_schedule,
                                .closed_form = no_closed_form};

const Strategy managed_prefetch_strategy{.name = "managed-prefetch",
                                         .summary = "pages of managed memory moved ahead of the kernel and back",
                                         .chunked = true,
                                         .memory = ArrayMemory::managed,
                                         .model_error = model_error::managed_prefetch,
                                         .schedule = prefetch_schedule,
                                         .closed_form = no_closed_form};

const Strategy managed_implicit_strategy{.name = "managed-implicit",
                                         .summary = "the kernel accesses managed memory that stays on the host",
                                         .zero_copy = true,
                                         .memory = ArrayMemory::managed,
                                         .model_error = model_error::implicit,
                                         .schedule = managed_implicit_schedule,
                                         .closed_form = no_closed_form};

}  // namespace shiplap
