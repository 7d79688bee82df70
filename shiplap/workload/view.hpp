// What a kernel is handed of the arrays of its job: the items of its chunk, and views in indices of the whole array.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
/// Of functions for host and device: what nvcc needs, and nothing for other compilers.
#define SHIPLAP_HOST_DEVICE __host__ __device__
#else
#define SHIPLAP_HOST_DEVICE
#endif

namespace shiplap {

/// The items that one launch is for.
struct Chunk {
  std::uint64_t first = 0;  ///< index of its first item in the whole job
  std::uint64_t count = 0;  ///< how many items
  /// Grid that the schedule asks for, of kernels that take any (DescribedJob::takes_any_grid).
  std::uint64_t blocks = 0;

  /// One beyond its last item.
  SHIPLAP_HOST_DEVICE constexpr std::uint64_t end() const { return first + count; }
};

/// Says which element of which array was out of reach. Throws Error.
[[noreturn]] void outside_of_view(const char* array, std::uint64_t index, std::uint64_t first, std::uint64_t end);

/// The elements [first(), end()) of an array, wherever they lie at the moment. Trivially copyable: to be passed to
/// kernels by value. Host code that asks for another element gets an Error with its index; device code is not checked
/// (see `check_reach` for what finds it there).
template <class T>
class View {
 public:
  /// Of nothing.
  View() = default;
  /// `data` is where element `first` lies; `array` names it in errors and outlives the view.
  View(T* data, std::uint64_t first, std::uint64_t count, const char* array)
      : data_(data), first_(first), count_(count), array_(array) {}

  /// By its index in the whole array.
  SHIPLAP_HOST_DEVICE T& operator[](std::uint64_t index) const {
#ifndef __CUDA_ARCH__
    if (index - first_ >= count_) outside_of_view(array_, index, first_, first_ + count_);
#endif
    return data_[index - first_];
  }
  /// Of element first().
  SHIPLAP_HOST_DEVICE T* data() const { return data_; }
  /// Index of the first element in the whole array.
  SHIPLAP_HOST_DEVICE std::uint64_t first() const { return first_; }
  /// One beyond the last one.
  SHIPLAP_HOST_DEVICE std::uint64_t end() const { return first_ + count_; }
  /// How many elements.
  SHIPLAP_HOST_DEVICE std::uint64_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  const char* array_ = "";
};

}  // namespace shiplap
