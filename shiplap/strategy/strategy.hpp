// Strategies: ways to get the data of a job to its kernel and back. A strategy makes a schedule from a job and a
// choice, and predicts its time by the closed form of a paper where one exists.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shiplap/core/units.hpp"
#include "shiplap/schedule/blocks.hpp"
#include "shiplap/strategy/limits.hpp"
#include "shiplap/strategy/relay.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

struct Profile;
struct Schedule;

/// The distribution of chunks over streams.
enum class Layout : std::uint8_t {
  per_chunk,  ///< a stream for each chunk (the papers' streams)
  few,        ///< `streams` streams; chunk c uses stream c mod `streams`
  three,      ///< three streams: for copies in, for kernels and for copies out
  /// Emulates GPUs with one copy engine (device category 2 of van Werkhoven et al. 2014, section IV): copies of both
  /// directions share a stream.
  one_engine,
  /// Emulates GPUs with one copy engine and implicit synchronisation (device category 1): copies of both directions
  /// share a stream, and a copy out waits until the last kernel submitted before it has ended.
  implicit_sync,
};

/// Whether the layout emulates an older GPU. The papers submit breadth-first to such GPUs.
constexpr bool is_emulated(Layout layout) { return layout == Layout::one_engine || layout == Layout::implicit_sync; }

/// The order in which ops are submitted. `depth`: chunk by chunk. `breadth`: the copies in of as many chunks as the
/// ring holds, then their kernels, then their copies out.
enum class IssueOrder : std::uint8_t { depth, breadth };

/// The parameters of a run of a job that can be chosen.
struct Choice {
  std::string strategy = "streams";      ///< the name of one of `strategies()`
  std::uint32_t chunks = 1;              ///< number of chunks on each GPU
  Ramp ramp{};                           ///< sizes of the chunks relative to each other
  Layout layout = Layout::three;         ///< distribution of chunks over streams
  std::uint32_t streams = 4;             ///< number of streams with Layout::few
  IssueOrder order = IssueOrder::depth;  ///< order in which ops are submitted
  /// Largest number of thread blocks of a launch, for strategies whose kernels access host memory. 0: the kernel's own
  /// grid.
  std::uint64_t max_grid = 0;
  /// Number of slots of each array's ring on the GPU. A slot holds one chunk. 0: one slot for each chunk, or as many as
  /// fit.
  std::uint32_t ring = 0;
  /// Number of host threads that copy or touch the data in each direction, for strategies with `threaded`.
  std::uint32_t threads = 0;
  /// Number of GPUs that share the items. Each has its own link and a host thread that submits to it.
  std::uint32_t gpus = 1;
  /// Whether all ops are submitted in one call, as a graph that is made once and launched for every run. It requires
  /// pinned memory.
  bool graph = false;
  /// Whether the copies of a chunk in one direction are submitted in one call (cudaMemcpyBatchAsync). It requires
  /// several pinned arrays in one direction and excludes `graph`.
  bool batched = false;
  /// What moves arrays that are blocks of a pool to the GPU. nullopt: one copy for each block.
  std::optional<Mover> mover_h2d{};
  /// What moves arrays that are blocks of a pool back. nullopt: one copy for each block.
  std::optional<Mover> mover_d2h{};
  /// The links of other GPUs that copies of pinned memory also go over. It excludes `graph` and `batched`.
  Relay relay{};
  friend bool operator==(const Choice&, const Choice&) = default;
};
/// The choice as a text, such as "streams, 32 chunks, three streams, depth-first".
std::string to_string(const Choice&);
/// The layout as a text, such as "three streams" or "4 streams".
std::string to_string(Layout, std::uint32_t streams = 4);
/// The name of the layout in parameters and files, such as "few".
std::string_view name_of(Layout);
/// Reads "per-chunk", "few", "few:8" (8 streams), "three", "one-engine" or "implicit-sync" into `into`. Throws
/// UsageError.
void parse_layout(std::string_view text, Choice& into);
/// Reads "depth" or "breadth". Throws UsageError.
IssueOrder parse_order(std::string_view text);
/// Reads "none" or "FIRST:LAST:GROWTH" (see `Ramp`). Throws UsageError.
Ramp parse_ramp(std::string_view text);
/// The ramp as `parse_ramp` reads it, such as "0.25:1:1.03" or "none".
std::string to_string(const Ramp&);

/// The kind of memory of the arrays that a strategy is for. Arrays that stay on the GPU and scratch are excepted.
enum class ArrayMemory : std::uint8_t { pinned, pageable, managed };
/// The kind of memory of the job's arrays, by the first array that neither stays on the GPU nor is scratch. It is
/// pinned without such an array.
ArrayMemory array_memory(const Job&);

/// The time of a choice by the closed form of a paper.
struct ClosedForm {
  Seconds time{0};  ///< by the equation, with the copies of arrays that stay on the GPU
  /// The assumption of the form that does not hold for the job on this GPU, as a clause such as "no array is copied
  /// once"; several are separated by semicolons. It is "" when the form covers the job. A time with an assumption can
  /// be below the lower bound (see bound.hpp), so it is shown with the assumption, and ranked only
  /// where nothing can be simulated and it is not below the bound.
  std::string assumption{};
};

/// An entry in the table of strategies.
struct Strategy {
  std::string_view name;     ///< name in choices, parameters and files, such as "streams"
  std::string_view summary;  ///< one line for the help
  bool chunked = false;      ///< whether it uses Choice::chunks, ramp, layout and order
  bool zero_copy = false;    ///< whether its kernels access host memory, so that it uses Choice::max_grid
  bool threaded = false;     ///< whether host threads copy or touch data, so that it uses Choice::threads
  ArrayMemory memory = ArrayMemory::pinned;  ///< kind of memory of the arrays that it is for
  /// Relative error of the simulated time below which about nine of ten pipelines of the strategy stay. It is part of
  /// the prediction interval. See model_error.hpp.
  double model_error = 0;
  /// Largest relative error of the closed form that a paper observed on its GPUs. It is the prediction interval of
  /// candidates that the form ranks. nullopt: no paper has the strategy, so its form ranks none. See model_error.hpp.
  std::optional<double> form_error{};

  /// The schedule of a job. Its buffers are the job's arrays in their order and then those on the GPUs. It is sound
  /// (`validate`), and every dependency in it is needed, with two exceptions. The first copy of a batch has the
  /// dependencies of all its copies. When kernels access other arrays in host memory, a slot of a ring is reused as a
  /// whole (see DeviceRing::Alignment). Throws UsageError for an invalid choice, Unsupported for a kind of memory that
  /// the strategy is not for, and Error when the device memory does not suffice.
  Schedule (*schedule)(const Job&, const Choice&, const Limits&);
  /// The time by the closed form of a paper; nullopt when no paper has a form for these parameters.
  std::optional<ClosedForm> (*closed_form)(const Job&, const Choice&, const Profile&);
};

/// All strategies.
std::span<const Strategy> strategies();
/// The strategy with this name. Throws UsageError that lists the names.
const Strategy& find_strategy(std::string_view name);

}  // namespace shiplap
