#include "shiplap/pipeline/move.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/list_check.hpp"
#include "shiplap/device/move_blocks.hpp"
#include "shiplap/pipeline/node.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {
namespace {

constexpr std::uint16_t gpu_of_moves = 0;
constexpr std::uint16_t numa_node_of_moves = any_numa_node;

/// The movers to try, in this order: the best, and after a batch the best other one.
struct MoversToTry {
  std::array<Mover, 2> movers{};
  std::size_t count = 0;
};

/// A choice that a thread has made. It keeps the profile, so that its address stands for no other profile.
struct KeptChoice {
  std::shared_ptr<const Profile> profile;
  BlockSet set;
  MoverLimits limits;
  MoversToTry choice;
};

/// Number of kept choices. A program moves blocks of a few sizes in a few tens of numbers.
constexpr std::size_t kept_choices = 256;

MoversToTry choose(const Profile& profile, const BlockSet& set, const MoverLimits& limits) {
  MoversToTry choice{.movers = {choose_mover(profile, gpu_of_moves, numa_node_of_moves, set, limits).best.mover},
                     .count = 1};
  if (choice.movers[0].kind != Mover::Kind::batch) return choice;
  for (const MoverTime& m : mover_times(profile, gpu_of_moves, numa_node_of_moves, set, limits))
    if (m.mover.kind != Mover::Kind::batch && choice.count == 1) choice.movers[choice.count++] = m.mover;
  return choice;
}

/// The number with all binary digits but the first three set to 0. Movers of two numbers with the same result differ in
/// their times by at most a quarter.
std::uint64_t rounded_down(std::uint64_t count) {
  const auto digits = static_cast<unsigned>(std::bit_width(count));
  return digits <= 3 ? count : count >> (digits - 3) << (digits - 3);
}

/// The largest number with the same result of `rounded_down`.
std::uint64_t rounded_up(std::uint64_t count) {
  const auto digits = static_cast<unsigned>(std::bit_width(count));
  return digits <= 3 ? count : rounded_down(count) + (std::uint64_t{1} << (digits - 3)) - 1;
}

std::size_t place_of(const BlockSet& set) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio: Fibonacci hashing
  const std::uint64_t direction_and_pool = static_cast<std::uint64_t>(set.pool) * 2 + (set.to_device ? 1 : 0);
  const std::uint64_t mixed = ((set.block.count * golden) ^ (set.blocks * 8191) ^ direction_and_pool) * golden >> 40;
  return mixed % kept_choices;
}

const MoversToTry& movers_for(const std::shared_ptr<const Profile>& profile, BlockSet set, const MoverLimits& limits) {
  thread_local std::vector<KeptChoice> kept(kept_choices);
  // A limit is kept for the largest number that has the same choice, because a longer move costs a neighbour more.
  set.blocks = limits.max_slowdown ? rounded_up(set.blocks) : rounded_down(set.blocks);
  KeptChoice& place = kept[place_of(set)];
  if (place.profile != profile || place.set != set || place.limits != limits)
    place = {.profile = profile, .set = set, .limits = limits, .choice = choose(*profile, set, limits)};
  return place.choice;
}

/// The blocks of the pool. Throws UsageError when the pool has none.
std::uint64_t blocks_of(const PoolBytes& pool) {
  if (pool.block.count == 0) throw UsageError("the blocks of a pool have a size of 0: give the size of a block");
  if (pool.pitch < pool.block)
    throw UsageError(
        fmt::format("the blocks of a pool overlap: their size is {} and their pitch {}; give a pitch of at "
                    "least the size",
                    to_string(pool.block), to_string(pool.pitch)));
  if (pool.data == nullptr || pool.size < pool.block)
    throw UsageError(fmt::format("a pool of {} has no block of {}: give a pool of at least one block",
                                 to_string(pool.size), to_string(pool.block)));
  return blocks_of_pool(pool.size, pool.block, pool.pitch);
}

void require_each_once(std::span<const std::uint32_t> index, std::uint64_t pool_blocks) {
  thread_local std::vector<bool> named;
  if (named.size() < pool_blocks) named.resize(pool_blocks);
  require_named_once("index", index, named);
}

Mover move_checked(const Node& node, const PoolBytes& pool, std::span<const std::uint32_t> index, std::byte* packed,
                   bool gather, void* stream, const MoverLimits& limits) {
  MeasurableDevice& device = device_of(node, "moving blocks");
  static_cast<void>(profile_of(node));
  const std::uint64_t pool_blocks = blocks_of(pool);
  if (index.empty()) return {};
  if (packed == nullptr)
    throw UsageError(fmt::format("the {} of the blocks is null: give memory of the GPU for {} blocks",
                                 gather ? "destination" : "source", index.size()));
  require_within("index", index, pool_blocks);
  if (!gather) require_each_once(index, pool_blocks);
  const MoversToTry& choice = movers_for(node.profile,
                                         {.block = pool.block,
                                          .blocks = index.size(),
                                          .to_device = gather,
                                          .pool = device.kind_of(pool.data, pool.size),
                                          .regular = false},
                                         limits);
  const BlockMove move{.pool = pool.data,
                       .packed = packed,
                       .indices = index.data(),
                       .count = index.size(),
                       .block = pool.block,
                       .pitch = pool.pitch,
                       .gather = gather};
  return device.move_blocks(move, std::span(choice.movers).first(choice.count), stream);
}

}  // namespace

Mover move_bytes(const Node& node, const PoolBytes& pool, std::span<const std::uint32_t> index, void* packed,
                 void* stream, const MoverLimits& limits) {
  return move_checked(node, pool, index, static_cast<std::byte*>(packed), true, stream, limits);
}

Mover move_bytes_back(const Node& node, const PoolBytes& pool, std::span<const std::uint32_t> index, const void* packed,
                      void* stream, const MoverLimits& limits) {
  auto* source = const_cast<std::byte*>(static_cast<const std::byte*>(packed));  // a move back only reads it
  return move_checked(node, pool, index, source, false, stream, limits);
}

}  // namespace shiplap
