#include "shiplap/strategy/chunked.hpp"

#include <fmt/format.h>

#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/block_ops.hpp"
#include "shiplap/strategy/chunk_pipeline.hpp"
#include "shiplap/strategy/relayed.hpp"

namespace shiplap {

Schedule chunked_schedule(const Job& job, const Choice& choice, const Limits& limits, const ZeroCopyArrays& zero_copy,
                          const Staging& staging) {
  if (choice.max_grid > 0 && !job.any_grid)
    throw Unsupported(
        fmt::format("`max_grid` {}: the kernel of {} has a grid of its own: leave the number of blocks to it",
                    choice.max_grid, job.name));
  if (zero_copy.in || zero_copy.out) {
    require_zero_copy(job);
    require_contiguous(job, choice.strategy, "a kernel that accesses host memory needs a contiguous array: copy it");
  }
  if (choice.graph && !job.capturable)
    throw Unsupported(fmt::format(
        "the kernel of {} cannot be captured, so it cannot be part of a graph: leave `graph` out", job.name));
  if (choice.graph)
    require_contiguous(job, choice.strategy,
                       "a graph would keep the indices of the time when it was made: leave `graph` out");
  Schedule schedule;
  schedule.agents.clear();
  require_valid_prefixes(job);
  for (const Array& a : job.arrays)
    schedule.add_buffer({.name = a.name, .place = place_of(a), .memory = a.memory, .size = size_on_host(a)});
  add_lists(schedule, job);
  schedule.add_kernel(job.name.substr(0, job.name.find(':')));
  for (GpuChunks& chunks : chunks_by_gpu(job, choice))
    ChunkPipeline(schedule, job, choice, limits, zero_copy, staging, std::move(chunks)).add_ops();
  if (choice.batched && !choice.relay.through.empty())
    throw UsageError("`batched` and `relay`: copies in batches are not divided; leave one of the two out");
  schedule.as_graph = choice.graph;
  if (choice.graph && !can_be_held(schedule))
    throw Unsupported(fmt::format(
        "{}: the host or the driver waits for some of its copies, so it cannot be a graph; pin the memory, or leave "
        "`graph` out",
        job.name));
  return relayed(std::move(schedule), choice.relay);
}

}  // namespace shiplap
