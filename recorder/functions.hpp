// Which functions of CUDA are watched, and what a call of them means.
#pragma once

#include <optional>
#include <string_view>

namespace shiplap::recorder {

/// What is read from the parameters of a call.
enum class Reads {
  nothing,
  copy,            ///< (to, from, size, …): a copy, whose kinds of memory CUPTI reports
  copy_from_host,  ///< (to, from, size, …): from is host memory
  event_record,    ///< (event, stream)
  stream_wait,     ///< (stream, event)
  event_wait,      ///< (event)
  host_wait,       ///< (stream)
  device_wait,     ///< nothing; the host waits for the whole GPU
};

/// How the functions with this name in CUPTI's tables, such as "cudaMemcpyAsync_v3020" or "cuMemcpyHtoDAsync_v2", are
/// watched; nullopt when they are not.
std::optional<Reads> watched(std::string_view name_in_cupti);

/// The name as programs write it, without the suffixes of versions.
std::string_view name_in_programs(std::string_view name_in_cupti);

/// Whether a null stream is the default stream of the calling thread in this variant of a function.
bool has_stream_per_thread(std::string_view name_in_cupti);

}  // namespace shiplap::recorder
