// Random schedules for tests: those of strategies and others made of nothing, most of them with a small fault.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "shiplap/schedule/schedule.hpp"
#include "tests/schedule/byte_machine.hpp"

namespace shiplap::testing_orders {

/// Random numbers that depend on the seed alone.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(engine_() % n); }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + engine_() % (high - low + 1); }
  /// True in one of `n` cases.
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class Table>
  auto& one_of(Table& table) {
    return table[below(table.size())];
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

struct DrawnSchedule {
  Schedule schedule;
  std::string origin;  ///< how it was made, for messages
};

/// A schedule of a random strategy for a small random job, or one of random ops, then changed at random places. About
/// half of them are sound.
DrawnSchedule draw_schedule(Draw&);

/// A schedule of a random strategy for a small random job.
DrawnSchedule draw_from_strategy(Draw&);
/// A schedule of random ops in memory of all kinds. The ops mostly wait for those whose bytes they share.
DrawnSchedule draw_from_nothing(Draw&);
/// A schedule of moves of scattered blocks through one list.
DrawnSchedule draw_moves_of_blocks(Draw&);
/// Adds an op that keeps to the rules for single ops, without `after`.
void add_random_op(Schedule&, Draw&);
/// Lets each op wait for the earlier ones whose bytes it shares, except for one in `left_out` of these (0: no
/// exception).
void order_shared_bytes(Schedule&, Draw&, std::uint64_t left_out);
/// Changes the schedule at one place. Returns what was changed.
std::string mutate(Schedule&, Draw&);

/// The schedule with a MiB for each byte. Copies take longer than the latencies beside them.
Schedule enlarged(Schedule);

/// Random indices that fit the lists of a schedule that keeps to the rules for single ops: inside of every pool, and
/// without repetition where an op writes through the list. nullopt when a list has more positions than its pool has
/// blocks.
std::optional<Indices> draw_indices(const Schedule&, Draw&);

}  // namespace shiplap::testing_orders
