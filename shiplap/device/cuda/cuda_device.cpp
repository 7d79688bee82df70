#include "shiplap/device/cuda/cuda_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/cuda/block_movers.hpp"
#include "shiplap/device/cuda/callers_gpu.hpp"
#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/device_pattern.hpp"
#include "shiplap/device/cuda/execution.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/device/cuda/gpu_facts.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/cuda/host_memory.hpp"
#include "shiplap/device/cuda/host_pages.hpp"
#include "shiplap/device/cuda/numa.hpp"
#include "shiplap/device/cuda/nvml.hpp"
#include "shiplap/device/cuda/pins.hpp"
#include "shiplap/device/cuda/probe_kernels.hpp"
#include "shiplap/device/cuda/stream_gap.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/device/pattern.hpp"
#include "shiplap/device/pinned_regions.hpp"
#include "shiplap/device/probe_kernel.hpp"
#include "shiplap/schedule/succession.hpp"

namespace shiplap {
namespace {

class CudaDevice final : public MeasurableDevice {
 public:
  CudaDevice(std::vector<int> gpus, const Api& api, const RangeApi& ranges)
      : api_(api),
        ranges_(ranges),
        index_(gpus.front()),
        gpus_{gpus, std::make_shared<PeerAccess>(api, gpus), std::make_shared<Gates>(api), any_numa_node} {
    const CallersGpu callers(api_);
    for (const int gpu : gpus) set_up(gpu);
    if (const auto nodes = numa_nodes_by_distance(api_, index_); !nodes.empty()) gpus_.host_node = nodes.front();
    facts_ = lasting_facts();
  }

  DeviceInfo info() const override {
    const CallersGpu callers(api_);
    select();
    DeviceInfo result = facts_;
    const auto [free, total] = memory();
    result.memory = total;
    result.free_memory = free;
    result.peer_access = gpus_.peers->possible();
    return result;
  }

  bool is_virtual() const override { return false; }

  Conditions state() const override { return gpu_state(real_nvml(), pci_bus_id(api_, index_)); }

  GpuLoad load(std::uint16_t gpu) const override {
    return gpu_load(real_nvml(), pci_bus_id(api_, gpus_.at(Place::gpu(gpu))), static_cast<unsigned>(getpid()));
  }

  std::string clocks_held_by() const override {
    const std::string held = shiplap::clocks_held_by(real_nvml(), pci_bus_id(api_, index_));
    return held == "nothing" || held == unknown_fact ? "" : held;
  }

  Memory allocate(Place place, MemoryKind kind, Bytes size) override {
    const CallersGpu callers(api_);
    select();
    if (kind == MemoryKind::managed) return allocate_managed(place, size);
    if (place.is_host()) {
      if (kind == MemoryKind::device) throw Unsupported("device memory is on a GPU, not on a host NUMA node");
      return allocate_host_memory(api_, Place::host(gpus_.node(place.index)), kind, size);
    }
    if (kind != MemoryKind::device)
      throw Unsupported(fmt::format("{} memory is on the host, not on a GPU", to_string(kind)));
    const int gpu = gpus_.at(place);
    select(gpu);
    if (size.count == 0) return {nullptr, size, place, kind, [](std::byte*) {}};
    require_free(size, gpu);
    void* data = nullptr;
    check(api_, api_.malloc_device(&data, size.count), "cudaMalloc",
          fmt::format("{} of device memory on cuda:{}", to_string(size), gpu));
    return {static_cast<std::byte*>(data), size, place, kind, Release<&Api::free_device>(api_)};
  }

  MemoryKind kind_of(const std::byte* data, Bytes size) const override {
    const CallersGpu callers(api_);
    select();
    const auto undisturbed = PinnedRegions::of_process()->undisturbed();
    const cudaMemoryType type = type_of_range(api_, data, size, [] { return std::string("memory of the caller"); });
    return type == cudaMemoryTypeHost      ? MemoryKind::pinned
           : type == cudaMemoryTypeManaged ? MemoryKind::managed
           : type == cudaMemoryTypeDevice  ? MemoryKind::device
                                           : MemoryKind::pageable;
  }

  std::optional<std::uint16_t> gpu_of(const std::byte* data) const override {
    const CallersGpu callers(api_);
    select();
    cudaPointerAttributes attributes{};
    check(api_, api_.pointer_get_attributes(&attributes, data), "cudaPointerGetAttributes", "memory of the caller");
    const auto gpu = std::ranges::find(gpus_.gpus, attributes.device);
    if (attributes.type != cudaMemoryTypeDevice || gpu == gpus_.gpus.end()) return std::nullopt;
    return static_cast<std::uint16_t>(gpu - gpus_.gpus.begin());
  }

  Memory pin(std::byte* data, Bytes size) override {
    if (size.count == 0) return {nullptr, size, Place::host(), MemoryKind::pinned, [](std::byte*) {}};
    const CallersGpu callers(api_);
    select();
    return pin_in_process(api_, data, size, pinning(size));
  }

  void require_pinnable(std::byte* data, Bytes size) override {
    if (size.count == 0) return;
    const CallersGpu callers(api_);
    select();
    try_to_pin_in_process(api_, data, size, pinning(size));
  }

  bool is_capturing(void* stream) const override {
    const CallersGpu callers(api_);
    if (void* context = nullptr; api_.current_context(&context) != cudaSuccess || context == nullptr) select();
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(api_, api_.stream_is_capturing(static_cast<cudaStream_t>(stream), &status), "cudaStreamIsCapturing",
          "a stream of the caller");
    return status != cudaStreamCaptureStatusNone;
  }

  std::unique_ptr<StreamGap> open_gap(void* stream) override {
    if (is_capturing(stream))
      throw Unsupported("the stream is being captured, and a graph cannot wait for the host: capture the run itself");
    const CallersGpu callers(api_);
    select();
    return open_stream_gap(api_, static_cast<cudaStream_t>(stream));
  }

  Mover move_blocks(const BlockMove& move, std::span<const Mover> movers, void* stream) override {
    const CallersGpu callers(api_);
    select();
    return move_by_first_of(api_, move, movers, static_cast<cudaStream_t>(stream));
  }

  // When the driver moves pages of managed memory to a GPU, it takes them out of the host's page table.
  std::optional<double> fraction_on_host(const Memory& memory) const override {
    return memory.kind() == MemoryKind::managed ? fraction_of_pages_present(memory.bytes()) : std::nullopt;
  }

  std::optional<std::vector<unsigned>> numa_nodes(const Memory& memory) const override {
    return memory.place().is_host() ? numa_nodes_of(memory.bytes()) : std::nullopt;
  }

  void make_pages(std::span<std::byte> memory) const override { make_missing_pages(memory); }
  std::shared_ptr<void> on_cores_of(Place place) const override {
    const std::uint16_t node = gpus_.node(place.index);
    return node == any_numa_node ? nullptr : std::make_shared<OnCoresOf>(node);
  }

  void fill(const Memory& memory, std::uint64_t seed) override {
    if (!reached_by_gpu(memory)) return fill_pattern(memory.bytes(), seed);
    const CallersGpu callers(api_);
    pattern_of(memory).fill(memory.data(), memory.size(), seed);
  }

  std::uint64_t mismatches(const Memory& memory, Bytes offset, Bytes length, std::uint64_t seed,
                           Bytes pattern_offset) override {
    if (offset > memory.size() || length > memory.size() - offset)
      throw Error(fmt::format("cannot compare {} from byte {} on: the memory has {}", to_string(length), offset.count,
                              to_string(memory.size())));
    if (offset.count % 8 != 0 || pattern_offset.count % 8 != 0)
      throw Error(fmt::format("the pattern can be compared at multiples of 8 bytes, not at {} with {}", offset.count,
                              pattern_offset.count));
    if (!reached_by_gpu(memory))
      return count_mismatches(memory.bytes().subspan(offset.count, length.count), seed, pattern_offset);
    const CallersGpu callers(api_);
    return pattern_of(memory).mismatches(memory.data() + offset.count, length, seed, pattern_offset);
  }

  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    return std::make_unique<CudaExecution>(
        schedule, bindings, gpus_, api_, ranges_,
        [this](Place place, MemoryKind kind, Bytes size) { return allocate(place, kind, size); });
  }

  std::unique_ptr<Execution> prepare_behind(const Execution& other, const Schedule& schedule,
                                            const Bindings& bindings) override {
    const auto* behind = dynamic_cast<const CudaExecution*>(&other);
    if (behind == nullptr || !behind->is_for(gpus_))
      throw Error("an execution can only share the streams of one that the same device has prepared");
    require_successive(behind->schedule());
    require_shareable(behind->streams()->streams, schedule);
    if (behind->schedule().peer_access != schedule.peer_access)
      throw Error("of executions in the same streams, one lets GPUs address each other's memory and another does not");
    return std::make_unique<CudaExecution>(
        schedule, bindings, gpus_, api_, ranges_,
        [this](Place place, MemoryKind kind, Bytes size) { return allocate(place, kind, size); }, behind->streams());
  }

  ProbeKernel probe_kernel(ProbeKind kind, std::uint64_t blocks, double amount) override {
    const CallersGpu callers(api_);
    select();
    return make_probe_kernel(api_, index_, kind, blocks, amount);
  }

 private:
  /// What `info` tells as it was when the device was opened. Reading it takes milliseconds, and plans ask several
  /// times.
  DeviceInfo lasting_facts() const {
    DeviceInfo result = gpu_facts(api_, index_);
    result.id = fmt::format("cuda:{}", fmt::join(gpus_.gpus, ","));
    result.gpus = static_cast<unsigned>(gpus_.gpus.size());
    if (gpus_.gpus.size() > 1) {
      std::vector<std::string> addresses;
      for (const int gpu : gpus_.gpus) addresses.push_back(pci_bus_id(api_, gpu));
      result.conditions["gpus.pci_bus_ids"] = fmt::format("{}", fmt::join(addresses, " "));
    }
    return result;
  }

  void set_up(int gpu) {
    select(gpu);
    // Loading the kernels here gives a message about the GPU when this build has no code for it.
    for (const void* kernel : {gate_kernel(), fill_pattern_kernel(), compare_pattern_kernel(), empty_kernel(),
                               spin_kernel(), stream_kernel(), multiply_add_kernel(), touch_kernel(), chase_kernel()}) {
      cudaFuncAttributes attributes{};
      check(api_, api_.func_get_attributes(&attributes, kernel), "cudaFuncGetAttributes",
            fmt::format("the kernels of this build on cuda:{}", gpu));
    }
    patterns_.push_back(std::make_unique<DevicePattern>(
        api_, static_cast<unsigned>(gpu_attribute(api_, cudaDevAttrMultiProcessorCount, gpu))));
  }

  /// What an error says of the caller's memory.
  static std::function<std::string()> pinning(Bytes size) {
    return [size] { return fmt::format("pinning {} of the caller's memory", to_string(size)); };
  }

  /// Makes the GPU current for this thread, inside of a CallersGpu.
  void select(int gpu) const { check(api_, api_.set_device(gpu), "cudaSetDevice", fmt::format("cuda:{}", gpu)); }
  void select() const { select(index_); }

  static bool reached_by_gpu(const Memory& memory) {
    return !memory.place().is_host() || memory.kind() == MemoryKind::mapped;
  }
  /// Selects the GPU that has the memory, or the first GPU for mapped memory, and returns its pattern kernels.
  DevicePattern& pattern_of(const Memory& memory) const {
    if (memory.place().is_host()) {
      select();
      return *patterns_.front();
    }
    select(gpus_.at(memory.place()));
    return *patterns_[memory.place().index];
  }

  /// Throws Error when less than `size` is free on `gpu`, which must be selected.
  void require_free(Bytes size, int gpu) const {
    const auto [free, total] = memory();
    if (size > free)
      throw Error(
          fmt::format("{} of device memory are needed and {} of {} are free on cuda:{}: use more chunks, a "
                      "smaller ring or smaller arrays that stay on the GPU, or end other programs on this GPU",
                      to_string(size), to_string(free), to_string(total), gpu));
  }

  /// Allocates managed memory and brings its pages to `place`.
  Memory allocate_managed(Place place, Bytes size) {
    const int gpu = place.is_gpu() ? gpus_.at(place) : index_;
    select(gpu);
    if (gpu_attribute(api_, cudaDevAttrConcurrentManagedAccess, gpu) == 0)
      throw Unsupported(fmt::format("cuda:{} does not move pages of managed memory on demand", gpu));
    if (size.count == 0) return {nullptr, size, place, MemoryKind::managed, [](std::byte*) {}};
    require_free(size, gpu);  // with less free memory the driver would evict pages
    void* data = nullptr;
    check(api_, api_.malloc_managed(&data, size.count, cudaMemAttachGlobal), "cudaMallocManaged",
          fmt::format("{} of managed memory", to_string(size)));
    Memory memory(static_cast<std::byte*>(data), size, place, MemoryKind::managed, Release<&Api::free_device>(api_));
    touch_pages(memory.bytes());
    if (place.is_host()) return memory;
    const StreamHandle stream = make_stream(api_, "bringing managed memory to the GPU");
    check(api_, api_.mem_prefetch_async(data, size.count, gpu, stream.get()), "cudaMemPrefetchAsync",
          "bringing managed memory to the GPU");
    check(api_, api_.stream_synchronize(stream.get()), "cudaStreamSynchronize", "bringing managed memory to the GPU");
    return memory;
  }

  struct FreeAndTotal {
    Bytes free;
    Bytes total;
  };
  FreeAndTotal memory() const {
    std::size_t free = 0;
    std::size_t total = 0;
    check(api_, api_.mem_get_info(&free, &total), "cudaMemGetInfo", fmt::format("cuda:{}", index_));
    return {Bytes{free}, Bytes{total}};
  }

  const Api& api_;
  const RangeApi& ranges_;
  int index_;  // number of the first GPU, which `info` describes
  GpuSet gpus_;
  DeviceInfo facts_;
  std::vector<std::unique_ptr<DevicePattern>> patterns_;  // pattern kernels by GPU
};

}  // namespace

int count_cuda(std::string& why_absent, const Api& api) {
  why_absent.clear();
  int count = 0;
  try {
    check(api, api.get_device_count(&count), "cudaGetDeviceCount");
  } catch (const Error& error) {
    why_absent = error.what();
    return 0;
  }
  if (count == 0) why_absent = "the CUDA runtime sees no GPU: look at nvidia-smi and at CUDA_VISIBLE_DEVICES";
  return count;
}

std::unique_ptr<MeasurableDevice> open_cuda(int index, const Api& api, const RangeApi& ranges) {
  return open_cuda(std::vector{index}, api, ranges);
}

std::unique_ptr<MeasurableDevice> open_cuda(const std::vector<int>& gpus, const Api& api, const RangeApi& ranges) {
  std::string why_absent;
  const int count = count_cuda(why_absent, api);
  if (gpus.empty()) throw Error("a device needs at least one GPU");
  if (count == 0) throw Unsupported(fmt::format("cannot open cuda:{}: {}", fmt::join(gpus, ","), why_absent));
  for (const int index : gpus) {
    if (std::ranges::count(gpus, index) > 1) throw UsageError(fmt::format("cuda:{} is named twice", index));
    if (index >= 0 && index < count) continue;
    throw Unsupported(fmt::format(
        "there is no cuda:{}: this node has {}", index,
        count == 1 ? std::string("one GPU, cuda:0") : fmt::format("{} GPUs, cuda:0 to cuda:{}", count, count - 1)));
  }
  return std::make_unique<CudaDevice>(gpus, api, ranges);
}

std::vector<DeviceInfo> list_cuda(std::string& why_absent, const Api& api) {
  const int count = count_cuda(why_absent, api);
  std::vector<DeviceInfo> result;
  for (int index = 0; index < count; ++index) {
    try {
      DeviceInfo info = gpu_facts(api, index);
      info.free_memory = gpu_free_memory(real_nvml(), pci_bus_id(api, index));
      result.push_back(std::move(info));
    } catch (const Error& error) {
      if (!why_absent.empty()) why_absent += "; ";
      why_absent += fmt::format("cuda:{}: {}", index, error.what());
    }
  }
  return result;
}

}  // namespace shiplap
