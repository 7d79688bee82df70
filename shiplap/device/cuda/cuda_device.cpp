#include "shiplap/device/cuda/cuda_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/block_movers.hpp"
#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/execution.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/cuda/host_memory.hpp"
#include "shiplap/device/cuda/nvml.hpp"
#include "shiplap/device/cuda/pattern_kernels.hpp"
#include "shiplap/device/cuda/probe_kernels.hpp"
#include "shiplap/device/cuda/stream_gap.hpp"
#include "shiplap/device/host_work.hpp"
#include "shiplap/device/pattern.hpp"
#include "shiplap/device/pinned_regions.hpp"
#include "shiplap/profile/topology.hpp"
#include "shiplap/schedule/succession.hpp"

namespace shiplap {
namespace {

/// The first line of a file in /sys or /proc; unknown_fact when there is none.
std::string system_text(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && !line.empty() ? line : unknown_fact;
}

/// Speed and width of the link, as in "32.0 GT/s PCIe x16".
std::string link(const std::string& pci_device) {
  const std::string speed = system_text(pci_device + "/max_link_speed");
  if (speed == unknown_fact) return speed;
  return fmt::format("{} x{}", speed, system_text(pci_device + "/max_link_width"));
}

/// The UUID in the form of nvidia-smi -L: "GPU-6f1a7b1e-…".
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

class CudaDevice final : public MeasurableDevice {
 public:
  CudaDevice(std::vector<int> gpus, const Api& api, const RangeApi& ranges)
      : api_(api),
        ranges_(ranges),
        index_(gpus.front()),
        gpus_{gpus, std::make_shared<PeerAccess>(api, gpus), std::make_shared<Gates>(api)} {
    for (const int gpu : gpus) set_up(gpu);
  }

  DeviceInfo info() const override {
    select();
    cudaDeviceProp properties{};
    check(api_, api_.get_device_properties(&properties, index_), "cudaGetDeviceProperties",
          fmt::format("cuda:{}", index_));
    const auto [free, total] = memory();
    const auto sm_count = static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
    DeviceInfo result{
        .id = fmt::format("cuda:{}", fmt::join(gpus_.gpus, ",")),
        .name = properties.name,
        .is_virtual = false,
        .memory = total,
        .free_memory = free,
        .sm_count = sm_count,
        .copy_engines = static_cast<unsigned>(attribute(cudaDevAttrAsyncEngineCount)),
        .resident_threads = sm_count * static_cast<unsigned>(attribute(cudaDevAttrMaxThreadsPerMultiProcessor)),
        .l2_cache = Bytes{static_cast<std::uint64_t>(properties.l2CacheSize)},
        .gpus = static_cast<unsigned>(gpus_.gpus.size()),
        .peer_access = gpus_.peers->possible(),
        .numa_nodes = numa_nodes_of_host(),
        .limits = {},
        .conditions = conditions(properties.name, uuid_text(properties.uuid))};
    const Conditions& c = result.conditions;
    result.limits = fmt::format("compute capability {}, ECC {}, driver {}, link {}", c.at("gpu.compute_capability"),
                                c.at("gpu.ecc"), c.at("gpu.driver"), c.at("gpu.link"));
    return result;
  }

  Conditions state() const override { return gpu_state(real_nvml(), pci_bus_id()); }

  GpuLoad load() const override { return gpu_load(real_nvml(), pci_bus_id(), static_cast<unsigned>(getpid())); }

  std::string clocks_held_by() const override {
    const std::string held = shiplap::clocks_held_by(real_nvml(), pci_bus_id());
    return held == "nothing" || held == unknown_fact ? "" : held;
  }

  Memory allocate(Place place, MemoryKind kind, Bytes size) override {
    select();
    if (kind == MemoryKind::managed) return allocate_managed(place, size);
    if (place.is_host()) {
      if (kind == MemoryKind::device) throw Unsupported("device memory is on a GPU, not on a host NUMA node");
      return allocate_host_memory(api_, place, kind, size);
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
    return {static_cast<std::byte*>(data), size, place, kind, [&api = api_](std::byte* p) {
              if (api.free_device(p) != cudaSuccess) static_cast<void>(api.get_last_error());
            }};
  }

  MemoryKind kind_of(const std::byte* data) const override {
    select();
    cudaPointerAttributes found{};
    check(api_, api_.pointer_get_attributes(&found, data), "cudaPointerGetAttributes", "memory of the caller");
    return found.type == cudaMemoryTypeHost      ? MemoryKind::pinned
           : found.type == cudaMemoryTypeManaged ? MemoryKind::managed
           : found.type == cudaMemoryTypeDevice  ? MemoryKind::device
                                                 : MemoryKind::pageable;
  }

  Memory pin(std::byte* data, Bytes size) override {
    select();
    if (size.count == 0) return {nullptr, size, Place::host(), MemoryKind::pinned, [](std::byte*) {}};
    if (!pinned_->holds(data) && kind_of(data) != MemoryKind::pageable)
      return {data, size, Place::host(), MemoryKind::pinned, [](std::byte*) {}};  // the memory is pinned already, so
                                                                                  // there is nothing to release
    const auto pin_now = [&] {
      check(api_, api_.host_register(data, size.count, cudaHostRegisterPortable | cudaHostRegisterMapped),
            "cudaHostRegister",
            fmt::format("pinning {} of the caller's memory (ulimit -l says how much a process may pin)",
                        to_string(size)));
    };
    return pinned_->hold(data, size, pin_now, [&api = api_](std::byte* p) {
      if (api.host_unregister(p) != cudaSuccess) static_cast<void>(api.get_last_error());
    });
  }

  std::unique_ptr<StreamGap> open_gap(void* stream) override {
    select();
    return open_stream_gap(api_, static_cast<cudaStream_t>(stream));
  }

  Mover move_blocks(const BlockMove& move, std::span<const Mover> movers, void* stream) override {
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

  void fill(const Memory& memory, std::uint64_t seed) override {
    if (!reached_by_gpu(memory)) return fill_pattern(memory.bytes(), seed);
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

  ProbeKernel probe_kernel(ProbeKernel::Kind kind, std::uint64_t blocks, double amount) override {
    select();
    return make_probe_kernel(api_, index_, kind, blocks, amount);
  }

 private:
  void set_up(int gpu) {
    select(gpu);
    // Loading the kernels here gives a message about the GPU when this build has no code for it.
    for (const void* kernel : {gate_kernel(), fill_pattern_kernel(), compare_pattern_kernel(), empty_kernel(),
                               spin_kernel(), stream_kernel(), multiply_add_kernel(), touch_kernel(), chase_kernel()}) {
      cudaFuncAttributes attributes{};
      check(api_, api_.func_get_attributes(&attributes, kernel), "cudaFuncGetAttributes",
            fmt::format("the kernels of this build on cuda:{}", gpu));
    }
    patterns_.push_back(
        std::make_unique<DevicePattern>(api_, static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount, gpu))));
  }

  /// Makes the GPU current for this thread. Another device may have changed it since the last call.
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

  int attribute(cudaDeviceAttr which, int gpu) const {
    int value = 0;
    check(api_, api_.device_get_attribute(&value, which, gpu), "cudaDeviceGetAttribute", fmt::format("cuda:{}", gpu));
    return value;
  }
  int attribute(cudaDeviceAttr which) const { return attribute(which, index_); }

  /// Throws Error when less than `size` is free on `gpu`, which must be selected.
  void require_free(Bytes size, int gpu) const {
    const auto [free, total] = memory();
    if (size > free)
      throw Error(
          fmt::format("{} of device memory are needed and {} of {} are free on cuda:{}: use more chunks or a "
                      "smaller ring, or end other programs on this GPU",
                      to_string(size), to_string(free), to_string(total), gpu));
  }

  /// Allocates managed memory and brings its pages to `place`.
  Memory allocate_managed(Place place, Bytes size) {
    const int gpu = place.is_gpu() ? gpus_.at(place) : index_;
    select(gpu);
    if (attribute(cudaDevAttrConcurrentManagedAccess, gpu) == 0)
      throw Unsupported(fmt::format("cuda:{} does not move pages of managed memory on demand", gpu));
    if (size.count == 0) return {nullptr, size, place, MemoryKind::managed, [](std::byte*) {}};
    require_free(size, gpu);  // with less free memory the driver would evict pages
    void* data = nullptr;
    check(api_, api_.malloc_managed(&data, size.count, cudaMemAttachGlobal), "cudaMallocManaged",
          fmt::format("{} of managed memory", to_string(size)));
    Memory memory(static_cast<std::byte*>(data), size, place, MemoryKind::managed, [&api = api_](std::byte* p) {
      if (api.free_device(p) != cudaSuccess) static_cast<void>(api.get_last_error());
    });
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

  std::string pci_bus_id() const {
    std::array<char, 32> bus{};
    check(api_, api_.device_get_pci_bus_id(bus.data(), static_cast<int>(bus.size()), index_), "cudaDeviceGetPCIBusId",
          fmt::format("cuda:{}", index_));
    std::string id = bus.data();
    std::transform(id.begin(), id.end(), id.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return id;
  }

  Conditions conditions(const char* name, const std::string& uuid) const {
    const std::string bus_id = pci_bus_id();
    int driver = 0;
    int runtime = 0;
    check(api_, api_.driver_get_version(&driver), "cudaDriverGetVersion", "the conditions of a measurement");
    check(api_, api_.runtime_get_version(&runtime), "cudaRuntimeGetVersion", "the conditions of a measurement");
    const std::string pci = "/sys/bus/pci/devices/" + bus_id;
    const char* connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");

    Conditions result = host_facts();
    result["gpu.name"] = name;
    result["gpu.compute_capability"] = fmt::format("{}.{}", attribute(cudaDevAttrComputeCapabilityMajor),
                                                   attribute(cudaDevAttrComputeCapabilityMinor));
    result["gpu.uuid"] = uuid;
    result["gpu.pci_bus_id"] = bus_id;
    result["gpu.numa_node"] = system_text(pci + "/numa_node");
    result["gpu.link"] = link(pci);
    result["gpu.ecc"] = attribute(cudaDevAttrEccEnabled) != 0 ? "on" : "off";
    result["gpu.sm_clock_max"] = fmt::format("{} MHz", attribute(cudaDevAttrClockRate) / 1000);
    result["gpu.memory_bus_width"] = fmt::format("{} bits", attribute(cudaDevAttrGlobalMemoryBusWidth));
    result["gpu.memory_clock_max"] = fmt::format("{} MHz", attribute(cudaDevAttrMemoryClockRate) / 1000);
    result["gpu.driver"] = system_text("/sys/module/nvidia/version");
    result["cuda.driver_version"] = version_text(driver);
    result["cuda.runtime_version"] = version_text(runtime);
    result["cuda.max_connections"] = connections != nullptr ? connections : "default";
    return result;
  }

  const Api& api_;
  std::shared_ptr<PinnedRegions> pinned_ = std::make_shared<PinnedRegions>();
  const RangeApi& ranges_;
  int index_;  // number of the first GPU, which `info` describes
  GpuSet gpus_;
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
      result.push_back(open_cuda(index, api)->info());
    } catch (const Error& error) {
      if (!why_absent.empty()) why_absent += "; ";
      why_absent += fmt::format("cuda:{}: {}", index, error.what());
    }
  }
  return result;
}

}  // namespace shiplap
