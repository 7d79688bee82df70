// The data of an array as programs give them: anything contiguous that the host can address.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace shiplap::detail {

/// The plain pointer behind a pointer, or behind a class that stands for one, such as thrust::pointer.
template <class Pointer>
constexpr auto plain_pointer(const Pointer& pointer) {
  if constexpr (std::is_pointer_v<Pointer>)
    return pointer;
  else if constexpr (requires { requires std::is_pointer_v<decltype(pointer.get())>; })
    return pointer.get();
  else
    return std::to_address(pointer);
}

/// Whether the type is a C array or has data() and size(), so that its elements are contiguous.
template <class Data>
concept Contiguous = requires(Data& data) {
  { std::size(data) } -> std::convertible_to<std::uint64_t>;
  {*plain_pointer(std::data(data))};
};

/// The type of the elements, const where the range gives no write access to them.
template <Contiguous Data>
using ElementOf = std::remove_pointer_t<decltype(plain_pointer(std::data(std::declval<Data&>())))>;

/// Whether the range refers to elements that it does not own. Standard views say so by std::ranges::enable_view and
/// enable_borrowed_range. Other ranges, such as cuda::std::span, are views when they are copied bytewise and a const
/// range gives the same access to the elements. std::array, which has a tuple_size, owns its elements.
template <class Range>
constexpr bool is_view() {
  if constexpr (std::ranges::enable_borrowed_range<Range> || std::ranges::enable_view<Range>)
    return true;
  else if constexpr (std::is_array_v<Range> || requires { std::tuple_size<Range>::value; })
    return false;
  else
    return std::is_trivially_copyable_v<Range> && std::is_same_v<ElementOf<Range>, ElementOf<const Range>>;
}

/// Whether the elements follow one another in memory. Views with strides say whether theirs do: Kokkos::View and
/// blocks of Eigen's matrices.
template <class View>
constexpr bool is_without_gaps(const View& view) {
  if constexpr (requires { view.span_is_contiguous(); })
    return view.span_is_contiguous();
  else if constexpr (requires { view.innerStride() + view.outerStride(); })
    return (view.innerStride() == 1 || view.innerSize() <= 1) &&
           (view.outerStride() == view.innerSize() || view.outerSize() <= 1);
  else
    return true;
}
/// Throws UsageError for a view with gaps between its elements.
[[noreturn]] void refuse_gaps();

/// The elements of a range that is given as an array. Throws UsageError for views that leave out elements. Anything
/// else is a compile-time error of one line.
template <class Data>
constexpr auto elements_of(Data&& data) {
  using Range = std::remove_reference_t<Data>;
  if constexpr (!Contiguous<Range>) {
    static_assert(
        Contiguous<Range>,
        "shiplap: an array is a range with data() and size(), a C array, or a pointer followed by the number of "
        "its elements");
    return std::span<std::byte>();
  } else {
    using Element = ElementOf<Range>;
    static_assert(std::is_trivially_copyable_v<Element>,
                  "shiplap: the elements of an array are copied byte by byte, so that their type must be trivially "
                  "copyable");
    static_assert(std::is_lvalue_reference_v<Data> || is_view<std::remove_const_t<Range>>(),
                  "shiplap: this temporary owns the elements of the array and is gone before the job runs: give it a "
                  "name first");
    if (!is_without_gaps(data)) refuse_gaps();
    return std::span<Element>(plain_pointer(std::data(data)), static_cast<std::size_t>(std::size(data)));
  }
}

/// The elements behind a pointer.
template <class T>
constexpr auto elements_of(T* data, std::uint64_t elements) {
  return std::span(data, elements);
}

/// The elements of an array that the kernel writes.
template <class... Data>
constexpr auto writable_elements_of(Data&&... data) {
  const auto elements = elements_of(std::forward<Data>(data)...);
  using Element = typename decltype(elements)::element_type;
  static_assert(!std::is_const_v<Element>, "shiplap: the kernel writes this array, and its elements are const");
  return std::span<std::remove_const_t<Element>>(const_cast<std::remove_const_t<Element>*>(elements.data()),
                                                 elements.size());
}

}  // namespace shiplap::detail
