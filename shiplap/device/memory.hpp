// An owned block of host or device memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "shiplap/core/units.hpp"
#include "shiplap/schedule/place.hpp"

namespace shiplap {

/// Memory from a device. The destructor releases it. It may outlive the device.
class Memory {
 public:
  using Release = std::function<void(std::byte*)>;  ///< releases the memory
  /// No memory: `data()` is null.
  Memory();
  /// Takes ownership of `data`. The destructor calls `release(data)` once.
  Memory(std::byte* data, Bytes size, Place place, MemoryKind kind, Release release);

  /// The address of the first byte; null when there is no memory.
  std::byte* data() const { return data_.get(); }
  /// The requested size.
  Bytes size() const { return size_; }
  /// Where the memory is: on a NUMA node of the host, or on a GPU.
  Place place() const { return place_; }
  /// The requested kind.
  MemoryKind kind() const { return kind_; }
  /// Host memory as a span. Undefined for memory on a GPU.
  std::span<std::byte> bytes() const { return {data_.get(), size_.count}; }

 private:
  std::unique_ptr<std::byte, Release> data_;
  Bytes size_;
  Place place_;
  MemoryKind kind_ = MemoryKind::pageable;
};

}  // namespace shiplap
