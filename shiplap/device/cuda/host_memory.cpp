#include "shiplap/device/cuda/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/check.hpp"
#include "shiplap/device/cuda/handles.hpp"
#include "shiplap/device/cuda/host_pages.hpp"
#include "shiplap/device/cuda/numa.hpp"
#include "shiplap/device/host_work.hpp"

namespace shiplap {
namespace {

std::string shown(const std::optional<HostMemory>& available) {
  return available ? to_string(*available) : std::string("an unknown amount");
}

[[noreturn]] void throw_short(Bytes size, const char* kind) {
  throw Error(fmt::format("the system refused {} of {} host memory; {} are available: use smaller arrays",
                          to_string(size), kind, shown(available_host_memory())));
}

Memory allocate_pageable(Place place, Bytes size) {
  const std::size_t whole_pages = (size.count + page_size() - 1) / page_size() * page_size();
  auto* data = static_cast<std::byte*>(std::aligned_alloc(page_size(), whole_pages));
  if (data == nullptr) throw_short(size, "pageable");
  Memory memory(data, size, place, MemoryKind::pageable, [](std::byte* p) { std::free(p); });
  make_pages(place, {data, size.count});
  return memory;
}

/// An anonymous memory mapping, in pages of 2 MiB where the system provides them. Physical pages of 4 KiB become
/// scattered as a node is used, and then copies that run concurrently with kernels that write host memory are slower.
class Mapping {
 public:
  explicit Mapping(Bytes size) : length_((size.count + huge_page - 1) / huge_page * huge_page) {
    const std::size_t reserved = length_ + huge_page;
    void* start = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) throw_short(size, "pinned");
    auto* first = static_cast<std::byte*>(start);
    const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(first) % huge_page) % huge_page;
    if (before > 0) munmap(first, before);
    munmap(first + before + length_, huge_page - before);
    data_ = first + before;
    // A failure is ignored: it means that the system has no huge pages, and the condition `host.huge_pages` records
    // that.
    static_cast<void>(madvise(data_, length_, MADV_HUGEPAGE));
  }
  ~Mapping() { munmap(data_, length_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t length_;
};

Memory allocate_pinned(const Api& api, Place place, MemoryKind kind, Bytes size) {
  const auto mapping = std::make_shared<Mapping>(size);
  std::byte* data = mapping->data();
  make_pages(place, {data, size.count});
  const std::string what = fmt::format("{} of {} memory", to_string(size), to_string(kind));
  check(api, api.host_register(data, size.count, cudaHostRegisterPortable | cudaHostRegisterMapped), "cudaHostRegister",
        what);
  Memory memory(data, size, place, kind,
                [unregister = Release<&Api::host_unregister>(api), mapping](std::byte* p) { unregister(p); });
  // Kernels use the host address, so both addresses must be equal.
  void* on_device = nullptr;
  check(api, api.host_get_device_pointer(&on_device, data, 0), "cudaHostGetDevicePointer", what);
  if (on_device != data)
    throw Unsupported("this GPU does not address registered host memory as the host does, which shiplap relies on");
  return memory;
}

/// Allocates with cudaHostAlloc, whose pages of 4 KiB are what most programs have.
Memory allocate_by_driver(const Api& api, Place place, MemoryKind kind, Bytes size) {
  const unsigned flags = cudaHostAllocPortable | cudaHostAllocMapped |
                         (kind == MemoryKind::write_combined ? cudaHostAllocWriteCombined : 0u);
  void* data = nullptr;
  check(api, api.host_alloc(&data, size.count, flags), "cudaHostAlloc",
        fmt::format("{} of {} memory", to_string(size), to_string(kind)));
  return {static_cast<std::byte*>(data), size, place, kind, Release<&Api::free_host>(api)};
}

}  // namespace

Memory allocate_host_memory(const Api& api, Place place, MemoryKind kind, Bytes size) {
  if (kind == MemoryKind::device || kind == MemoryKind::managed)
    throw Unsupported(fmt::format("{} memory is not the host's alone", to_string(kind)));
  if (size.count == 0) return {nullptr, size, place, kind, [](std::byte*) {}};
  // Without this check the system would kill the process without a message.
  if (const auto available = available_host_memory(); available && size > available->size)
    throw Error(fmt::format("{} of {} host memory are needed and {} are available: use smaller arrays", to_string(size),
                            to_string(kind), to_string(*available)));
  std::optional<OnNode> node;
  if (place != Place::host()) node.emplace(place.index);
  if (kind == MemoryKind::pageable) return allocate_pageable(place, size);
  if (kind == MemoryKind::driver_pinned || kind == MemoryKind::write_combined)
    return allocate_by_driver(api, place, kind, size);
  return allocate_pinned(api, place, kind, size);
}

}  // namespace shiplap
