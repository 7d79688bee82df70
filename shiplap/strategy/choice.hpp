// The parameters of a run of a job that can be chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shiplap/schedule/blocks.hpp"
#include "shiplap/strategy/relay.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

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
  std::string strategy = "streams";      ///< the name of one of `strategies()` (strategy.hpp)
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

}  // namespace shiplap
