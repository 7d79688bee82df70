// Strategies: ways to take a job through its kernel. Each turns (job, choice) into a schedule, beside its closed form.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// How chunks are spread over in-order queues.
enum class Layout : std::uint8_t {
  per_chunk,  ///< a queue for each chunk (the papers' streams)
  few,        ///< `queues` queues, chunks dealt out in turn
  three,      ///< one queue each for in, compute and out, tied by events
  /// Older GPUs, emulated: the device categories 2 and 1 of van Werkhoven et al. 2014, section IV.
  one_engine,     ///< copies of both directions share a queue, in the order in which they are submitted
  implicit_sync,  ///< so they do, and results are held until the last kernel submitted before them has ended
};

/// Whether it stands for an older GPU: to be submitted breadth-first.
constexpr bool is_emulated(Layout layout) { return layout == Layout::one_engine || layout == Layout::implicit_sync; }

/// Depth: chunk by chunk. Breadth: all copies in, all kernels, all copies out (in batches of the ring's size).
enum class IssueOrder : std::uint8_t { depth, breadth };

/// Everything that is chosen about a run of a job.
struct Choice {
  std::string strategy = "streams";      ///< the name of one of `strategies()`
  std::uint32_t chunks = 1;              ///< on each GPU
  Ramp ramp{};                           ///< sizes of the chunks relative to each other
  Layout layout = Layout::three;         ///< how chunks are spread over queues
  std::uint32_t queues = 4;              ///< for Layout::few
  IssueOrder order = IssueOrder::depth;  ///< in which order ops are submitted
  /// Most blocks of a launch, for strategies whose kernels access host memory; 0: the kernel's own grid.
  std::uint64_t blocks = 0;
  std::uint32_t ring =
      0;  ///< device buffers per array, each holding one chunk; 0: `chunks`, fewer when memory is short
  /// Host threads that move or touch the data each way, for strategies of memory that is not page-locked; 0: none.
  std::uint32_t threads = 0;
  /// GPUs of the device that share the items, each through its own link and submitted to by a thread of its own.
  std::uint32_t gpus = 1;
  /// All ops in one call, as a graph that is made once and launched for every run: for page-locked memory.
  bool graph = false;
  /// The copies of a chunk in each direction in one call (cudaMemcpyBatchAsync): for page-locked arrays of which
  /// several are copied the same way. Not together with `graph`.
  bool batched = false;
  friend bool operator==(const Choice&, const Choice&) = default;
};
/// "streams, 32 chunks, three queues, depth-first"
std::string to_string(const Choice&);
/// "three queues", "4 queues": for people.
std::string to_string(Layout, std::uint32_t queues = 4);
/// As flags and files have it.
std::string_view name_of(Layout);
/// "per-chunk", "few" ("few:8"), "three", "one-engine", "implicit-sync". Throws UsageError.
void parse_layout(std::string_view text, Choice& into);
/// "depth", "breadth". Throws UsageError.
IssueOrder parse_order(std::string_view text);
/// "none", or "FIRST:LAST:GROWTH" as in `Ramp`. Throws UsageError.
Ramp parse_ramp(std::string_view text);
std::string to_string(const Ramp&);  ///< "0.25:1:1.03", "none"

/// What a strategy may use on the device.
struct Limits {
  Bytes device_memory;                 ///< budget for all device buffers
  std::uint64_t resident_threads = 0;  ///< threads that the GPU holds at once; 0: kernels fill it
};
/// From a profile's first GPU: four fifths of its memory.
Limits limits_of(const Profile&);

/// The memory that a strategy is for, of all arrays but resident ones.
enum class ArrayMemory : std::uint8_t { page_locked, pageable, managed };
/// Of the first array that is not resident.
ArrayMemory array_memory(const Job&);

/// One way to get the data through, as an entry of a table.
struct Strategy {
  std::string_view name;     ///< "streams": in choices, flags and files
  std::string_view summary;  ///< one line, for people
  bool chunked = false;      ///< whether chunks, ramp, layout and order mean something to it
  bool mapped = false;       ///< whether its kernels access host memory, so that their grid means something
  bool threaded = false;     ///< whether host threads take part, so that their number means something
  ArrayMemory memory = ArrayMemory::page_locked;  ///< of the arrays that it takes
  /// By how much, relative to the time, the simulator itself is off for about nine in ten of its pipelines, as found on
  /// an H200 with jobs drawn at random (docs/evaluation.md). Part of the range of a prediction.
  double model_error = 0;

  /// Buffers: the job's arrays in their order, then the device's. Queue and kernel tables as needed. The result is
  /// sound (`validate`) and every dependency in it is needed, except that the first copy of a batch waits for all that
  /// any copy of the batch waits for. Throws UsageError (chunks that cannot be), Unsupported (memory
  /// kinds the strategy refuses, with what to do), Error (device memory, with the numbers).
  Schedule (*schedule)(const Job&, const Choice&, const Limits&);
  /// The papers' closed form for it; nullopt where they have none for these parameters.
  std::optional<Seconds> (*predict)(const Job&, const Choice&, const Profile&);
};

/// All that there are.
std::span<const Strategy> strategies();
/// Throws UsageError that lists the names.
const Strategy& find_strategy(std::string_view name);

/// Every index of `schedule.buffers` that is one of the job's arrays is below this.
inline std::size_t array_buffers(const Job& job) { return job.arrays.size(); }

}  // namespace shiplap
