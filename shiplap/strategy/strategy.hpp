// Strategies: ways to take the data of a job through its kernel. A strategy turns a job and a choice into a schedule.
// Its closed form from the papers stands beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shiplap/core/units.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/limits.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// How chunks are distributed over in-order streams.
enum class Layout : std::uint8_t {
  per_chunk,  ///< a stream for each chunk (the papers' streams)
  few,        ///< `streams` streams, which take the chunks in turn
  three,      ///< one stream each for copies in, kernels and copies out, with events between them
  /// Emulates GPUs with one copy engine (device category 2 of van Werkhoven et al. 2014, section IV): copies of both
  /// directions share a stream.
  one_engine,
  /// Emulates GPUs with one copy engine and implicit synchronisation (device category 1): copies of both directions
  /// share a stream, and a copy out waits until the last kernel submitted before it has ended.
  implicit_sync,
};

/// Whether the layout emulates an older GPU. The papers submit to these breadth-first.
constexpr bool is_emulated(Layout layout) { return layout == Layout::one_engine || layout == Layout::implicit_sync; }

/// The order in which ops are submitted. `depth`: chunk by chunk. `breadth`: the copies in of as many chunks as the
/// ring holds, then their kernels, then their copies out.
enum class IssueOrder : std::uint8_t { depth, breadth };

/// Everything that is chosen for a run of a job.
struct Choice {
  std::string strategy = "streams";      ///< the name of one of `strategies()`
  std::uint32_t chunks = 1;              ///< number of chunks on each GPU
  Ramp ramp{};                           ///< sizes of the chunks relative to each other
  Layout layout = Layout::three;         ///< how chunks are spread over streams
  std::uint32_t streams = 4;             ///< for Layout::few
  IssueOrder order = IssueOrder::depth;  ///< in which order ops are submitted
  /// Most blocks of a launch, for strategies whose kernels access host memory. 0: the kernel's own grid.
  std::uint64_t blocks = 0;
  /// Slots of the ring on the GPU that each array has, of one chunk each. 0: one for every chunk, or as many as fit.
  std::uint32_t ring = 0;
  /// Host threads that copy or touch the data in each direction, for strategies of memory that is not pinned. 0: none.
  std::uint32_t threads = 0;
  /// Number of GPUs between which the items are split. Each has its own link and a host thread that submits to it.
  std::uint32_t gpus = 1;
  /// Whether all ops are submitted in one call, as a graph that is made once and launched for every run. For pinned
  /// memory.
  bool graph = false;
  /// Whether the copies of a chunk in one direction are submitted in one call (cudaMemcpyBatchAsync). For jobs with
  /// several pinned arrays in one direction, and not together with `graph`.
  bool batched = false;
  friend bool operator==(const Choice&, const Choice&) = default;
};
/// "streams, 32 chunks, three streams, depth-first"
std::string to_string(const Choice&);
/// "three streams", "4 streams".
std::string to_string(Layout, std::uint32_t streams = 4);
/// The name of the layout in flags and files: "few".
std::string_view name_of(Layout);
/// "per-chunk", "few" ("few:8"), "three", "one-engine", "implicit-sync". Throws UsageError.
void parse_layout(std::string_view text, Choice& into);
/// "depth", "breadth". Throws UsageError.
IssueOrder parse_order(std::string_view text);
/// "none", or "FIRST:LAST:GROWTH" as in `Ramp`. Throws UsageError.
Ramp parse_ramp(std::string_view text);
std::string to_string(const Ramp&);  ///< "0.25:1:1.03", "none"

/// The kind of memory that a strategy is for. It concerns all arrays but those that stay on the GPU and scratch.
enum class ArrayMemory : std::uint8_t { pinned, pageable, managed };
/// The kind of memory of the job's first such array; pinned when it has none.
ArrayMemory array_memory(const Job&);

/// One way to get the data through, as an entry of a table.
struct Strategy {
  std::string_view name;                     ///< "streams", in choices, flags and files
  std::string_view summary;                  ///< one line for the help
  bool chunked = false;                      ///< whether it uses Choice::chunks, ramp, layout and order
  bool zero_copy = false;                    ///< whether its kernels access host memory, so that it uses Choice::blocks
  bool threaded = false;                     ///< whether host threads take part, so that it uses Choice::threads
  ArrayMemory memory = ArrayMemory::pinned;  ///< the memory of the arrays that it takes
  /// Relative error of the simulated time that about nine of ten pipelines of the strategy stay below. It is part of
  /// the interval of a prediction. See model_error.hpp.
  double model_error = 0;

  /// The schedule of a job. Its buffers are the job's arrays in their order and then those on the GPUs. It is sound
  /// (`validate`), and every dependency in it is needed, with two exceptions: the first copy of a batch waits for all
  /// that any copy of the batch waits for, and beside arrays in host memory a slot of a ring is reused as a whole (see
  /// DeviceRing::Alignment). Throws UsageError for a choice that no job can have, Unsupported for memory that the
  /// strategy does not take, and Error when the device memory does not suffice.
  Schedule (*schedule)(const Job&, const Choice&, const Limits&);
  /// The time by the papers' closed form; nullopt where they have none for these parameters.
  std::optional<Seconds> (*predict)(const Job&, const Choice&, const Profile&);
};

/// All strategies.
std::span<const Strategy> strategies();
/// The strategy of this name. Throws UsageError that lists the names.
const Strategy& find_strategy(std::string_view name);

/// The number of buffers of a schedule that are arrays of the job: they come first.
inline std::size_t array_buffers(const Job& job) { return job.arrays.size(); }

}  // namespace shiplap
