// One event of a trace in the Chrome trace format, with the keys that the PyTorch profiler (Kineto) writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shiplap {

/// What is read of an event. A key that is absent is empty. Texts are `printable`.
struct TraceEvent {
  using Count = std::optional<std::int64_t>;  ///< a whole number

  std::string phase;     ///< "ph": "X" is an event with a duration, "M" is metadata
  std::string category;  ///< "cat", such as "kernel"
  std::string name;      ///< "name"
  std::string process;   ///< "pid", which is a text in some events
  std::string thread;    ///< "tid", which is a text in some events
  Count id;              ///< "id", which is that of a GPU in deviceProperties
  Count start;           ///< "ts" in nanoseconds
  Count duration;        ///< "dur" in nanoseconds
  Count gpu_memory;      ///< "totalGlobalMem" in bytes, which only a GPU in deviceProperties has

  // Members of "args".
  std::string label;          ///< "name" of metadata
  Count device;               ///< "device": number of the GPU
  Count stream;               ///< "stream"
  Count correlation;          ///< "correlation": number of the call
  Count bytes;                ///< "bytes" of a copy or fill
  Count awaited_stream;       ///< "wait_on_stream"
  Count awaited_record;       ///< "wait_on_cuda_event_record_corr_id": number of the call that recorded the event
  Count awaited_event;        ///< "wait_on_cuda_event_id"
  std::uint64_t blocks = 1;   ///< product of "grid"
  std::uint64_t threads = 1;  ///< product of "block"
};

/// Reads an event from the text of an object; nullopt when the text is no JSON. Bytes that are no UTF-8 and control
/// characters in texts become '?' or a space.
std::optional<TraceEvent> trace_event(std::string_view text);

/// A decimal number of microseconds without an exponent as nanoseconds, rounded to 1 ns; nullopt for another text and
/// for more than 146 years. A double of microseconds since 1970 resolves 250 ns only, so none is used.
std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds);

}  // namespace shiplap
