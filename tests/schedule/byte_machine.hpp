// An interpreter that executes a schedule byte by byte in any legal order, for tests. It uses nothing of shiplap's own
// analysis of orders, so that the two can be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "shiplap/device/bindings.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap::testing_orders {

/// Indices by BlockListId; empty for a regular list.
using Indices = std::vector<std::vector<std::uint32_t>>;

/// A byte that an op accesses, as an index into the memory of all buffers.
using Cell = std::size_t;

/// The cells that an op accesses. An op that changes the state of pages (a prefetch, a call of the host) reads and
/// writes the cells of its region.
struct Footprint {
  std::vector<Cell> read;
  std::vector<Cell> written;
};

/// The memory of a schedule as one array, and which cells of it each op accesses.
class CellMap {
 public:
  /// The schedule must keep to the rules that concern single ops (`broken_rules`), and the indices must fit its lists.
  CellMap(const Schedule&, const Indices&);

  std::size_t size() const { return first_of_buffer_.back(); }
  Cell first_of(BufferId buffer) const { return first_of_buffer_[buffer.index()]; }
  const Footprint& of(OpId op) const { return footprints_[op.index()]; }
  /// Whether both access a cell that one of them writes.
  bool conflict(OpId, OpId) const;

 private:
  using CellSet = std::vector<std::uint64_t>;  // a bit for each cell
  CellSet set_of(const std::vector<Cell>&) const;

  std::vector<Cell> first_of_buffer_;
  std::vector<Footprint> footprints_;
  std::vector<CellSet> accessed_;  // by op
  std::vector<CellSet> written_;   // by op
};

/// The ops that must have ended before an op may start, one step back: those in `after` with the rest of their batch,
/// the one before it in its stream or among those that its agent performs itself, or that of the first op of its batch.
std::vector<std::vector<OpId>> direct_predecessors(const Schedule&);
/// For each op whether each other op comes before it in every legal order.
std::vector<std::vector<bool>> all_predecessors(const std::vector<std::vector<OpId>>& direct);

/// What is left of a run. Two runs in which two conflicting ops change places differ in `tags` or in `seen`, because
/// every op leaves its mark on the tags of the cells that it writes.
struct Outcome {
  std::vector<std::uint8_t> bytes;  ///< memory, as a device would leave it
  std::vector<std::uint64_t> tags;  ///< by cell: a hash of all ops that the content of the cell comes from
  std::vector<std::uint64_t> seen;  ///< by op: a hash of the tags that the op has read
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Executes ops in single steps of one byte. The schedule and the map must outlive it.
class ByteMachine {
 public:
  ByteMachine(const Schedule&, const CellMap&, const std::vector<std::vector<OpId>>& direct_predecessors);

  /// Performs all of the op. Its predecessors must have ended.
  void perform(OpId);
  /// Performs all ops that have not ended, in the order of the schedule.
  void perform_rest();
  /// Performs all ops in a random legal order. Ops that may overlap in time take turns after any number of bytes.
  /// Returns false when some op can never start.
  bool perform_all(std::mt19937_64&);
  /// Performs at most this number of steps of the op, whether its predecessors have ended or not.
  void advance(OpId, std::size_t steps);
  /// A random number of steps: all of the op in half of the cases, and few in the others.
  std::size_t some_steps(OpId, std::mt19937_64&) const;
  bool has_ended(OpId op) const { return done_[op.index()] == steps(op) && started_[op.index()]; }
  const Outcome& outcome() const { return outcome_; }

 private:
  bool may_start(OpId) const;
  std::size_t steps(OpId op) const { return steps_[op.index()]; }
  void step(OpId);
  void step_of_kernel(OpId, const Kernel&, std::size_t);
  void read(OpId, Cell);

  const Schedule& schedule_;
  const CellMap& map_;
  const std::vector<std::vector<OpId>>& predecessors_;
  std::vector<std::size_t> steps_;
  std::vector<std::size_t> done_;
  std::vector<bool> started_;
  std::vector<std::uint64_t> digests_;  // by op: what a kernel has read so far, as bytes
  Outcome outcome_;
};

/// What the byte at this address of this buffer contains at the beginning.
std::uint8_t initial_byte(std::size_t buffer, std::uint64_t offset);
/// The kernel of ByteMachine as a function for the virtual device. Its first item must be the number of the op.
KernelFunction machine_kernel(const Schedule&);

/// What a run with two ops in either order shows.
struct Swap {
  bool is_legal = false;      ///< whether `later` can end before `earlier` starts
  bool differs = false;       ///< whether the order changes what one of the two has read or leaves behind
  bool bytes_differ = false;  ///< whether the order changes the bytes at the end of the run
};
/// Runs the schedule with `earlier` right before `later`, and the other way round.
Swap swap_ops(const Schedule&, const CellMap&, OpId earlier, OpId later);

}  // namespace shiplap::testing_orders
