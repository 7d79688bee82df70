#include "shiplap/strategy/chunk_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"

namespace shiplap {

ChunkMemory::ChunkMemory(Schedule& schedule, const Job& job, const Choice& choice, const Limits& limits,
                         const ZeroCopyArrays& zero_copy, StagingRings& staging, const GpuChunks& chunks)
    : job_(job), staging_(staging), zero_copy_(zero_copy) {
  for (const Array& a : job.arrays)
    reaches_.push_back(stays(a.role) ? std::vector<ChunkReach>{} : chunk_reaches(job, a, chunks.items));
  choose_slots(choice, limits, chunks.count());
  const std::string where = chunks.gpus == 1 ? " on the GPU" : fmt::format(" on GPU {}", chunks.gpu);
  for (std::size_t a = 0; a < job.arrays.size(); ++a) {
    const Array& array = job.arrays[a];
    rings_.push_back(!is_in_ring(a) ? DeviceRing()
                     : array.home   ? DeviceRing::whole(reaches_[a], array.size)
                                    : DeviceRing(reaches_[a], slots_, alignment()));
    on_gpu_.push_back(is_in_place(a)
                          ? BufferId{}
                          : schedule.add_buffer({.name = array.name + where,
                                                 .place = Place::gpu(chunks.gpu),
                                                 .memory = MemoryKind::device,
                                                 .size = stays(array.role) ? array.size : rings_[a].size()}));
  }
  shares_ = std::ranges::any_of(rings_, &DeviceRing::shares);
  for (std::size_t a = 0; a < job.arrays.size(); ++a)
    if (is_staged(a)) staging.add_rings(a, DeviceRing::sizes(reaches_[a]).slot);
}

// All operands of a launch have the alignment that they have in the whole arrays when one of them is at its place
// there.
DeviceRing::Alignment ChunkMemory::alignment() const {
  const auto is_at_its_place = [](const Array& array) { return is_on_gpu(array) || array.home; };
  const bool in_place = zero_copy_.in || zero_copy_.out || std::ranges::any_of(job_.arrays, is_at_its_place);
  return in_place ? DeviceRing::Alignment::in_array : DeviceRing::Alignment::own;
}

void ChunkMemory::choose_slots(const Choice& choice, const Limits& limits, std::uint32_t chunks) {
  Bytes fixed;
  Bytes shared;  ///< part of `fixed` for what neighbouring chunks share
  Bytes per_slot;
  for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
    if (is_in_place(a)) continue;
    if (stays(job_.arrays[a].role) || job_.arrays[a].home) {
      fixed += job_.arrays[a].size;
    } else {
      const DeviceRing::Sizes sizes = DeviceRing::sizes(reaches_[a], alignment());
      per_slot += sizes.slot;
      fixed += sizes.extra;
      shared += sizes.extra;
    }
  }
  const std::uint64_t fits = limits.slots(fixed, per_slot, chunks);
  const std::uint64_t wanted =
      choice.ring == 0 ? std::min<std::uint64_t>(chunks, fits) : std::min<std::uint64_t>(choice.ring, chunks);
  if (wanted == 0 || wanted > fits) {
    const std::uint64_t slots = std::max<std::uint64_t>(wanted, 1);
    const char* remedy = shared >= limits.device_memory ? "allow more device memory, or have the chunks share less"
                         : fixed > limits.device_memory
                             ? "allow more device memory, or make the arrays that stay on the GPU smaller"
                         : choice.ring > 1 ? "use a smaller ring or more chunks"
                         : find_strategy(choice.strategy).chunked && chunks < job_.items ? "use more chunks"
                                                                                         : "allow more device memory";
    throw Error(fmt::format("{} in {} chunk{} needs {} of device memory for {} ring slot{}, but {} may be used; {}",
                            job_.name, chunks, chunks == 1 ? "" : "s", to_string(fixed + per_slot * slots), slots,
                            slots == 1 ? "" : "s", to_string(limits.device_memory), remedy));
  }
  slots_ = static_cast<std::uint32_t>(wanted);
}

std::optional<std::size_t> ChunkMemory::prefix(std::size_t array) const {
  for (std::size_t a = 0; a < job_.arrays.size(); ++a)
    if (job_.arrays[a].prefix_of == array) return a;
  return std::nullopt;
}

Access ChunkMemory::operand(std::size_t array, std::uint32_t chunk) const {
  const Array& a = job_.arrays[array];
  const AccessMode mode = access_mode(a.role);
  const ByteRange all{Bytes{0}, a.size};
  if (stays(a.role) && is_in_place(array)) return {of_caller(a.prefix_of.value_or(array), all), mode};
  if (stays(a.role)) return {{on_gpu_[array], all.offset, all.length}, mode};
  const ByteRange& reach = reaches_[array][chunk].reach;
  if (is_in_place(array)) return {of_caller(array, reach), mode, reach.offset};
  return {{on_gpu_[array], placement(array, chunk).reach, reach.length}, mode, reach.offset};
}

}  // namespace shiplap
