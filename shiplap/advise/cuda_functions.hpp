// Functions of CUDA by their names: which are worth recording, and what a call of them means.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shiplap {

/// What the recorder reads from the parameters of a call.
enum class Reads : std::uint8_t {
  nothing,
  copy,            ///< (to, from, size, …): a copy, whose kinds of memory CUPTI reports
  copy_from_host,  ///< (to, from, size, …): from is host memory
  event_record,    ///< (event, stream)
  stream_wait,     ///< (stream, event)
  event_wait,      ///< (event)
  host_wait,       ///< (stream)
  device_wait,     ///< nothing; the host waits for the whole GPU
};

/// How the function with this name in CUPTI's tables, such as "cudaMemcpyAsync_v3020" or "cuMemcpyHtoDAsync_v2", is
/// recorded. nullopt: it is not, because it neither moves bytes, launches, orders or waits, nor allocates, frees or
/// pins.
std::optional<Reads> watched(std::string_view name_in_cupti);

/// The name as programs write it, without the suffixes of versions.
std::string_view name_in_programs(std::string_view name_in_cupti);

/// Whether a null stream is the default stream of the calling thread in this variant of a function.
bool has_stream_per_thread(std::string_view name_in_cupti);

/// Whether the host does not wait for the end of what this function submits, as long as host memory is pinned.
bool is_asynchronous(std::string_view name);

/// Whether the function asks whether a stream or an event has finished, and does not wait for it.
bool is_query(std::string_view name);

/// Whether the function allocates, frees, pins or unpins memory.
bool manages_memory(std::string_view name);

/// Whether a function that manages memory frees or unpins it.
bool frees_memory(std::string_view name);

/// Whether the function frees memory when all work of the GPU has ended, and the host waits for that.
bool waits_for_all_work(std::string_view name);

}  // namespace shiplap
