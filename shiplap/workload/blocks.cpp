#include "shiplap/workload/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/blocks.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {
namespace {

template <class Index>
std::uint64_t at(const void* data, std::uint64_t k) {
  Index index{};
  std::memcpy(&index, static_cast<const Index*>(data) + k, sizeof(Index));
  if constexpr (std::is_signed_v<Index>) return static_cast<std::uint64_t>(std::int64_t{index});
  return index;
}

}  // namespace

std::uint64_t IndexList::operator[](std::uint64_t k) const {
  switch (width) {
    case 1:
      return is_signed ? at<std::int8_t>(data, k) : at<std::uint8_t>(data, k);
    case 2:
      return is_signed ? at<std::int16_t>(data, k) : at<std::uint16_t>(data, k);
    case 4:
      return is_signed ? at<std::int32_t>(data, k) : at<std::uint32_t>(data, k);
    default:
      return is_signed ? at<std::int64_t>(data, k) : at<std::uint64_t>(data, k);
  }
}

bool has_blocks(const Job& job) {
  return std::ranges::any_of(job.arrays, [](const Array& array) { return array.blocks.has_value(); });
}

Bytes start_of_block(const Array& array, std::uint64_t k) {
  const Blocks& blocks = *array.blocks;
  const std::uint64_t index = blocks.indices.data != nullptr ? blocks.indices[k] : k;
  const std::uint64_t starts = blocks_of_pool(blocks.pool, blocks.block, blocks.pitch);
  if (index >= starts)
    throw UsageError(fmt::format("{}: index {} at position {} is outside of the pool, which has blocks 0 to {}",
                                 array.name, static_cast<std::int64_t>(index), k, starts - 1));
  return blocks.pitch * index;
}

Job with_contiguous_arrays(Job job) {
  for (Array& array : job.arrays) {
    if (!array.blocks) continue;
    array.blocks.reset();
    array.data = nullptr;
  }
  return job;
}

}  // namespace shiplap
