#include <algorithm>
#include <cstring>

#include "shiplap/device/cuda/device_pattern.hpp"
#include "shiplap/device/pattern.hpp"

namespace shiplap {
namespace {

constexpr unsigned threads = 256;      // threads in a block
constexpr unsigned blocks_per_sm = 8;  // 2048 threads, as many as an SM holds at most

__device__ std::uint64_t first_index() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::uint64_t stride() { return std::uint64_t{gridDim.x} * blockDim.x; }

__global__ void fill(std::uint8_t* memory, std::uint64_t length, std::uint64_t seed) {
  const std::uint64_t words = length / 8;
  auto* as_words = reinterpret_cast<std::uint64_t*>(memory);
  for (std::uint64_t i = first_index(); i < words; i += stride()) as_words[i] = pattern_word(i, seed);

  // One thread for each byte writes the incomplete last word.
  const std::uint64_t tail = words * 8 + first_index();
  if (tail < length) memory[tail] = static_cast<std::uint8_t>(pattern_word(words, seed) >> (8 * first_index()));
}

__global__ void compare(const std::uint8_t* memory, std::uint64_t length, std::uint64_t seed, std::uint64_t first_word,
                        unsigned long long* count) {
  const std::uint64_t words = length / 8;
  const auto* as_words = reinterpret_cast<const std::uint64_t*>(memory);
  unsigned long long mine = 0;
  for (std::uint64_t i = first_index(); i < words; i += stride())
    for (std::uint64_t difference = as_words[i] ^ pattern_word(first_word + i, seed); difference != 0; difference >>= 8)
      mine += (difference & 0xff) != 0;

  const std::uint64_t tail = words * 8 + first_index();
  if (tail < length) {
    const auto expected = static_cast<std::uint8_t>(pattern_word(first_word + words, seed) >> (8 * first_index()));
    mine += memory[tail] != expected;
  }
  if (mine != 0) atomicAdd(count, mine);
}

}  // namespace

const void* fill_pattern_kernel() { return reinterpret_cast<const void*>(&fill); }
const void* compare_pattern_kernel() { return reinterpret_cast<const void*>(&compare); }

DevicePattern::DevicePattern(const Api& api, unsigned sm_count)
    : api_(api),
      sm_count_(sm_count),
      stream_(make_stream(api, "writing and checking the test pattern")),
      count_(make_device_memory(api, {sizeof(unsigned long long)}, "the counter of pattern mismatches")),
      count_on_host_(make_pinned_memory(api, {sizeof(unsigned long long)}, cudaHostAllocDefault,
                                        "the counter of pattern mismatches")) {}

unsigned DevicePattern::grid(Bytes length) const {
  const std::uint64_t needed = length.count / (8 * threads) + 1;
  return static_cast<unsigned>(std::min<std::uint64_t>(needed, sm_count_ * blocks_per_sm));
}

void DevicePattern::fill(std::byte* memory, Bytes length, std::uint64_t seed) {
  std::uint64_t bytes = length.count;
  void* arguments[] = {&memory, &bytes, &seed};
  check(api_, api_.launch_kernel(fill_pattern_kernel(), dim3(grid(length)), dim3(threads), arguments, 0, stream_.get()),
        "cudaLaunchKernel", "writing the test pattern");
  check(api_, api_.stream_synchronize(stream_.get()), "cudaStreamSynchronize", "writing the test pattern");
}

std::uint64_t DevicePattern::mismatches(const std::byte* memory, Bytes length, std::uint64_t seed,
                                        Bytes pattern_offset) {
  constexpr const char* context = "checking the test pattern";
  std::uint64_t bytes = length.count;
  std::uint64_t first_word = pattern_offset.count / 8;
  std::byte* counter = count_.get();
  void* arguments[] = {&memory, &bytes, &seed, &first_word, &counter};
  cudaStream_t stream = stream_.get();
  check(api_, api_.memset_async(counter, 0, sizeof(unsigned long long), stream), "cudaMemsetAsync", context);
  check(api_, api_.launch_kernel(compare_pattern_kernel(), dim3(grid(length)), dim3(threads), arguments, 0, stream),
        "cudaLaunchKernel", context);
  check(api_,
        api_.memcpy_async(count_on_host_.get(), counter, sizeof(unsigned long long), cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync", context);
  check(api_, api_.stream_synchronize(stream), "cudaStreamSynchronize", context);
  unsigned long long count = 0;
  std::memcpy(&count, count_on_host_.get(), sizeof(count));
  return count;
}

}  // namespace shiplap
