// Arrays that are blocks of a pool: pages of a cache, rows by index, columns with a stride.
//   job.in("kv", pool, blocks(pages, 64_KiB)).in("table", table, rows(ids, 128)).in("column", matrix, strided(n, 4_B,
//   pitch))
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "shiplap/core/units.hpp"
#include "shiplap/workload/array_data.hpp"

namespace shiplap {

/// A list of indices in memory of the caller, whatever their type is.
struct IndexList {
  const void* data = nullptr;  ///< address of the first index; null for a list without indices
  std::uint64_t count = 0;     ///< number of indices
  std::uint32_t width = 4;     ///< bytes of an index: 1, 2, 4 or 8
  bool is_signed = false;      ///< whether the indices are signed

  /// The index at position `k`. A negative index is larger than any pool.
  std::uint64_t operator[](std::uint64_t k) const;
};

/// Blocks of equal size in a pool, which together are an array: block k of the array is block index[k] of the pool. The
/// pool is in host memory, and the blocks are contiguous on the GPU in the order of the list.
struct Blocks {
  /// The indices. They are read in every run, so they may change between runs without a new plan; their number may not.
  /// No indices: block k of the array starts at k · pitch.
  IndexList indices{};
  std::uint64_t count = 0;     ///< number of blocks
  Bytes block{};               ///< size of a block; 0: `elements` elements of the pool
  Bytes pitch{};               ///< distance between the starts of two neighbouring blocks of the pool
  std::uint64_t elements = 0;  ///< elements of a block, where its size is not given in bytes
  Bytes pool{};                ///< size of the pool; set when the array is described
  /// Whether two arrays consist of equally many blocks of equal size.
  bool has_shape_of(const Blocks& other) const {
    return count == other.count && block == other.block && pitch == other.pitch && pool == other.pool &&
           (indices.data == nullptr) == (other.indices.data == nullptr);
  }
};

namespace detail {
/// The list of indices of a range of integers that outlives the job.
template <class Indices>
IndexList index_list(Indices&& indices) {
  const auto elements = elements_of(std::forward<Indices>(indices));
  using Index = std::remove_const_t<typename decltype(elements)::element_type>;
  static_assert(std::is_integral_v<Index> && !std::is_same_v<Index, bool>,
                "shiplap: the indices of blocks are a range of integers");
  return {
      .data = elements.data(), .count = elements.size(), .width = sizeof(Index), .is_signed = std::is_signed_v<Index>};
}
}  // namespace detail

/// The blocks of `block` bytes of a pool that a range of integers names. The range must outlive the runs.
template <class Indices>
Blocks blocks(Indices&& indices, Bytes block) {
  const IndexList list = detail::index_list(std::forward<Indices>(indices));
  return {.indices = list, .count = list.count, .block = block, .pitch = block};
}
/// The rows of a matrix with `elements` elements in each row that a range of integers names. The range must outlive the
/// runs.
template <class Indices>
Blocks rows(Indices&& indices, std::uint64_t elements) {
  const IndexList list = detail::index_list(std::forward<Indices>(indices));
  return {.indices = list, .count = list.count, .elements = elements};
}
/// `count` blocks of `block` bytes whose starts lie `pitch` bytes apart, such as a part of every row of a matrix.
inline Blocks strided(std::uint64_t count, Bytes block, Bytes pitch) {
  return {.indices = {}, .count = count, .block = block, .pitch = pitch};
}

}  // namespace shiplap
