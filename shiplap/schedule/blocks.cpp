#include "shiplap/schedule/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/schedule/names.hpp"

namespace shiplap {

std::uint64_t calls_of(const Mover& mover, std::uint64_t blocks) {
  return mover.kind == Mover::Kind::copies ? blocks : 1;
}

std::uint32_t busy_grid(const Mover& mover, Bytes block, Bytes pitch, std::uint64_t blocks) {
  std::uint64_t word = 1;
  for (const std::uint64_t width : {4u, 16u})
    if (block.count % width == 0 && pitch.count % width == 0) word = width;
  const std::uint64_t words = block.count * blocks / word;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>((words + mover_threads - 1) / mover_threads, 1,
                                                              std::max<std::uint64_t>(1, mover.grid)));
}

std::uint64_t blocks_of_pool(Bytes pool, Bytes block, Bytes pitch) {
  return pool < block ? 0 : (pool - block).count / pitch.count + 1;
}

std::string_view name_of(Mover::Kind kind) { return enum_name(kind); }

std::string to_string(const Mover& mover) {
  if (mover.kind == Mover::Kind::strided) return "strided copy";
  if (mover.kind != Mover::Kind::kernel) return std::string(name_of(mover.kind));
  return fmt::format("kernel of {} block{}", mover.grid, mover.grid == 1 ? "" : "s");
}

std::string name_in_profile(const Mover& mover, MemoryKind pool, bool to_device) {
  return fmt::format("{} {} {}", name_of(mover.kind), is_pinned(pool) ? "pinned" : to_string(pool),
                     to_device ? "h2d" : "d2h");
}

}  // namespace shiplap
