#include "shiplap/device/cuda/requirements.hpp"

#include <fmt/format.h>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/check.hpp"

namespace shiplap {

void require_supported(const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const Op& op = schedule.ops[i];
    const auto refuse = [&](std::string_view reason) {
      throw Unsupported(fmt::format("{}: {}", describe(schedule, OpId{static_cast<std::uint32_t>(i)}), reason));
    };
    if (op.agent != AgentId{0}) refuse("the CUDA device submits from one host agent; give all ops to agent 0");
    if (std::holds_alternative<HostCopy>(op.what)) refuse("the CUDA device does not run copies by host threads yet");
    if (std::holds_alternative<Prefetch>(op.what)) refuse("the CUDA device does not run prefetches yet");
    if (schedule.queues[op.queue.index()].place != Place::gpu(0))
      refuse(fmt::format("queue {} is on {}, and one CUDA device runs schedules of one GPU, gpu 0",
                         schedule.queues[op.queue.index()].name, to_string(schedule.queues[op.queue.index()].place)));
    if (const auto* copy = std::get_if<Copy>(&op.what);
        copy != nullptr && direction(schedule, *copy) == CopyDirection::host_to_host)
      refuse("no copy engine copies from host to host");
    for_each_access(op, [&](const Region& region, AccessMode) {
      const Buffer& buffer = schedule.buffers[region.buffer.index()];
      if (buffer.place.is_gpu() && buffer.place.index != 0)
        refuse(fmt::format("buffer {} is on {}, and one CUDA device runs schedules of one GPU, gpu 0", buffer.name,
                           to_string(buffer.place)));
      if (buffer.memory == MemoryKind::managed)
        refuse(fmt::format("buffer {} is managed memory, which the CUDA device does not run yet", buffer.name));
      if (buffer.memory == MemoryKind::pageable && std::holds_alternative<Kernel>(op.what))
        refuse(fmt::format("a kernel cannot address the pageable buffer {}: copy it, or have it mapped", buffer.name));
    });
  }
}

void require_fitting(const Schedule& schedule, const Bindings& bindings, int device, const Api& api) {
  if (bindings.buffers.size() != schedule.buffers.size() || bindings.kernels.size() != schedule.kernels.size())
    throw Error(fmt::format("the schedule has {} buffers and {} kernels, and {} and {} are bound",
                            schedule.buffers.size(), schedule.kernels.size(), bindings.buffers.size(),
                            bindings.kernels.size()));
  for (std::size_t i = 0; i < bindings.buffers.size(); ++i) {
    const Buffer& buffer = schedule.buffers[i];
    if (buffer.size.count == 0) continue;
    if (bindings.buffers[i] == nullptr) throw Error(fmt::format("no memory is bound to buffer {}", buffer.name));
    const bool pinned = buffer.memory == MemoryKind::pinned || buffer.memory == MemoryKind::mapped;
    if (!pinned && !buffer.place.is_gpu()) continue;
    // A wrong claim would run, and be slow or block the host: nobody would see why.
    cudaPointerAttributes found{};
    check(api, api.pointer_get_attributes(&found, bindings.buffers[i]), "cudaPointerGetAttributes", buffer.name);
    if (pinned && found.type != cudaMemoryTypeHost)
      throw Error(fmt::format("buffer {} is {} in the schedule, and the memory bound to it is not pinned", buffer.name,
                              to_string(buffer.memory)));
    if (buffer.place.is_gpu() && (found.type != cudaMemoryTypeDevice || found.device != device))
      throw Error(
          fmt::format("buffer {} is device memory in the schedule, and what is bound to it is not memory of "
                      "cuda:{}",
                      buffer.name, device));
  }
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const auto* kernel = std::get_if<Kernel>(&schedule.ops[i].what);
    if (kernel != nullptr && !bindings.kernels[kernel->kernel.index()].cuda)
      throw Unsupported(fmt::format("{}: kernel {} has no CUDA function",
                                    describe(schedule, OpId{static_cast<std::uint32_t>(i)}),
                                    schedule.kernels[kernel->kernel.index()]));
  }
}

}  // namespace shiplap
