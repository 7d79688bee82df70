// A job: arrays with their roles and memory, the part of them that a chunk needs, the cost of the kernel, and its
// binding. Strategies turn a job into schedules. Programs describe jobs with described_job.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/core/interval.hpp"
#include "shiplap/core/units.hpp"
#include "shiplap/device/kernel_binding.hpp"
#include "shiplap/schedule/place.hpp"
#include "shiplap/workload/blocks.hpp"

namespace shiplap {

/// How a kernel uses an array.
enum class Role : std::uint8_t {
  in,
  out,
  inout,
  broadcast,  ///< every chunk reads all of it: each run copies it to the GPU once
  carried,    ///< every chunk reads and writes all of it, one chunk after the other: copied once, and back at the end
  scratch,    ///< memory on the GPU for the kernel of a chunk: never copied
};
/// The roles of arrays with their names.
EnumNames<Role> names_of(Role);
/// Whether the kernel of a chunk reads the chunk's part of the array.
constexpr bool is_input(Role role) { return role == Role::in || role == Role::inout; }
/// Whether the kernel of a chunk writes the chunk's part of the array.
constexpr bool is_output(Role role) { return role == Role::out || role == Role::inout; }
/// Whether kernels write the array.
constexpr bool is_written(Role role) { return role != Role::in && role != Role::broadcast; }
/// How a kernel accesses an operand with this role.
constexpr AccessMode access_mode(Role role) { return is_written(role) ? AccessMode::write : AccessMode::read; }
/// Whether the whole array is on the GPU while the job runs.
constexpr bool stays(Role role) { return role == Role::broadcast || role == Role::carried; }

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

/// The part of an array that the kernel of a chunk needs. It is what the chunk's items own (see owned_bytes). For an
/// array that is only read it may include what some items before and after own (a halo). A mapping (`elements`) may
/// give another part.
struct Reach {
  std::uint64_t before = 0;  ///< items of the halo before the chunk, as far as there are any
  std::uint64_t after = 0;   ///< items of the halo after the chunk, as far as there are any
  /// Gives the elements that the kernel is handed for the items of a chunk. The function is called often, for any range
  /// of items. The elements of a later chunk must neither begin nor end before those of an earlier chunk, and two
  /// chunks must not write the same element.
  std::function<ElementRange(ItemRange)> elements{};
};
/// The reach of the elements that the items of a chunk own.
inline const Reach own_items{};
/// The reach of what the items of a chunk own, and a halo of `before` and `after` items.
inline Reach halo(std::uint64_t before, std::uint64_t after) {
  return {.before = before, .after = after, .elements = {}};
}
/// The reach of the elements that the function returns (see Reach::elements).
inline Reach mapped_by(std::function<ElementRange(ItemRange)> elements) {
  return {.before = 0, .after = 0, .elements = std::move(elements)};
}

/// Memory for a whole array on the GPU, which several jobs use one after the other. Chunks are at their place in it.
struct Home {
  bool arrives = true;  ///< whether what kernels read is copied there first, or is there already
  bool leaves = true;   ///< whether what kernels write is copied back
};

/// One array of the job. Each item of the job owns a proportional part of it (see owned_bytes).
struct Array {
  std::string name;      ///< name of the array in messages
  Role role = Role::in;  ///< how the kernel uses the array
  Bytes size;            ///< size of the whole array
  Bytes element{1};      ///< size of an element; items own whole elements
  /// The kind of memory; looked up before planning where `data` is known. `device`: the array is on the GPU already.
  MemoryKind memory = MemoryKind::pinned;
  Reach reach{};  ///< the part that the kernel of a chunk needs
  /// How often the kernel reads each byte on average, at least 1. Eq 6 of van Werkhoven et al. 2014 counts every read,
  /// as if no cache kept host memory; simulations count the first, as the caches of later GPUs keep it.
  double times_read = 1;
  /// Makes a broadcast array a prefix of another array: the first elements of the array of that index, which comes
  /// earlier and has the role `in`. The bytes cross the link once for both, and the caller has no memory for the
  /// broadcast one.
  std::optional<std::uint32_t> prefix_of{};
  /// Whether the array stays on the GPU from one run to the next, for an array of which every chunk reads all elements
  /// (`broadcast`, `carried`). The first run copies it to the GPU, and later ones only after `Prepared::changed`. What
  /// kernels write into it stays there until `Prepared::fetch`.
  bool kept = false;
  /// Name of the array of a step that this is a part of; empty for an array by itself (step_parts.hpp).
  std::string part_of{};
  /// Memory of the array's own size on the GPU besides the caller's (see Home).
  std::optional<Home> home{};
  /// Whether the kernel of a chunk writes the halo of an `out` array too, for kernels that follow it in the same launch
  /// (fused_job.hpp). Only what the items own is copied back.
  bool private_halo = false;
  /// Makes the array blocks of a pool, which is the caller's memory at `data`. `size` is that of all blocks together.
  /// Every item owns equally many whole blocks.
  std::optional<Blocks> blocks{};
  /// Address of the caller's memory; null while only the shape is known.
  std::byte* data = nullptr;
  /// Index of a pageable array. Because of it this array counts as pageable, although its own memory is of another
  /// kind. nullopt: `memory` is the kind of its own memory.
  std::optional<std::uint32_t> forced_pageable_by{};
};

/// Size of the memory that the caller has for the array, on the host or on the GPU. For an array of blocks it is the
/// size of the pool. For scratch and for a prefix of another array it is 0.
inline Bytes size_on_host(const Array& array) {
  if (array.blocks) return array.blocks->pool;
  return array.role == Role::scratch || array.prefix_of ? Bytes{} : array.size;
}

/// The cost of the kernel of a job on one GPU. A run that measures the kernel writes it, and predictions for devices
/// that cannot run the kernel read it. Times are on resident data with the GPU to itself, without the launch latency,
/// for items of average density (see `density`).
///
/// The time is linear between two points, and extrapolated along the lines at both ends. A single point gives a line
/// through zero. The first point may be a floor: no launch is shorter, because one block takes that long. With a floor,
/// the time follows the number of blocks on the busiest SM, so that items are rounded up to one more block for every
/// SM. With two other points, the floor itself is not used for a line.
struct KernelCost {
  /// The time of one launch.
  struct Point {
    std::uint64_t items = 0;  ///< number of items of the launch
    Interval<Seconds> work;   ///< time of the launch
  };
  std::vector<Point> points;  ///< by increasing items
  bool has_floor = false;     ///< whether the first point is of a launch with at most one block for each SM
  /// The most items whose data stay in the L2 cache from one launch to the next; one of the points has this number of
  /// items. For more items the last point gives the time per item, and the cached points give the part that does not
  /// depend on the items. 0: the points do not tell cached launches from others.
  std::uint64_t cached_items = 0;
  /// The time of one launch with few blocks, each of which has an SM to itself.
  struct Limited {
    std::uint64_t items = 0;   ///< number of items of the launch
    std::uint64_t blocks = 0;  ///< number of blocks of the launch
    Interval<Seconds> work;    ///< time of the launch
  };
  /// Measured for kernels whose grid may be limited, by increasing items. It usually has one entry. If a wave has fewer
  /// than two items, it has two entries with equal `blocks`, whose difference separates the fixed part of a launch from
  /// the part per item.
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
    /// Time of a launch over `items` items of average density while no copy moves. The time is linear between points
    /// and beyond the last one. Below the first point it is proportional to the items.
    Seconds at(std::uint64_t items) const;
    /// Time of the launch while the remaining arrays are copied; at least the time without copies.
    Seconds beside_at(std::uint64_t items) const;
  };
  std::vector<ZeroCopy> zero_copy{};  ///< empty when zero-copy was not measured
  std::uint64_t resident_blocks = 0;  ///< blocks that fit on the GPU at once, by the occupancy API; 0 when unknown
  /// Host time of a call of the kernel function beyond that of its launches, as for a function of an interpreted
  /// language. Every chunk needs a call, except in a graph.
  Seconds call{0};
  std::string origin;  ///< "measured", "stated", "derived from flops and bytes"; shown beside predictions

  /// Time of a launch over `items` items while other launches over `concurrent_items` items share the cache. Throws
  /// Error when there are no points.
  Seconds launch_time(std::uint64_t items, std::uint64_t concurrent_items = 0) const;
  /// The zero-copy times for a grid of `blocks` blocks (0: the kernel's own grid, which has `own_blocks`). Between two
  /// measured grids the time of the smaller one is scaled by the number of blocks and never falls below the time of the
  /// larger one. Returns nullopt when neither this grid nor a smaller one was measured.
  std::optional<ZeroCopy> zero_copy_at(bool in, bool out, std::uint64_t blocks, std::uint64_t own_blocks) const;
};

template <class... Elements>
class DescribedJob;

/// Work that can be done in chunks: arrays, a kernel and the cost of the kernel. The memory of the arrays stays the
/// caller's.
struct Job {
  std::uint64_t items = 1;            ///< number of items, along which the job is cut: rows, levels, frames
  std::string name{"job"};            ///< "saxpy:n=64Mi"
  std::vector<Array> arrays{};        ///< in the order of the kernel's parameters
  KernelCost cost{};                  ///< cost of the kernel; without points it is measured or derived before planning
  std::uint64_t items_per_block = 1;  ///< most items that one thread block of the kernel works on
  std::uint64_t blocks_per_item_group = 1;  ///< thread blocks that share the work on the same `items_per_block` items
  unsigned threads_per_block = 256;         ///< threads in a block of the kernel
  /// Whether the kernel works with any grid. It then launches `Launch::blocks` thread blocks.
  bool any_grid = false;
  /// Number of launches for a chunk of any size. A plan for a GPU counts them in captures of the kernel; a virtual
  /// device has what is stated here.
  std::uint64_t launches = 1;
  double launches_per_item = 0;  ///< additional launches for each item of a chunk, counted or stated like `launches`
  /// Whether the kernel reads and writes each byte about once, spread over its time, so that zero-copy may pay.
  /// nullopt: unknown, so zero-copy is offered only when it was measured (see offers_zero_copy).
  std::optional<bool> each_byte_once{};
  /// Whether a stream can capture the kernel. A kernel that allocates memory cannot be captured: a graph would keep the
  /// memory of the time when it was made. It has the launches that are stated here, and no plan is a graph.
  bool capturable = true;
  /// Whether the kernel function returns only when its work has ended. The host submits nothing else meanwhile, so
  /// fewer plans overlap copies and kernels.
  bool waits = false;
  double flops = 0;               ///< floating-point operations of the whole job
  bool double_precision = false;  ///< whether `flops` are in double precision
  Bytes device_traffic{};         ///< bytes that the kernel reads and writes in device memory, whole job
  /// Fraction of the GPU's peak rate, by bytes or by operations, that the kernel reaches on resident data: more than 0
  /// and at most 1. Set it from a measurement on one GPU; it is used to estimate the kernel's time on others.
  double efficiency = 1;
  KernelBinding binding{};  ///< the kernel on the CUDA device and on the virtual device

  /// Begins a description with an array. Each of these functions takes the arguments of the function of DescribedJob
  /// with the same name; described_job.hpp defines them.
  template <class... Described>
  auto in(std::string array, Described&&... described) const;
  template <class... Described>
  auto out(std::string array, Described&&... described) const;  ///< see DescribedJob::out
  template <class... Described>
  auto inout(std::string array, Described&&... described) const;  ///< see DescribedJob::inout
  template <class... Described>
  auto broadcast(std::string array, Described&&... described) const;  ///< see DescribedJob::broadcast
  template <class... Described>
  auto carried(std::string array, Described&&... described) const;  ///< see DescribedJob::carried
  template <class... Described>
  auto kept(std::string array, Described&&... described) const;  ///< see DescribedJob::kept
  template <class... Described>
  auto kept_state(std::string array, Described&&... described) const;  ///< see DescribedJob::kept_state
  template <class T>
  auto shaped(std::string name, Role, std::uint64_t elements, Reach = {}) const;  ///< see DescribedJob::shaped
  template <class T>
  auto scratch(std::string name, std::uint64_t elements, Reach = {}) const;  ///< see DescribedJob::scratch
};

/// Sizes of the chunks of a job relative to the largest. Neighbouring chunks differ at most by the factor `growth`.
/// Small chunks at both ends fill and drain a pipeline sooner.
struct Ramp {
  double first = 1;   ///< relative size of the first chunk, more than 0 and at most 1
  double last = 1;    ///< relative size of the last chunk, more than 0 and at most 1
  double growth = 1;  ///< factor from one chunk to the next, more than 1 unless the ramp is level
  /// Whether all chunks have the same size.
  bool level() const { return first >= 1 && last >= 1; }
  friend bool operator==(const Ramp&, const Ramp&) = default;
};

/// Throws UsageError unless the ramp is level, or 0 < first, last <= 1 < growth.
void require_valid(const Ramp&);

/// The largest number of chunks on a GPU. Every chunk costs the host some microseconds in every run, so a job gains
/// nothing from more. Planning takes longer with more chunks: every op of every candidate is simulated about twenty
/// times.
inline constexpr std::uint32_t most_chunks = 1u << 14;

/// Cuts all items into `chunks` consecutive ranges. Without a ramp they differ by at most one block of the kernel, or
/// by one item where there are fewer blocks than chunks, and the last one takes the rest. With a ramp each range is
/// within one block of its relative size. Throws UsageError when `chunks` is 0, larger than `most_chunks` or than the
/// number of items, or the ramp is not valid.
std::vector<ItemRange> cut_into_chunks(const Job&, std::uint32_t chunks, const Ramp& = {});

/// A contiguous part of an array.
struct ByteRange {
  Bytes offset;  ///< offset of the first byte in the array
  Bytes length;  ///< number of bytes
};
/// The part of the array that a range of items owns. It has whole elements. Between the parts of two consecutive ranges
/// there is no gap and no overlap.
ByteRange owned_bytes(const Job&, const Array&, ItemRange);

/// The part of an array that a chunk needs.
struct ChunkReach {
  ByteRange reach;       ///< the bytes that the kernel of the chunk is handed
  ByteRange fresh;       ///< the bytes of the reach that the chunk before does not need; all of the reach for an output
  ByteRange returned{};  ///< the bytes of an output that are copied back
};
/// The reaches of consecutive chunks. Throws UsageError that names the array and the chunk when a reach is out of
/// bounds or not monotone, or when two chunks write the same bytes.
std::vector<ChunkReach> chunk_reaches(const Job&, const Array&, std::span<const ItemRange> chunks);
/// The bytes of the array that the kernel is handed for these items; all bytes of an array that stays on the GPU.
ByteRange reach_of(const Job&, const Array&, ItemRange);

/// Data per item in the range, relative to the average of the job: for example the nonzeros per row of a sparse matrix.
/// Counted are inputs that are cut, except arrays whose mapping gives neighbouring chunks common elements.
double density(const Job&, ItemRange);
/// The number of average items that have as much data as these items, at least 1. KernelCost is read at this number.
std::uint64_t average_items(const Job&, ItemRange);

/// Whether an array of the job is blocks of a pool.
bool has_blocks(const Job&);
/// The start in the pool of the block at position `k` of an array of blocks. Throws UsageError that names the array,
/// the position and the index when the block is outside of the pool.
Bytes start_of_block(const Array&, std::uint64_t k);
/// The job with a contiguous array of the same size for each array that is blocks of a pool. These have no data.
Job with_contiguous_arrays(Job);

/// Throws UsageError that names the array when a prefix is not valid (see Array::prefix_of).
void require_valid_prefixes(const Job&);
/// Throws UsageError for an invalid job, in the terms of DescribedJob: no items, a kernel time or another number that
/// is out of range, two arrays with the same name, an array of which the items do not own equally many elements, no
/// array that is written, or an invalid prefix.
void require_valid(const Job&);
/// Sets the memory kind of every prefix to that of its whole array.
void share_memory_of_prefixes(Job&);

/// Whether strategies may let the kernel access host memory. That is so when the job says that the kernel touches each
/// byte about once, or when its times with zero-copy were measured and the job does not say the opposite.
bool offers_zero_copy(const Job&);

/// The kind of memory of the first array on the host that is cut into chunks; pinned when there is none.
MemoryKind memory_of(const Job&);

/// Whether the reach of an array is given by a function. Such a reach may differ between two jobs of the same shape, so
/// the schedule is built anew for the job that runs.
bool has_reach_by_function(const Job&);

/// Size of all arrays that are copied to the GPU in chunks (in, inout).
Bytes bytes_in(const Job&);
/// Size of all arrays that are copied back in chunks (out, inout).
Bytes bytes_out(const Job&);

}  // namespace shiplap
