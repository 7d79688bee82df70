// An array in pinned host memory, for programs that run on a GPU and on a simulated one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "shiplap/device/device.hpp"

namespace shiplap {

/// Owns elements of a trivially copyable type in pinned memory of a device's host, in huge pages where the system has
/// them. The constructor takes the device, because only the device knows later that the memory is pinned: on a GPU the
/// driver pins it; on a virtual device it is ordinary memory that the device treats as pinned. The vector is a
/// contiguous range, so it can be an array of a Job and can be viewed by std::span. It may outlive its device. It can
/// be moved but not copied, because pinning takes long.
template <class T>
class pinned_vector {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "shiplap: pinned memory holds elements that are copied byte by byte");

 public:
  using value_type = T;             ///< the type of an element
  using iterator = T*;              ///< a plain pointer
  using const_iterator = const T*;  ///< a plain pointer

  /// Makes an empty vector.
  pinned_vector() = default;
  /// Makes `elements` copies of `value`. Throws as Device::allocate does.
  pinned_vector(Device& device, std::size_t elements, const T& value = T{})
      : memory_(device.allocate(Place::host(), MemoryKind::pinned, Bytes{elements * sizeof(T)})), size_(elements) {
    std::uninitialized_fill_n(data(), size_, value);
  }
  /// Takes the elements of `other`, which has none afterwards.
  pinned_vector(pinned_vector&& other) noexcept
      : memory_(std::exchange(other.memory_, Memory())), size_(std::exchange(other.size_, 0)) {}
  /// Takes the elements of `other`, which has none afterwards.
  pinned_vector& operator=(pinned_vector&& other) noexcept {
    memory_ = std::exchange(other.memory_, Memory());
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() { return reinterpret_cast<T*>(memory_.data()); }                    ///< address of the first element
  const T* data() const { return reinterpret_cast<const T*>(memory_.data()); }  ///< address of the first element
  std::size_t size() const { return size_; }                                    ///< number of elements
  bool empty() const { return size_ == 0; }                                     ///< whether there are no elements
  T* begin() { return data(); }                                                 ///< the first element
  T* end() { return data() + size_; }                                           ///< one beyond the last element
  const T* begin() const { return data(); }                                     ///< the first element
  const T* end() const { return data() + size_; }                               ///< one beyond the last element
  T& operator[](std::size_t index) { return data()[index]; }                    ///< undefined for size() or more
  const T& operator[](std::size_t index) const { return data()[index]; }        ///< undefined for size() or more

 private:
  Memory memory_;
  std::size_t size_ = 0;
};

}  // namespace shiplap
