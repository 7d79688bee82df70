#include "shiplap/device/virtual/virtual_device.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/file_bytes.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/device/move_blocks.hpp"
#include "shiplap/device/pattern.hpp"
#include "shiplap/device/pinned_regions.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/device/virtual/virtual_execution.hpp"
#include "shiplap/schedule/succession.hpp"
#include "shiplap/schedule/validate.hpp"

namespace shiplap {
namespace {

/// Time of a block of the spin kernel, the same as on a GPU (`spin_cycles` in cuda/probe_kernels.hpp).
constexpr Seconds spin_block_time = microseconds(10);

/// The memory of all virtual devices, by its end. It is never destroyed, because memory may be released while the
/// process ends.
struct SharedMemory {
  struct Block {
    const std::byte* begin;
    std::weak_ptr<std::byte> memory;
  };
  std::mutex mutex;
  std::map<const std::byte*, Block> blocks;

  static SharedMemory& all() {
    static auto& memory = *new SharedMemory;
    return memory;
  }
};

/// The blocks of memory that the device has allocated, by address. A block may outlive the device, so this object may
/// too.
class Allocations {
 public:
  void add(const std::byte* data, const Buffer& buffer) {
    const std::lock_guard lock(mutex_);
    blocks_[data] = buffer;
    if (buffer.place.is_gpu()) on_gpus_[buffer.place.index] += buffer.size;
  }
  void remove(const std::byte* data) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(data);
    if (const Place place = block->second.place; place.is_gpu())
      on_gpus_[place.index] = on_gpus_[place.index] - block->second.size;
    blocks_.erase(block);
  }
  void pin(const std::byte* data, Bytes size) {
    const std::lock_guard lock(mutex_);
    pins_[data] = {.name = {}, .place = Place::host(), .memory = MemoryKind::pinned, .size = size};
  }
  void unpin(const std::byte* data) {
    const std::lock_guard lock(mutex_);
    pins_.erase(data);
  }
  Bytes on_gpu(std::uint16_t gpu) const {
    const std::lock_guard lock(mutex_);
    const auto used = on_gpus_.find(gpu);
    return used == on_gpus_.end() ? Bytes{} : used->second;
  }
  struct Block {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    MemoryKind kind = MemoryKind::pageable;
    Place place = Place::host();
    bool operator==(const Block&) const = default;
  };
  /// The block that contains the address; no begin and pageable for memory that the device did not allocate.
  Block block_around(const std::byte* data) const {
    const std::lock_guard lock(mutex_);
    return containing(blocks_, data);
  }
  /// The pinned range that contains the address, or else the block.
  Block around(const std::byte* data) const {
    const std::lock_guard lock(mutex_);
    const Block pin = containing(pins_, data);
    return pin.begin != nullptr ? pin : containing(blocks_, data);
  }

 private:
  using Blocks = std::map<const std::byte*, Buffer>;
  static Block containing(const Blocks& blocks, const std::byte* data) {
    const auto behind = blocks.upper_bound(data);
    if (behind == blocks.begin()) return {};
    const auto& [begin, block] = *std::prev(behind);
    const bool inside = static_cast<std::size_t>(data - begin) < std::max<std::size_t>(1, block.size.count);
    return inside ? Block{begin, begin + block.size.count, block.memory, block.place} : Block{};
  }

  mutable std::mutex mutex_;
  Blocks blocks_;
  Blocks pins_;  // ranges of blocks, or of memory that the device did not allocate
  std::map<std::uint16_t, Bytes> on_gpus_;
};

/// Memory of a device that moves bytes. Its pages exist before anything is timed.
std::byte* touched_memory(std::size_t size, std::size_t page) {
  auto* data = static_cast<std::byte*>(std::aligned_alloc(page, size));
  if (data == nullptr) return nullptr;
  for (std::size_t offset = 0; offset < size; offset += page) data[offset] = std::byte{0};
  return data;
}

/// Addresses for a device that moves no bytes. A page exists from its first access on.
std::byte* reserved_memory(std::size_t size) {
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

/// The conditions of a profile that describe the hardware that is simulated. The others, such as the driver, the
/// address of the GPU and its power, belong to the node that was measured.
constexpr std::array simulated_facts{"gpu.compute_capability", "gpu.link",         "gpu.memory_bus_width",
                                     "gpu.memory_clock_max",   "gpu.sm_clock_max", "gpu.name"};

Conditions simulated_conditions(const Profile& profile) {
  Conditions conditions{{"simulated.profile", fmt::format("{} ({})", profile.name, parameter_hash(profile))}};
  for (const char* fact : simulated_facts)
    if (const auto found = profile.conditions.find(fact); found != profile.conditions.end()) conditions.insert(*found);
  return conditions;
}

class VirtualDevice : public MeasurableDevice {
 public:
  VirtualDevice(Profile profile, std::string id, VirtualBytes bytes)
      : shared_profile_(std::make_shared<const Profile>(std::move(profile))),
        profile_(*shared_profile_),
        id_(std::move(id)),
        bytes_(bytes),
        conditions_(simulated_conditions(profile_)) {
    if (profile_.gpus.empty()) throw Unsupported(fmt::format("profile {} has no GPU to simulate", profile_.name));
  }

  DeviceInfo info() const override {
    const GpuModel& gpu = profile_.gpus.front();
    return {.id = id_,
            .name = gpu.name,
            .is_virtual = true,
            .simulated = shared_profile_,
            .memory = gpu.memory,
            .free_memory = free_on(0),
            .sm_count = gpu.sm_count,
            .copy_engines = gpu.copy_engines,
            .resident_threads = gpu.resident_threads ? static_cast<unsigned>(gpu.resident_threads->value + 0.5) : 0,
            .gpus = static_cast<unsigned>(profile_.gpus.size()),
            .peer_access = std::ranges::any_of(profile_.peers, [](const PeerModel& p) { return !p.direct.empty(); }),
            .numa_nodes = numa_nodes(),
            .limits = fmt::format("simulated on profile {} ({})", profile_.name, to_string(profile_.origin)),
            .conditions = conditions_};
  }

  Memory allocate(Place place, MemoryKind kind, Bytes size) override {
    if (place == Place::host()) place = Place::host(default_node());
    if (place.is_gpu() && place.index >= profile_.gpus.size())
      throw UsageError(fmt::format("{} has {} GPU{}, numbered from 0: there is no GPU {}", id_, profile_.gpus.size(),
                                   profile_.gpus.size() == 1 ? "" : "s", place.index));
    if (place.is_gpu() && size > free_on(place.index))
      throw Error(fmt::format(
          "{}: {} of device memory are needed and {} of {} are free: use more chunks or a smaller ring, or smaller "
          "arrays that "
          "stay on the GPU",
          id_, to_string(size), to_string(free_on(place.index)), to_string(profile_.gpus[place.index].memory)));
    const bool moved = bytes_ == VirtualBytes::moved;
    if (const auto available = available_host_memory(); moved && available && size > available->size)
      throw Error(
          fmt::format("{}: the bytes of the virtual device live in host memory; {} are needed and {} are available: "
                      "use a smaller workload",
                      id_, to_string(size), to_string(*available)));
    const std::size_t page = page_size();
    const std::size_t rounded = std::max<std::size_t>(1, (size.count + page - 1) / page) * page;
    const auto give_back = [moved, rounded](std::byte* p) {
      if (moved)
        std::free(p);
      else
        munmap(p, rounded);
    };
    std::byte* const data = moved ? touched_memory(rounded, page) : reserved_memory(rounded);
    if (data == nullptr) throw Error(fmt::format("{}: no host memory for {}", id_, to_string(size)));
    std::shared_ptr<std::byte> shared(data, [give_back, end = data + rounded](std::byte* p) {
      {
        SharedMemory& all = SharedMemory::all();
        const std::lock_guard lock(all.mutex);
        all.blocks.erase(end);
      }
      give_back(p);
    });
    {
      SharedMemory& all = SharedMemory::all();
      const std::lock_guard lock(all.mutex);
      all.blocks[data + rounded] = {.begin = data, .memory = shared};
    }
    // Nothing that may throw comes behind the entry of the block.
    Memory::Release release = [given = allocations_, shared = std::move(shared)](std::byte* p) mutable {
      given->remove(p);
      shared.reset();
    };
    allocations_->add(data, {.name = {}, .place = place, .memory = kind, .size = size});
    return Memory(data, size, place, kind, std::move(release));
  }

  MemoryKind kind_of(const std::byte* data, Bytes size) const override {
    const auto first = allocations_->around(data);
    if (size.count <= 1) return first.kind;
    const auto last = allocations_->around(data + size.count - 1);
    if ((is_pinned(first.kind) || is_pinned(last.kind)) && first != last) throw pinned_in_part(size);
    return first.kind;
  }

  std::optional<std::uint16_t> gpu_of(const std::byte* data) const override {
    const auto block = allocations_->block_around(data);
    return block.kind == MemoryKind::device ? std::optional(block.place.index) : std::nullopt;
  }

  Memory pin(std::byte* data, Bytes size) override {
    if (size.count == 0) return {nullptr, size, Place::host(), MemoryKind::pinned, [](std::byte*) {}};
    return pinned_->hold(data, size,
                         {.is_pinned = [&] { return kind_of(data, size) != MemoryKind::pageable; },
                          .pin = [&] { allocations_->pin(data, size); },
                          .unpin = [given = allocations_](std::byte* p) { given->unpin(p); }});
  }

  void require_pinnable(std::byte*, Bytes) override {}  // all memory is

  std::optional<std::vector<unsigned>> numa_nodes(const Memory& memory) const override {
    return memory.place().is_host() ? std::optional(std::vector<unsigned>{memory.place().index}) : std::nullopt;
  }

  void fill(const Memory& memory, std::uint64_t seed) override {
    if (bytes_ == VirtualBytes::moved) fill_pattern(memory.bytes(), seed);
  }

  std::uint64_t mismatches(const Memory& memory, Bytes offset, Bytes length, std::uint64_t seed,
                           Bytes pattern_offset) override {
    if (bytes_ == VirtualBytes::left_out) return 0;
    return count_mismatches(memory.bytes().subspan(offset.count, length.count), seed, pattern_offset);
  }

  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    return make(schedule, bindings, std::make_shared<VirtualStreams>(shared_profile_));
  }

  std::unique_ptr<Execution> prepare_behind(const Execution& other, const Schedule& schedule,
                                            const Bindings& bindings) override {
    const auto* behind = dynamic_cast<const VirtualExecution*>(&other);
    if (behind == nullptr || behind->streams()->profile() != shared_profile_.get())
      throw Error("an execution can only share the streams of one that the same device has prepared");
    if (behind->has_unshared_run_in_flight())
      throw Error("the run of an execution whose streams are to be shared is in flight: wait for it");
    require_successive(behind->schedule());
    require_shareable(behind->streams()->streams, schedule);
    if (behind->schedule().peer_access != schedule.peer_access)
      throw Error("of executions in the same streams, one lets GPUs address each other's memory and another does not");
    return make(schedule, bindings, behind->streams());
  }

  // The device has no streams outside of schedules, so the blocks have moved when the call returns.
  Mover move_blocks(const BlockMove& move, std::span<const Mover> movers, void* /*stream*/) override {
    if (movers.empty()) throw Unsupported(fmt::format("{}: no mover is given for the blocks", id_));
    if (bytes_ == VirtualBytes::moved) move_on_host(move);
    return movers.front();
  }

  ProbeKernel probe_kernel(ProbeKind kind, std::uint64_t blocks, double amount) override {
    const GpuModel& gpu = profile_.gpus.front();
    const auto known = [&](const auto& parameter, const char* name) {
      if (!parameter) throw Unsupported(fmt::format("profile {} has no {}", profile_.name, name));
      return parameter->value;
    };
    ProbeKernel probe{
        .binding = {.host = [](const Launch&) {}, .cuda = {}}, .blocks = blocks, .resident_blocks = blocks};
    switch (kind) {
      case ProbeKind::empty:
        break;
      case ProbeKind::spin: {
        probe.resident_blocks =
            static_cast<std::uint64_t>(std::llround(known(gpu.resident_threads, "number of resident threads"))) /
            spin_probe_threads;
        probe.work =
            spin_block_time * static_cast<double>((blocks + probe.resident_blocks - 1) / probe.resident_blocks);
        break;
      }
      case ProbeKind::stream:
        probe.work = Seconds{amount / known(gpu.memory_bandwidth, "memory bandwidth").bytes_per_second};
        break;
      case ProbeKind::map:
        probe.binding.host = [](const Launch& launch) {
          std::memcpy(launch.operands[1], launch.operands[0], std::min(launch.lengths[0], launch.lengths[1]).count);
        };
        break;
      case ProbeKind::strided:
      case ProbeKind::random:
        throw Unsupported("no profile says how fast kernels access memory in strided or random order");
      case ProbeKind::touch:
        break;  // the simulator adds the time of moving the pages
      case ProbeKind::chase:
        break;
      case ProbeKind::multiply_add:
        probe.work = Seconds{amount / known(gpu.flop_rate, "flop rate")};
        break;
    }
    return probe;
  }

 private:
  std::unique_ptr<Execution> make(const Schedule& schedule, const Bindings& bindings,
                                  std::shared_ptr<VirtualStreams> streams) {
    validate(schedule);
    if (bindings.buffers.size() != schedule.buffers.size() || bindings.kernels.size() != schedule.kernels.size())
      throw Error(fmt::format("{}: the schedule has {} buffers and {} kernels, the bindings {} and {}", id_,
                              schedule.buffers.size(), schedule.kernels.size(), bindings.buffers.size(),
                              bindings.kernels.size()));
    require_read_by_host(schedule, bindings);
    for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
      if (bindings.file_of(b) == nullptr) require_as_claimed(schedule.buffers[b], bindings.buffers[b]);
    for (std::size_t k = 0; k < schedule.kernels.size(); ++k)
      if (!bindings.kernels[k].host)
        throw Unsupported(fmt::format("{}: kernel {} has no host version to run here", id_, schedule.kernels[k]));
    for (std::size_t q = streams->streams.size(); q < schedule.streams.size(); ++q)
      streams->streams.push_back(schedule.streams[q]);
    return std::make_unique<VirtualExecution>(shared_profile_, schedule, bindings, std::move(streams), bytes_);
  }

  /// Throws Error for memory of another kind than the schedule says, as the CUDA device does. On a GPU such a schedule
  /// would make copies slow or block the host without an error.
  void require_as_claimed(const Buffer& buffer, const std::byte* data) const {
    const auto given = allocations_->around(data);
    if (given.begin == nullptr || buffer.size.count == 0) return;
    const bool as_claimed = is_pinned(buffer.memory) ? is_pinned(given.kind)
                            : buffer.memory == MemoryKind::pageable
                                ? given.kind != MemoryKind::managed && given.kind != MemoryKind::device
                                : given.kind == buffer.memory;
    if (!as_claimed)
      throw Error(
          fmt::format("{}: buffer {} is {} memory in the schedule, and {} memory is bound to it: bind memory of the "
                      "kind that the schedule states",
                      id_, buffer.name, to_string(buffer.memory), to_string(given.kind)));
    const auto there = is_pinned(buffer.memory) ? given : allocations_->block_around(data);
    const Bytes room{static_cast<std::uint64_t>(there.end - data)};
    if (there.begin != nullptr && buffer.size > room)
      throw Error(fmt::format("{}: buffer {} of {} does not fit into the {} that are bound to it", id_, buffer.name,
                              to_string(buffer.size), to_string(room)));
  }

  /// The NUMA node of Place::host(), that of the first GPU's first link; any_numa_node when the profile has none.
  std::uint16_t default_node() const {
    const LinkModel* const link = profile_.find_link(0);
    return link == nullptr ? any_numa_node : link->numa_node;
  }
  Bytes free_on(std::uint16_t gpu) const { return profile_.gpus[gpu].memory - allocations_->on_gpu(gpu); }

  std::vector<std::uint16_t> numa_nodes() const {
    std::vector<std::uint16_t> nodes;
    if (default_node() != any_numa_node) nodes.push_back(default_node());
    for (const LinkModel& link : profile_.links)
      if (std::ranges::find(nodes, link.numa_node) == nodes.end()) nodes.push_back(link.numa_node);
    return nodes;
  }

  std::shared_ptr<const Profile> shared_profile_;  // the executions share it
  const Profile& profile_;
  std::string id_;
  VirtualBytes bytes_;
  Conditions conditions_;  // made once, because the hash of a profile takes long
  std::shared_ptr<Allocations> allocations_ = std::make_shared<Allocations>();
  std::shared_ptr<PinnedRegions> pinned_ = std::make_shared<PinnedRegions>();
};

}  // namespace

std::shared_ptr<const void> share_virtual_memory(const std::byte* address) {
  SharedMemory& all = SharedMemory::all();
  const std::lock_guard lock(all.mutex);
  const auto block = all.blocks.upper_bound(address);
  return block != all.blocks.end() && block->second.begin <= address ? block->second.memory.lock() : nullptr;
}

std::shared_ptr<MeasurableDevice> open_virtual(Profile profile, std::string id, VirtualBytes bytes) {
  return std::make_shared<VirtualDevice>(std::move(profile), std::move(id), bytes);
}

}  // namespace shiplap
