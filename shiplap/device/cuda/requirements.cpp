#include "shiplap/device/cuda/requirements.hpp"

#include <fmt/format.h>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/pins.hpp"
#include "shiplap/device/file_bytes.hpp"
#include "shiplap/device/pinned_regions.hpp"

namespace shiplap {

void require_supported(const Schedule& schedule, std::size_t gpus) {
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const Op& op = schedule.ops[i];
    const auto refuse = [&](std::string_view reason) {
      throw Unsupported(fmt::format("{}: {}", describe(schedule, OpId{static_cast<std::uint32_t>(i)}), reason));
    };
    const auto require_gpu = [&](std::string_view what, Place place) {
      if (place.is_gpu() && place.index >= gpus)
        refuse(fmt::format("{} is on {}, and this device has {}", what, to_string(place),
                           gpus == 1 ? std::string("one GPU, gpu 0") : fmt::format("{} GPUs", gpus)));
    };
    if (const auto* prefetch = std::get_if<Prefetch>(&op.what)) require_gpu("its destination", prefetch->to);
    if (!op.stream.is_none()) {
      const Stream& stream = schedule.streams[op.stream.index()];
      if (stream.place.is_host()) refuse(fmt::format("stream {} is on the host", stream.name));
      require_gpu("stream " + stream.name, stream.place);
    }
    for_each_access(op, [&](const Region& region, AccessMode) {
      const Buffer& buffer = schedule.buffers[region.buffer.index()];
      require_gpu("buffer " + buffer.name, buffer.place);
      if (buffer.memory == MemoryKind::pageable && std::holds_alternative<Kernel>(op.what) && !op.stream.is_none())
        refuse(fmt::format("a kernel cannot address the pageable buffer {}: copy it, or have it mapped", buffer.name));
    });
  }
}

void require_fitting(const Schedule& schedule, const Bindings& bindings, const GpuSet& gpus, const Api& api) {
  if (bindings.buffers.size() != schedule.buffers.size() || bindings.kernels.size() != schedule.kernels.size())
    throw Error(fmt::format("the schedule has {} buffers and {} kernels, and {} and {} are bound",
                            schedule.buffers.size(), schedule.kernels.size(), bindings.buffers.size(),
                            bindings.kernels.size()));
  require_read_by_host(schedule, bindings);
  for (std::size_t i = 0; i < bindings.buffers.size(); ++i) {
    const Buffer& buffer = schedule.buffers[i];
    if (buffer.size.count == 0 || is_allocated_by_op(schedule, BufferId{static_cast<std::uint32_t>(i)})) continue;
    if (bindings.file_of(i) != nullptr) continue;
    if (bindings.buffers[i] == nullptr) throw Error(fmt::format("no memory is bound to buffer {}", buffer.name));
    const bool pinned = is_pinned(buffer.memory);
    const bool managed = buffer.memory == MemoryKind::managed;
    if (!pinned && !managed && !buffer.place.is_gpu()) continue;
    // With memory of another kind, the run would be slow or block the host without an error.
    const auto undisturbed = PinnedRegions::of_process()->undisturbed();
    cudaPointerAttributes found{};
    check(api, api.pointer_get_attributes(&found, bindings.buffers[i]), "cudaPointerGetAttributes", buffer.name);
    if (pinned && found.type == cudaMemoryTypeHost)
      static_cast<void>(type_of_range(api, bindings.buffers[i], buffer.size, [&] { return buffer.name; }));
    if (pinned && found.type != cudaMemoryTypeHost)
      throw Error(fmt::format("buffer {} is {} in the schedule, and the memory bound to it is not pinned", buffer.name,
                              to_string(buffer.memory)));
    if (managed != (found.type == cudaMemoryTypeManaged))
      throw Error(fmt::format("buffer {} is {} memory in the schedule, and the memory bound to it is {}managed",
                              buffer.name, to_string(buffer.memory), managed ? "not " : ""));
    if (!managed && buffer.place.is_gpu() &&
        (found.type != cudaMemoryTypeDevice || found.device != gpus.at(buffer.place)))
      throw Error(
          fmt::format("buffer {} is device memory in the schedule, and the memory bound to it is not memory of "
                      "cuda:{}: give it memory of that GPU, or open the GPU that has it",
                      buffer.name, gpus.at(buffer.place)));
  }
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const auto* kernel = std::get_if<Kernel>(&schedule.ops[i].what);
    if (kernel == nullptr) continue;
    const KernelBinding& binding = bindings.kernels[kernel->kernel.index()];
    const bool on_host = schedule.ops[i].stream.is_none();
    if (!(on_host ? binding.host : binding.cuda))
      throw Unsupported(fmt::format("{}: kernel {} has no {} function",
                                    describe(schedule, OpId{static_cast<std::uint32_t>(i)}),
                                    schedule.kernels[kernel->kernel.index()], on_host ? "host" : "CUDA"));
  }
}

}  // namespace shiplap
