#include "shiplap/emit/block_snippets.hpp"

namespace shiplap::snippets {

const std::string_view move_by_copies = R"(
// Submits a copy for each block.
void move_by_copies(Way way, const Blocks& b, cudaStream_t stream) {
  for (std::uint64_t k = 0; k < b.count; ++k)
    if (way == Way::gather)
      check(cudaMemcpyAsync(b.in_packed(k), b.in_pool(k), b.block, cudaMemcpyHostToDevice, stream));
    else
      check(cudaMemcpyAsync(b.in_pool(k), b.in_packed(k), b.block, cudaMemcpyDeviceToHost, stream));
}
)";

const std::string_view move_by_batch = R"(
// Submits the copies of all blocks in one call.
void move_by_batch(Way way, const Blocks& b, cudaStream_t stream) {
  for (std::uint64_t k = 0; k < b.count; ++k)
    if (way == Way::gather)
      together.add(b.in_packed(k), b.in_pool(k), b.block);
    else
      together.add(b.in_pool(k), b.in_packed(k), b.block);
  together.submit(stream);
}
)";

const std::string_view move_by_strided_copy = R"(
// Submits one copy for blocks at equal distances.
void move_by_strided_copy(Way way, const Blocks& b, cudaStream_t stream) {
  if (way == Way::gather)
    check(cudaMemcpy2DAsync(b.packed, b.block, b.in_pool(0), b.pitch, b.block, b.count, cudaMemcpyHostToDevice, stream));
  else
    check(cudaMemcpy2DAsync(b.in_pool(0), b.pitch, b.packed, b.block, b.block, b.count, cudaMemcpyDeviceToHost, stream));
}
)";

const std::string_view move_by_host = R"(
// Copies the blocks in the calling thread.
void move_by_host(Way way, const Blocks& b) {
  for (std::uint64_t k = 0; k < b.count; ++k)
    if (way == Way::gather)
      std::memcpy(b.in_packed(k), b.in_pool(k), b.block);
    else
      std::memcpy(b.in_pool(k), b.in_packed(k), b.block);
}
)";

const std::string_view move_by_kernel = R"(
// Submits kernels of `grid` thread blocks that move the blocks.
template <Way way>
void move_by_kernel(const Blocks& b, unsigned grid, cudaStream_t stream) {
  check(launch_in_widest_words<way>(b, [&](auto kernel, const auto& shape, const auto& indices) {
    kernel<<<grid, mover_threads, 0, stream>>>(shape, indices);
    return cudaGetLastError();
  }));
}
)";

const std::string_view require_within = R"(
// Ends the program unless the list has an index for each block and all indices are in the pool.
void require_within(const char* list, const std::vector<std::uint32_t>& indices, std::size_t count,
                    std::uint64_t pool_blocks) {
  if (indices.size() != count) {
    std::fprintf(stderr, "list %s has %zu indices, and %zu blocks are moved; give one for each block\n", list,
                 indices.size(), count);
    std::_Exit(1);
  }
  for (std::size_t k = 0; k < count; ++k) {
    if (indices[k] < pool_blocks) continue;
    std::fprintf(stderr,
                 "list %s: index %u at position %zu is outside of the pool, which has blocks 0 to %llu; use one of "
                 "these\n",
                 list, indices[k], k, static_cast<unsigned long long>(pool_blocks - 1));
    std::_Exit(1);
  }
}
)";

const std::string_view require_named_once = R"(
// Ends the program if a list through which blocks are written names a block twice.
void require_named_once(const char* list, const std::vector<std::uint32_t>& indices, std::uint64_t pool_blocks) {
  std::vector<bool> named(pool_blocks);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (!named[indices[k]]) {
      named[indices[k]] = true;
      continue;
    }
    std::fprintf(stderr, "list %s: position %zu names block %u again, which is written; name every block once\n", list,
                 k, indices[k]);
    std::_Exit(1);
  }
}
)";

const std::string_view name_blocks = R"(
// Names random blocks of a pool, others in each call. They are distinct unless the pool has fewer.
void name_blocks(std::vector<std::uint32_t>& indices, std::uint64_t pool_blocks) {
  static std::mt19937_64 random;
  std::vector<std::uint32_t> all(pool_blocks);
  std::iota(all.begin(), all.end(), 0u);
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random() % i]);
  for (std::size_t k = 0; k < indices.size(); ++k) indices[k] = all[k % all.size()];
}
)";

const std::string_view block_data = R"(
// Memory for the blocks of a list, one after the other. Every call returns the same memory.
char* contiguous(std::uint64_t bytes) {
  static std::vector<char> memory;
  if (memory.size() < bytes) memory.resize(bytes);
  return memory.data();
}
// The byte of a pool that is in no block of the list.
char unlisted(std::uint64_t i) { return static_cast<char>(i % 251); }

template <class T>
void fill_blocks(const Blocks& all, std::uint64_t pool_bytes, T (*initial)(std::uint64_t)) {
  for (std::uint64_t i = 0; i < pool_bytes; ++i) all.pool[i] = unlisted(i);
  fill(all.packed, all.count * all.block, initial);
  move_by_host(Way::scatter, all);
}
// `expected` is what `holds` compares with: a function, or two with a tolerance.
template <class... Expected>
bool blocks_hold(const char* name, const Blocks& all, std::uint64_t pool_bytes, Expected... expected) {
  move_by_host(Way::gather, all);
  if (!holds(name, all.packed, all.count * all.block, expected...)) return false;
  std::vector<bool> listed(pool_bytes / all.pitch + 1);
  for (std::uint64_t k = 0; k < all.count; ++k) listed[all.index(k)] = true;
  for (std::uint64_t i = 0; i < pool_bytes; ++i) {
    if ((listed[i / all.pitch] && i % all.pitch < all.block) || all.pool[i] == unlisted(i)) continue;
    std::fprintf(stderr, "byte %llu of the pool of %s is in no block of the list and has changed\n",
                 static_cast<unsigned long long>(i), name);
    return false;
  }
  return true;
}
)";

}  // namespace shiplap::snippets
