// The arguments of a kernel: the items of its chunk, and views of the arrays with indices of the whole arrays.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#ifdef __CUDACC__
/// Marks a function that is called on host and device. It is empty for compilers other than nvcc.
#define SHIPLAP_HOST_DEVICE __host__ __device__
#else
#define SHIPLAP_HOST_DEVICE
#endif

namespace shiplap {

/// The items that one launch works on.
struct Chunk {
  std::uint64_t first = 0;  ///< index of its first item in the whole job
  std::uint64_t count = 0;  ///< how many items
  /// Number of thread blocks that the schedule asks for; for kernels that work with any grid
  /// (DescribedJob::takes_any_grid).
  std::uint64_t blocks = 0;

  /// Index of the item after the last one.
  SHIPLAP_HOST_DEVICE constexpr std::uint64_t end() const { return first + count; }
};

/// Throws Error that names the array, the index and the elements that the chunk reaches. `writable` is whether the
/// kernel may write the array.
[[noreturn]] void outside_of_view(const char* array, std::uint64_t index, std::uint64_t first, std::uint64_t end,
                                  bool writable);

/// The elements [first(), end()) of an array, in host or device memory. A view is trivially copyable and is passed to
/// kernels by value. Host code that asks for another element gets an Error with its index. Device code is not checked;
/// `check_reach` finds such accesses there. A view converts to a view of const elements, and to a std::span, whose
/// index 0 is the element first().
template <class T>
class View {
  template <class Other>
  static constexpr bool converts_to = std::is_convertible_v<T (*)[], Other (*)[]>;

 public:
  /// Makes a view without elements.
  View() = default;
  /// Makes a view of `count` elements. Element `first` of the array lies at `data`. `array` is the name of the array in
  /// errors and must outlive the view.
  SHIPLAP_HOST_DEVICE View(T* data, std::uint64_t first, std::uint64_t count, const char* array = "")
      : data_(data), first_(first), count_(count), array_(array) {}
  /// The same elements as const.
  template <class Other>
  requires(converts_to<Other> && !std::is_same_v<T, Other>) SHIPLAP_HOST_DEVICE operator View<Other>() const {
    return {data_, first_, count_, array_};
  }
  /// The elements as a span on the host, whose index 0 is the element first().
  template <class Other>
  requires(converts_to<Other>) operator std::span<Other>() const { return {data_, count_}; }

  /// The element with this index in the whole array.
  SHIPLAP_HOST_DEVICE T& operator[](std::uint64_t index) const {
#ifndef __CUDA_ARCH__
    if (index - first_ >= count_) outside_of_view(array_, index, first_, first_ + count_, !std::is_const_v<T>);
#endif
    return data_[index - first_];
  }
  /// Address of element first().
  SHIPLAP_HOST_DEVICE T* data() const { return data_; }
  /// Index of the first element in the whole array.
  SHIPLAP_HOST_DEVICE std::uint64_t first() const { return first_; }
  /// Index of the element after the last one.
  SHIPLAP_HOST_DEVICE std::uint64_t end_index() const { return first_ + count_; }
  /// Number of elements.
  SHIPLAP_HOST_DEVICE std::uint64_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  const char* array_ = "";
};

}  // namespace shiplap
