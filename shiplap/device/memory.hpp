// Memory of a host or a GPU that its holder owns.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "shiplap/core/units.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Memory obtained from a device. It is given back when this goes out of scope, and may outlive the device.
class Memory {
 public:
  using Release = std::function<void(std::byte*)>;  ///< gives the memory back
  /// No memory: `data()` is null.
  Memory() = default;
  /// Takes over `data`, with which `release` is called once at the end.
  Memory(std::byte* data, Bytes size, Place place, MemoryKind kind, Release release)
      : data_(data, std::move(release)), size_(size), place_(place), kind_(kind) {}

  /// The address of the first byte; null when there is no memory.
  std::byte* data() const { return data_.get(); }
  /// The size that was asked for.
  Bytes size() const { return size_; }
  /// Where the memory is: on a NUMA node of the host, or on a GPU.
  Place place() const { return place_; }
  /// The kind that was asked for.
  MemoryKind kind() const { return kind_; }
  /// Host memory as a span. Undefined for memory on a GPU.
  std::span<std::byte> bytes() const { return {data_.get(), size_.count}; }

 private:
  std::unique_ptr<std::byte, Release> data_{nullptr, [](std::byte*) {}};
  Bytes size_;
  Place place_;
  MemoryKind kind_ = MemoryKind::pageable;
};

}  // namespace shiplap
