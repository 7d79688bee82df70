// Moves scattered blocks between a pool in host memory and a GPU in one call, by the best mover of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "shiplap/core/units.hpp"
#include "shiplap/plan/mover_choice.hpp"

namespace shiplap {

struct Node;

/// A pool: host memory that is divided into blocks of one size. Block i begins at byte i · pitch. The pool should be
/// pinned memory. With a pageable pool the driver stages the blocks, and the call may wait for them.
///   shiplap::BlockPool{cache, 64_KiB}          // cache: a std::vector, a pinned_vector or another contiguous range
///   shiplap::BlockPool{rows, 400_B, 512_B}     // 400 of every 512 bytes
template <class T>
struct BlockPool {
  static_assert(std::is_trivially_copyable_v<T>, "blocks are copied byte by byte");

  std::span<T> memory;  ///< the pool; its elements are const where it is only read
  Bytes block;          ///< size of a block
  Bytes pitch{};        ///< distance between the starts of two neighbouring blocks; 0: `block`
};
template <class Range>
BlockPool(Range&, Bytes) -> BlockPool<typename decltype(std::span(std::declval<Range&>()))::element_type>;
template <class Range>
BlockPool(Range&, Bytes, Bytes) -> BlockPool<typename decltype(std::span(std::declval<Range&>()))::element_type>;

/// A pool as bytes, for the functions below.
struct PoolBytes {
  std::byte* data = nullptr;  ///< first byte; written only by `move_back`
  Bytes size;                 ///< size of the pool
  Bytes block;                ///< size of a block
  Bytes pitch;                ///< distance between the starts of two neighbouring blocks
};

/// Does what `move` does, for a pool that is given as bytes.
Mover move_bytes(const Node&, const PoolBytes&, std::span<const std::uint32_t> index, void* packed, void* stream,
                 const MoverLimits&);
/// Does what `move_back` does, for a pool that is given as bytes.
Mover move_bytes_back(const Node&, const PoolBytes&, std::span<const std::uint32_t> index, const void* packed,
                      void* stream, const MoverLimits&);

/// The pool as bytes.
template <class T>
PoolBytes bytes_of(const BlockPool<T>& pool) {
  auto* data = const_cast<std::remove_const_t<T>*>(pool.memory.data());
  return {.data = reinterpret_cast<std::byte*>(data),
          .size = Bytes{pool.memory.size_bytes()},
          .block = pool.block,
          .pitch = pool.pitch.count == 0 ? pool.block : pool.pitch};
}

/// Moves blocks from the pool to `destination` on the first GPU of the node (gather): block index[k] of the pool
/// becomes block k of `destination`, which holds `index.size()` blocks without gaps. The call enqueues the move in
/// `stream`, a cudaStream_t, and returns. The list of indices may change as soon as the call has returned; pool and
/// destination must not change before the move has ended. The call can be captured into a graph. The graph then moves
/// the blocks that the list named during the capture.
///
/// The mover is the best of the node's profile (`choose_mover`) for this size of a block, this number of blocks and
/// this direction. Each thread keeps its choices; for this, numbers of blocks are rounded down to three significant
/// bits (1000 to 896). The call allocates memory only for a new choice and for a batch that is larger than all before
/// in this thread. A batch (cudaMemcpyBatchAsync) can neither be captured nor use the default stream. The best other
/// mover is used then.
///
/// Returns the mover. Throws before anything is enqueued: UsageError that names the position for an index outside of
/// the pool, and UsageError for a size of 0, a pitch below the block, a null destination, and a node without a device;
/// Unsupported when the node's profile has no figures for moving blocks (see `choose_mover`). Throws Error when CUDA
/// refuses a call; some of the blocks may move then.
template <class T>
Mover move(const Node& node, const BlockPool<T>& pool, std::span<const std::uint32_t> index, void* destination,
           void* stream, const MoverLimits& limits = {}) {
  return move_bytes(node, bytes_of(pool), index, destination, stream, limits);
}

/// Moves blocks from `source` on the first GPU of the node back to the pool (scatter): block k of `source` becomes
/// block index[k] of the pool. All else is as for `move`. Throws UsageError also when the list names a block twice,
/// because the content of the block would be undefined.
template <class T>
Mover move_back(const Node& node, const BlockPool<T>& pool, std::span<const std::uint32_t> index, const void* source,
                void* stream, const MoverLimits& limits = {}) {
  static_assert(!std::is_const_v<T>, "blocks cannot be moved back to a pool that is const");
  return move_bytes_back(node, bytes_of(pool), index, source, stream, limits);
}

}  // namespace shiplap
