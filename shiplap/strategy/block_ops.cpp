#include "shiplap/strategy/block_ops.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

Region on_host(std::size_t array, const ByteRange& bytes) {
  return {BufferId{static_cast<std::uint32_t>(array)}, bytes.offset, bytes.length};
}

BlockListId list_of(const Job& job, std::size_t array) {
  const auto end = job.arrays.begin() + static_cast<std::ptrdiff_t>(array);
  return {static_cast<std::uint32_t>(
      std::count_if(job.arrays.begin(), end, [](const Array& a) { return a.blocks.has_value(); }))};
}

BlockCopy blocks_of(const Job& job, std::size_t array, const ByteRange& bytes, const Region& packed,
                    const Mover& mover) {
  const Blocks& blocks = *job.arrays[array].blocks;
  return {.list = list_of(job, array),
          .first = bytes.offset.count / blocks.block.count,
          .count = bytes.length.count / blocks.block.count,
          .pool = on_host(array, {Bytes{0}, blocks.pool}),
          .packed = packed,
          .mover = mover};
}

}  // namespace

void add_lists(Schedule& schedule, const Job& job) {
  for (const Array& array : job.arrays)
    if (array.blocks)
      schedule.add_list({.name = array.name,
                         .block = array.blocks->block,
                         .pitch = array.blocks->pitch,
                         .count = array.blocks->count,
                         .regular = array.blocks->indices.data == nullptr});
}

decltype(Op::what) move_to(const Job& job, std::size_t array, const ByteRange& bytes, const Region& packed,
                           const Mover& mover, bool by_host) {
  if (job.arrays[array].blocks) return blocks_of(job, array, bytes, packed, mover);
  if (by_host) return HostCopy{on_host(array, bytes), packed};
  return Copy{on_host(array, bytes), packed};
}

decltype(Op::what) move_back(const Job& job, std::size_t array, const ByteRange& bytes, const Region& packed,
                             const Mover& mover, bool by_host) {
  if (job.arrays[array].blocks) {
    BlockCopy blocks = blocks_of(job, array, bytes, packed, mover);
    blocks.gather = false;
    return blocks;
  }
  if (by_host) return HostCopy{packed, on_host(array, bytes)};
  return Copy{packed, on_host(array, bytes)};
}

void require_contiguous(const Job& job, std::string_view strategy, std::string_view reason) {
  if (!has_blocks(job)) return;
  const auto found = std::ranges::find_if(job.arrays, [](const Array& a) { return a.blocks.has_value(); });
  throw Unsupported(fmt::format("{}: array {} is blocks of a pool, and {}", strategy, found->name, reason));
}

}  // namespace shiplap
