#include "shiplap/emit/block_snippets.hpp"

namespace shiplap::snippets {

const std::string_view blocks = R"(
// Blocks that move between a pool in host memory and contiguous memory. Block k begins at byte index(k) * pitch of the
// pool and at byte k * block of the contiguous memory.
struct Blocks {
  char* pool;
  char* packed;                  // contiguous memory
  const std::uint32_t* indices;  // null for blocks at equal distances
  std::uint64_t first;           // index of the first of these
  std::uint64_t count;           // number of blocks
  std::uint64_t block, pitch;    // bytes of a block, bytes from the start of a block of the pool to that of the next

  std::uint64_t index(std::uint64_t k) const { return indices != nullptr ? indices[k] : first + k; }
  char* in_pool(std::uint64_t k) const { return pool + index(k) * pitch; }
  char* in_packed(std::uint64_t k) const { return packed + k * block; }
};
enum class Way { gather, scatter };  // from the pool, to the pool
)";

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

const std::string_view move_words = R"(
// Indices as an argument of a launch: the launch copies them, and threads read them from constant memory.
template <unsigned capacity>
struct Indices {
  std::uint32_t index[capacity];
  __device__ std::uint64_t operator()(std::uint32_t k) const { return index[k]; }
};
// Blocks at equal distances have no indices.
template <>
struct Indices<0> {
  std::uint64_t first;
  __device__ std::uint64_t operator()(std::uint32_t k) const { return first + k; }
};
// Sizes are in words of type T.
template <class T>
struct Shape {
  T* pool;
  T* packed;
  std::uint64_t pitch;
  std::uint32_t block;
  std::uint32_t total;  // all blocks together
};
constexpr unsigned mover_threads = {threads};

// Accesses the pool in host memory (zero-copy). Consecutive threads move consecutive words, whatever the size of a
// block. A thread has {words_in_flight} words in flight.
template <class T, unsigned capacity, Way way>
__global__ void __launch_bounds__(mover_threads)
    move_words(const Shape<T> shape, const __grid_constant__ Indices<capacity> indices) {
  constexpr int in_flight = {words_in_flight};
  const std::uint32_t stride = gridDim.x * blockDim.x;
  const auto in_pool = [&](std::uint64_t in_all) {
    const auto word = static_cast<std::uint32_t>(in_all);
    const std::uint32_t k = word / shape.block;
    return shape.pool + indices(k) * shape.pitch + (word - k * shape.block);
  };
  for (std::uint64_t begin = blockIdx.x * blockDim.x + threadIdx.x; begin < shape.total;
       begin += std::uint64_t{in_flight} * stride) {
    T words[in_flight];
#pragma unroll
    for (int i = 0; i < in_flight; ++i) {
      const std::uint64_t word = begin + std::uint64_t{stride} * i;
      if (word < shape.total) words[i] = __ldcs(way == Way::gather ? in_pool(word) : shape.packed + word);
    }
#pragma unroll
    for (int i = 0; i < in_flight; ++i) {
      const std::uint64_t word = begin + std::uint64_t{stride} * i;
      if (word < shape.total) __stcs(way == Way::gather ? shape.packed + word : in_pool(word), words[i]);
    }
  }
}
)";

const std::string_view move_by_kernel = R"(
template <class T, unsigned capacity, Way way>
void launch_move(const Blocks& b, std::uint64_t begin, std::uint32_t count, unsigned grid, cudaStream_t stream) {
  const auto block = static_cast<std::uint32_t>(b.block / sizeof(T));
  const Shape<T> shape{as<T>(b.pool), as<T>(b.in_packed(begin)), b.pitch / sizeof(T), block, block * count};
  Indices<capacity> indices;
  if constexpr (capacity == 0)
    indices.first = b.first + begin;
  else
    std::copy_n(b.indices + begin, count, indices.index);
  move_words<T, capacity, way><<<grid, mover_threads, 0, stream>>>(shape, indices);
  check(cudaGetLastError());
}

// A launch with few indices takes less host time, because the launch copies its arguments. A longer list than a launch
// can have as an argument takes several launches.
template <class T, Way way>
void launch_moves(const Blocks& b, unsigned grid, cudaStream_t stream) {
  constexpr unsigned few = 56, some = 960;
#if CUDART_VERSION >= 12010
  constexpr unsigned most = {most_indices};  // a launch has 32,764 bytes of arguments
#else
  constexpr unsigned most = some;  // a launch has 4,096 bytes of arguments
#endif
  constexpr std::uint64_t most_words = ~std::uint32_t{0};
  if (b.block / sizeof(T) > most_words) check(cudaErrorInvalidValue);
  const std::uint64_t portion =
      std::min(most_words / (b.block / sizeof(T)), b.indices != nullptr ? std::uint64_t{most} : most_words);
  for (std::uint64_t begin = 0; begin < b.count; begin += portion) {
    const auto count = static_cast<std::uint32_t>(std::min(portion, b.count - begin));
    if (b.indices == nullptr)
      launch_move<T, 0, way>(b, begin, count, grid, stream);
    else if (count <= few)
      launch_move<T, few, way>(b, begin, count, grid, stream);
    else if (count <= some)
      launch_move<T, some, way>(b, begin, count, grid, stream);
    else
      launch_move<T, most, way>(b, begin, count, grid, stream);
  }
}

// Submits kernels of `grid` thread blocks that move the blocks in the widest words that sizes and addresses allow.
template <Way way>
void move_by_kernel(const Blocks& b, unsigned grid, cudaStream_t stream) {
  const auto is_multiple_of = [&](std::uint64_t width) {
    return reinterpret_cast<std::uintptr_t>(b.pool) % width == 0 && b.block % width == 0 && b.pitch % width == 0 &&
           reinterpret_cast<std::uintptr_t>(b.packed) % width == 0;
  };
  if (is_multiple_of(sizeof(uint4))) return launch_moves<uint4, way>(b, grid, stream);
  if (is_multiple_of(sizeof(unsigned))) return launch_moves<unsigned, way>(b, grid, stream);
  launch_moves<unsigned char, way>(b, grid, stream);
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
