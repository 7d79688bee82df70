#include "shiplap/strategy/gpu_chunks.hpp"

#include <fmt/format.h>

#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/workload/array_place.hpp"

namespace shiplap {

std::vector<GpuChunks> chunks_by_gpu(const Job& job, const Choice& choice) {
  if (choice.gpus == 1) return {{.items = cut_into_chunks(job, choice.chunks, choice.ramp)}};
  if (choice.gpus == 0) throw UsageError("`gpus` 0: a job needs at least one GPU");
  if (choice.graph)
    throw Unsupported(
        "a pipeline over several GPUs cannot be a graph, because a thread submits to each GPU; leave `graph` out");
  for (const Array& a : job.arrays)
    if (a.role == Role::carried)
      throw Unsupported(fmt::format(
          "{} is carried from chunk to chunk, so several GPUs cannot share the chunks; use one GPU", a.name));
  for (const Array& a : job.arrays)
    if (is_on_gpu(a))
      throw Unsupported(
          fmt::format("{} is on one GPU already, so several GPUs cannot share the chunks; use one GPU", a.name));
  std::vector<GpuChunks> result;
  const auto by_gpu = cut_into_chunks(job, choice.gpus);
  for (std::uint32_t g = 0; g < choice.gpus; ++g) {
    const Job one_gpu{.items = by_gpu[g].count, .name = job.name, .items_per_block = job.items_per_block};
    GpuChunks chunks{.gpu = static_cast<std::uint16_t>(g),
                     .gpus = static_cast<std::uint16_t>(choice.gpus),
                     .first_number = g * choice.chunks,
                     .items = cut_into_chunks(one_gpu, choice.chunks, choice.ramp)};
    for (ItemRange& range : chunks.items) range.first += by_gpu[g].first;
    result.push_back(std::move(chunks));
  }
  return result;
}

}  // namespace shiplap
