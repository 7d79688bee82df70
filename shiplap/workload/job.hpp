// The shape of the work: arrays with their roles and memory, how a piece of the work reaches into them, what the kernel
// costs. Strategies turn a Job into schedules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

enum class Role : std::uint8_t { in, out, inout, resident };
constexpr bool is_input(Role role) { return role == Role::in || role == Role::inout; }
constexpr bool is_output(Role role) { return role == Role::out || role == Role::inout; }

/// One array of the job. Items [first, first + n) of the job own the proportional piece of it (see `slice`).
struct Array {
  std::string name;
  Role role = Role::in;
  Bytes size;
  Bytes element{1};  ///< pieces are whole elements
  MemoryKind memory = MemoryKind::pinned;
};

/// Kernel time on resident data with the GPU to itself, without the launch latency. The smallest of three or more
/// points is a floor: a launch that does not fill the GPU takes as long as a block needs. The others give straight
/// lines from one to the next, and the two at either end go on beyond it. A single point gives a line through zero. A
/// launch takes as long as one that gives every multiprocessor as many blocks as this one gives the busiest.
struct KernelCost {
  struct Point {
    std::uint64_t items = 0;
    Interval<Seconds> work;
  };
  std::vector<Point> points;  ///< by increasing items
  /// One launch with few blocks, each of which has a multiprocessor to itself: what a throttled kernel can do.
  struct Limited {
    std::uint64_t items = 0;
    std::uint64_t blocks = 0;
    Interval<Seconds> work;
  };
  std::optional<Limited> limited{};
  std::string origin;  ///< "measured", "stated", "derived from flops and bytes": shown beside every prediction

  Seconds at(std::uint64_t items) const;
  /// What the threads of `blocks` blocks that run at once take for their shares if none waits for another (see
  /// Kernel::thread_work): in proportion to `limited`, by whole rounds of all blocks; 0 where `limited` is unknown.
  Seconds of_threads(std::uint64_t items, std::uint64_t blocks, std::uint64_t items_per_block) const;
  /// Items of the smallest launch that keeps the GPU busy: where the floor meets the full rate; 0 without a floor.
  double busy_items() const;
};

struct Job {
  std::string name;  ///< "saxpy:n=64Mi"
  std::uint64_t items = 1;
  std::vector<Array> arrays;
  KernelCost cost;
  std::uint64_t items_per_block = 1;
  unsigned threads_per_block = 256;
  /// Whether the kernel does its work with whatever grid it is launched with (`Launch::blocks`).
  bool any_grid = true;
  std::uint32_t access_width = 16;  ///< bytes of the kernel's loads and stores
  double flops = 0;                 ///< whole job
  Bytes device_traffic{};           ///< bytes that the kernel reads and writes in device memory, whole job
};

struct ItemRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Sizes of the chunks of a job relative to the largest: the first is `first`, the last `last`, and from one to the
/// next they grow or shrink by a factor of `growth` at most. Small chunks at the ends fill and drain a pipeline sooner.
struct Ramp {
  double first = 1;
  double last = 1;
  double growth = 1;
  bool level() const { return first >= 1 && last >= 1; }
  friend bool operator==(const Ramp&, const Ramp&) = default;
};

/// Throws UsageError unless the ramp is level, or 0 < first, last <= 1 < growth.
void require_valid(const Ramp&);

/// `chunks` consecutive ranges that cover all items. Without a ramp they differ by at most one block of the kernel (by
/// one item where there are fewer blocks than chunks) and the last one takes what is left over; with one, each is
/// within a block of its share. Throws UsageError when `chunks` is 0 or larger than the number of items, or the ramp is
/// not valid.
std::vector<ItemRange> split(const Job&, std::uint32_t chunks, const Ramp& = {});

/// The piece of `array` that a range of items owns: offset and length in bytes, whole elements, no gap and no overlap
/// between neighbouring ranges.
struct Slice {
  Bytes offset;
  Bytes length;
};
Slice slice(const Job&, const Array&, ItemRange);

/// Time of a launch over `items` items with at most `blocks` blocks (0: no limit), which is never faster than without
/// the limit.
Seconds kernel_time(const Job&, std::uint64_t items, std::uint64_t blocks);

/// Blocks of a launch over `items` items, and how many of them fill the GPU (`Kernel::resident_blocks`). How much of
/// the GPU a launch leaves to others is read off the cost, not off the threads: a memory-bound kernel may use all of
/// the bandwidth with half of the threads. `resident_threads` 0: every launch fills the GPU. At most `at_once` such
/// launches run at the same time.
struct Grid {
  std::uint64_t blocks = 1;
  std::uint64_t resident_blocks = 1;
};
Grid grid(const Job&, std::uint64_t items, std::uint64_t resident_threads, std::uint64_t at_once);

/// Of the first array that is not resident; pinned without one.
MemoryKind memory_of(const Job&);

/// Bytes of all arrays that go to the device (in, inout) and that come back (out, inout).
Bytes bytes_in(const Job&);
Bytes bytes_out(const Job&);

}  // namespace shiplap
