// The work as a value: arrays with their roles and memory, how a piece of the work reaches into them, what the kernel
// costs and what it calls. Strategies turn a Job into schedules; described_job.hpp is the comfortable way to make one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/statistics.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// What a kernel does with an array.
enum class Role : std::uint8_t {
  in,
  out,
  inout,
  resident,  ///< read as a whole by every chunk: brought to the GPU once
  carried,   ///< read and written as a whole by every chunk, one after the other: brought once, and back at the end
  scratch,   ///< room on the GPU for the kernel of a chunk, which nobody fills and nobody asks back
};
/// Whether it is cut and brought to the GPU.
constexpr bool is_input(Role role) { return role == Role::in || role == Role::inout; }
/// Whether it is cut and brought back.
constexpr bool is_output(Role role) { return role == Role::out || role == Role::inout; }
/// Whether kernels write it.
constexpr bool is_written(Role role) { return role != Role::in && role != Role::resident; }
/// Of a kernel to its operand.
constexpr AccessMode access_mode(Role role) { return is_written(role) ? AccessMode::write : AccessMode::read; }
/// Whether the whole array is on the GPU while the job runs.
constexpr bool stays(Role role) { return role == Role::resident || role == Role::carried; }

/// Items [first, first + count) of a job.
struct ItemRange {
  std::uint64_t first = 0;  ///< index in the whole job
  std::uint64_t count = 0;  ///< how many items
  friend bool operator==(const ItemRange&, const ItemRange&) = default;
};

/// Elements of an array.
struct ElementRange {
  std::uint64_t first = 0;  ///< index in the whole array
  std::uint64_t count = 0;  ///< how many elements
};

/// How far the kernel of a chunk reaches into an array that is cut: its own piece (see `slice`), and for arrays that
/// are only read some items on either side of it, as far as there are any (a halo). Or what a mapping says.
struct Reach {
  std::uint64_t before = 0;  ///< items
  std::uint64_t after = 0;   ///< items
  /// From the items of a chunk to the elements that its kernel is handed. Called often, for any range of items. Must be
  /// monotone: a later chunk begins and ends no earlier. What chunks write must be apart.
  std::function<ElementRange(ItemRange)> elements{};
};
/// Its own piece alone.
inline const Reach each{};
/// So many items on either side of its own piece too, as far as there are any.
inline Reach neighbours(std::uint64_t before, std::uint64_t after) {
  return {.before = before, .after = after, .elements = {}};
}
/// What `elements` says: see Reach::elements.
inline Reach mapped_by(std::function<ElementRange(ItemRange)> elements) {
  return {.before = 0, .after = 0, .elements = std::move(elements)};
}

/// One array of the job. Items [first, first + n) of the job own the proportional piece of it (see `slice`).
struct Array {
  std::string name;                        ///< in messages, and of its view
  Role role = Role::in;                    ///< what the kernel does with it
  Bytes size;                              ///< of the whole array
  Bytes element{1};                        ///< pieces are whole elements
  MemoryKind memory = MemoryKind::pinned;  ///< what it lies in; looked up before planning where `data` is known
  Reach reach{};                           ///< of the kernel of a chunk into it
  /// Of a resident array: it is the first elements of that array of the job, an earlier one that is read and cut. Both
  /// are brought once, and it needs no memory of the caller's.
  std::optional<std::uint32_t> front_of{};
  /// Where it is; null while only its shape is known.
  std::byte* data = nullptr;
};

/// Of the memory that the caller has for the array; none for one that is only on the GPU or part of another.
inline Bytes size_on_host(const Array& array) {
  return array.role == Role::scratch || array.front_of ? Bytes{} : array.size;
}

/// What is known of the kernel of a job on one GPU: written by a run that measured it, read by devices that cannot.
/// Its time on resident data with the GPU to itself, without the launch latency, of items of average density (see
/// `density`). The first point may be a floor: no launch is shorter, since a block needs its time. The others, or where
/// these are less than two all, give straight lines from one to the next, and the two at either end go on beyond it. A
/// single point gives a line through zero. With a floor a launch takes as long as one that gives every multiprocessor
/// as many blocks as this one gives the busiest.
struct KernelCost {
  /// The time of one launch.
  struct Point {
    std::uint64_t items = 0;  ///< of the launch
    Interval<Seconds> work;   ///< its time
  };
  std::vector<Point> points;  ///< by increasing items
  bool has_floor = false;     ///< the first is of a launch with no more than a block for each multiprocessor
  /// Of a point: a chunk of so many items or fewer stays in the GPU's L2 cache from one launch of the kernel to the
  /// next, one of more does not: then the last point counts, and what the cached ones say that launches take by
  /// themselves. 0: not told apart.
  std::uint64_t cached_items = 0;
  /// One launch with few blocks, each of which has a multiprocessor to itself: what a throttled kernel can do.
  struct Limited {
    std::uint64_t items = 0;   ///< of the launch
    std::uint64_t blocks = 0;  ///< of the launch
    Interval<Seconds> work;    ///< its time
  };
  /// Measured only for kernels that may be throttled, by increasing items: of one size, or of two with as many blocks
  /// where a wave has no two items, so that what a launch does but once shows.
  std::vector<Limited> limited{};
  /// Measured launch times with zero-copy: the kernel accesses inputs, outputs or both in pinned host memory.
  struct ZeroCopy {
    bool in = false;           ///< whether the `in` arrays are in host memory
    bool out = false;          ///< whether the `out` and `inout` arrays are in host memory
    std::uint64_t blocks = 0;  ///< most blocks of the launch; 0 stands for the kernel's own grid
    std::vector<Point> alone;  ///< times while no copy moves, by increasing items
    /// Times while the remaining arrays are copied, by increasing items. Empty when no arrays remain to be copied, or
    /// when the kernel is so slow on host memory that no plan would choose it.
    std::vector<Point> beside;
    double copies_beside = 1;  ///< factor by which these copies take longer while the kernel runs
    /// Time of a launch over `items` items of average density while no copy moves. Piecewise linear between the points;
    /// the last line is extended; below the first point the time is proportional to the items.
    Seconds at(std::uint64_t items) const;
    /// Time of the launch while the remaining arrays are copied; at least the time without copies.
    Seconds beside_at(std::uint64_t items) const;
  };
  std::vector<ZeroCopy> zero_copy{};  ///< empty when zero-copy was not measured
  std::uint64_t resident_blocks = 0;  ///< blocks that fit on the GPU at once, by the occupancy API; 0 when unknown
  std::string origin;  ///< "measured", "stated", "derived from flops and bytes": shown beside every prediction

  /// Of a launch over so many items, with the cache shared by others over `beside` items. Throws Error when there are
  /// no points.
  Seconds at(std::uint64_t items, std::uint64_t beside = 0) const;
  /// The zero-copy times for a grid of `blocks` blocks (0: the kernel's own grid, which has `own_blocks`). Between two
  /// measured grids the time of the smaller one is scaled by the number of blocks and never falls below the time of the
  /// larger one. Returns nullopt when neither this grid nor a smaller one was measured.
  std::optional<ZeroCopy> zero_copy_at(bool in, bool out, std::uint64_t blocks, std::uint64_t own_blocks) const;
};

template <class... Elements>
class DescribedJob;

/// Work to be done in pieces: arrays, the kernel, and what the kernel costs. A value; the arrays stay the caller's.
struct Job {
  std::uint64_t items = 1;            ///< along which it is split: rows, levels, frames
  std::string name{"job"};            ///< "saxpy:n=64Mi"
  std::vector<Array> arrays{};        ///< in the order of the kernel's views
  KernelCost cost{};                  ///< of the kernel; without points it is measured or derived before planning
  std::uint64_t items_per_block = 1;  ///< that one block of the kernel works on, at most
  std::uint64_t blocks_abreast = 1;   ///< that work on the same items side by side, each on a part of them
  unsigned threads_per_block = 256;   ///< of the kernel
  /// Whether the kernel does its work with whatever grid it is launched with (`Launch::blocks`).
  bool any_grid = true;
  std::uint64_t launches = 1;          ///< that the kernel makes for a chunk, whatever its size
  std::uint64_t launches_of_item = 0;  ///< and for each item of it
  /// Whether the kernel is made to reach into host memory: it reads and writes each byte about once, all along.
  bool zero_copy = true;
  double flops = 0;               ///< operations of the whole job
  bool double_precision = false;  ///< of these operations
  Bytes device_traffic{};         ///< bytes that the kernel reads and writes in device memory, whole job
  /// Share of the GPU's limit, by bytes or operations, that the kernel reaches on resident data: as measured on a GPU,
  /// for GPUs that are not there.
  double efficiency = 1;
  KernelBinding binding{};  ///< what the kernel is on either device

  /// Begin a description: see described_job.hpp, which defines them. `Data` is a contiguous range of the elements.
  template <class Data>
  auto in(std::string name, Data&&, Reach = {}) const;
  template <class Data>
  auto out(std::string name, Data&&, Reach = {}) const;  ///< see DescribedJob::out
  template <class Data>
  auto inout(std::string name, Data&&, Reach = {}) const;  ///< see DescribedJob::inout
  template <class Data>
  auto resident(std::string name, Data&&) const;  ///< see DescribedJob::resident
  template <class Data>
  auto carried(std::string name, Data&&) const;  ///< see DescribedJob::carried
  template <class T>
  auto shaped(std::string name, Role, std::uint64_t elements, Reach = {}) const;  ///< see DescribedJob::shaped
  template <class T>
  auto scratch(std::string name, std::uint64_t elements, Reach = {}) const;  ///< see DescribedJob::scratch
};

/// Sizes of the chunks of a job relative to the largest: the first is `first`, the last `last`, and from one to the
/// next they grow or shrink by a factor of `growth` at most. Small chunks at the ends fill and drain a pipeline sooner.
struct Ramp {
  double first = 1;   ///< of the first chunk, more than 0 and at most 1
  double last = 1;    ///< of the last chunk, more than 0 and at most 1
  double growth = 1;  ///< from one chunk to the next, more than 1 unless the ramp is level
  /// Whether all chunks are alike.
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
  Bytes offset;  ///< in the array
  Bytes length;  ///< of the piece
};
/// Of a range within the job's items.
Slice slice(const Job&, const Array&, ItemRange);

/// What a chunk has to do with an array that is cut.
struct Piece {
  Slice reach;  ///< that its kernel is handed
  Slice fresh;  ///< the part of it that was not of the chunk before; of an output the same
};
/// Of consecutive chunks. Throws UsageError that names array and chunk when the reach is out of bounds, not monotone,
/// or what two chunks write overlaps.
std::vector<Piece> pieces(const Job&, const Array&, std::span<const ItemRange> chunks);
/// What the kernel of these items is handed of the array; all of one that stays on the GPU.
Slice reach(const Job&, const Array&, ItemRange);

/// How many times as much data these items have as items on average, in the inputs that are cut, but for those whose
/// pieces overlap by a mapping: the nonzeros of rows.
double density(const Job&, ItemRange);
/// So many items on average have as much data, at least 1: what the cost of the kernel over these items is read at.
std::uint64_t average_items(const Job&, ItemRange);

/// Throws UsageError that names the array for a front of one that cannot have it (see Array::front_of).
void require_fronts(const Job&);

/// Calls in which the kernel is submitted for so many items.
std::uint64_t launches_of(const Job&, std::uint64_t items);
/// Blocks of a launch over so many items that has the kernel's own grid.
std::uint64_t blocks_of(const Job&, std::uint64_t items);
/// Blocks of the kernel that a GPU with room for so many threads holds at once: a wave.
std::uint64_t wave_of(const Job&, std::uint64_t resident_threads);
/// The most items for which so many blocks are enough; at least those of one block.
std::uint64_t items_of(const Job&, std::uint64_t blocks);

/// What the threads of `blocks` blocks that run at once take for their shares if none waits for another: in proportion
/// to `KernelCost::limited`, by whole rounds of all blocks, or along the line through its two points; 0 where that is
/// unknown.
Seconds time_of_threads(const Job&, std::uint64_t items, std::uint64_t blocks);

/// Time of a launch over `items` items with at most `blocks` blocks (0: no limit), which is never faster than without
/// the limit; where at most so many run at once, whose data share the cache.
Seconds kernel_time(const Job&, std::uint64_t items, std::uint64_t blocks, std::uint64_t at_once = 1);

/// Blocks of a launch over `items` items, how many of them fit on the GPU at once, and how many take all of its rate.
/// How much of it a launch leaves to others is read off the cost, not off the threads: a memory-bound kernel may use
/// all of the bandwidth with half of the threads. `resident_threads` 0: every launch fills the GPU. At most `at_once`
/// such launches run at the same time.
struct Grid {
  std::uint64_t blocks = 1;            ///< that are launched
  std::uint64_t resident_blocks = 1;   ///< `Kernel::resident_blocks`
  std::uint64_t full_rate_blocks = 1;  ///< `Kernel::full_rate_blocks`
};
/// Of a launch over so many items of the job.
Grid grid(const Job&, std::uint64_t items, std::uint64_t resident_threads, std::uint64_t at_once);

/// Of the first array that is cut and in host memory; pinned without one.
MemoryKind memory_of(const Job&);

/// Bytes of all arrays that go to the device (in, inout) and that come back (out, inout).
Bytes bytes_in(const Job&);
/// See bytes_in.
Bytes bytes_out(const Job&);

}  // namespace shiplap
