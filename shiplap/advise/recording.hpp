// What a program did with a GPU, as it was recorded from outside.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/schedule/place.hpp"

namespace shiplap {

/// Start and end in nanoseconds since the recording began. Host and GPU have one clock.
struct Nanoseconds {
  std::uint64_t start = 0;  ///< start
  std::uint64_t end = 0;    ///< end, not before the start
  friend bool operator==(const Nanoseconds&, const Nanoseconds&) = default;
};

/// Time between two moments in nanoseconds; 0 when the second one is not later.
inline Seconds between(std::uint64_t from, std::uint64_t to) {
  return Seconds{to > from ? static_cast<double>(to - from) * 1e-9 : 0};
}

/// A call of the program into CUDA. What it has put into a stream refers to it by its number.
struct RecordedCall {
  std::uint64_t call = 0;    ///< number of the call, larger than 0
  std::uint32_t thread = 0;  ///< number of the host thread, by its first call
  Nanoseconds time;          ///< time of the host in the call
  std::string function;      ///< name of the function, such as "cudaMemcpyAsync"
  std::uint32_t error = 0;   ///< CUDA's number of the error that it returned; 0: none, or not recorded
  friend bool operator==(const RecordedCall&, const RecordedCall&) = default;
};

/// A copy that a GPU has done.
struct RecordedCopy {
  std::uint64_t call = 0;                  ///< the call that submitted it
  std::uint32_t stream = 0;                ///< number of the stream; 0: the default stream
  Nanoseconds time;                        ///< time of the copy on the GPU
  Bytes size;                              ///< bytes that moved
  MemoryKind from = MemoryKind::pageable;  ///< memory that was read
  MemoryKind to = MemoryKind::device;      ///< memory that was written
  std::uint64_t from_address = 0;          ///< address of the first byte that was read; 0: unknown
  std::uint64_t to_address = 0;            ///< address of the first byte that was written; 0: unknown
  /// Hash of samples of the bytes that were read from host memory; 0: unknown. Where it differs, the bytes have
  /// changed; where it is the same, they probably have not.
  std::uint64_t content = 0;
  std::uint32_t gpu = 0;  ///< number of the GPU
  friend bool operator==(const RecordedCopy&, const RecordedCopy&) = default;
};

/// A kernel that a GPU has done.
struct RecordedKernel {
  std::uint64_t call = 0;     ///< the call that submitted it
  std::uint32_t stream = 0;   ///< number of the stream; 0: the default stream
  Nanoseconds time;           ///< time of the kernel on the GPU
  std::string name;           ///< name of the function, as the program has it
  std::uint64_t blocks = 1;   ///< thread blocks of the grid
  std::uint32_t threads = 1;  ///< threads in a block
  std::uint32_t gpu = 0;      ///< number of the GPU
  friend bool operator==(const RecordedKernel&, const RecordedKernel&) = default;
};

/// A fill of device memory with a value (cudaMemset).
struct RecordedFill {
  std::uint64_t call = 0;    ///< the call that submitted it
  std::uint32_t stream = 0;  ///< number of the stream; 0: the default stream
  Nanoseconds time;          ///< time of the fill on the GPU
  Bytes size;                ///< bytes that were written
  std::uint32_t gpu = 0;     ///< number of the GPU
  friend bool operator==(const RecordedFill&, const RecordedFill&) = default;
};

/// An order that the program gave: between streams by an event, or between a stream and the host.
struct RecordedOrder {
  /// The kinds of orders.
  enum class Kind : std::uint8_t {
    record,       ///< the event is recorded in the stream
    stream_wait,  ///< the stream waits for the event
    event_wait,   ///< the host waits for the event
    host_wait,    ///< the host waits for the stream
    device_wait,  ///< the host waits for all streams of the GPU
  };
  std::uint64_t call = 0;    ///< the call
  Kind kind = Kind::record;  ///< what it orders
  std::uint32_t stream = 0;  ///< number of the stream, where there is one
  std::uint64_t event = 0;   ///< number of the event, where there is one
  /// Number of the GPU whose stream or streams these are. GPUs number their streams alike. unknown_gpu: a stream of
  /// this number of any GPU.
  std::uint32_t gpu = unknown_gpu;
  static constexpr std::uint32_t unknown_gpu = 0xffffffff;
  friend bool operator==(const RecordedOrder&, const RecordedOrder&) = default;
};

/// A range that the program has named with NVTX.
struct RecordedRange {
  std::uint32_t thread = 0;  ///< number of the host thread
  Nanoseconds time;          ///< from the begin to the end of the range
  std::string name;          ///< its name
  friend bool operator==(const RecordedRange&, const RecordedRange&) = default;
};

/// Pages of managed memory that the driver has moved because the host or a kernel has touched them.
struct RecordedMigration {
  Nanoseconds time;       ///< time of the move
  Bytes size;             ///< bytes that moved
  bool to_device = true;  ///< to the GPU, or to the host
  std::uint32_t gpu = 0;  ///< number of the GPU
  friend bool operator==(const RecordedMigration&, const RecordedMigration&) = default;
};

/// A time in which nothing was recorded, so that the recording of a long program stays small.
struct RecordedPause {
  Nanoseconds time;  ///< from the last record before to the first record after
  friend bool operator==(const RecordedPause&, const RecordedPause&) = default;
};

/// One record of any kind.
using Record = std::variant<RecordedCall, RecordedCopy, RecordedKernel, RecordedFill, RecordedOrder, RecordedRange,
                            RecordedMigration, RecordedPause>;

/// A copy, kernel or fill: what submitted it, and where and when a GPU did it.
struct RecordedWork {
  std::uint64_t call = 0;    ///< the call that submitted it
  std::uint32_t stream = 0;  ///< number of the stream; 0: the default stream
  std::uint32_t gpu = 0;     ///< number of the GPU
  Nanoseconds time;          ///< time on the GPU
};
/// The work of a record, or nullopt for a record of another kind.
std::optional<RecordedWork> work_of(const Record&);

/// A recording of one process. Contents of memory are never part of it.
struct Recording {
  std::string program;          ///< command line of the program
  std::string gpu;              ///< name of the first GPU
  std::vector<Record> records;  ///< in the order in which they were written, which is that of no clock
  /// Whether the file ends with the line that closes a recording; false when the program or the recorder broke off.
  bool complete = false;
  /// Number of times that records were lost, because the recorder got no memory for them, or because events of a trace
  /// could not be read.
  std::uint64_t lost = 0;
  /// Whether a trace lacks for which stream or event the host or a stream waited, so that this is a guess or unknown.
  /// No wait may then be called needless. A file of a recording has no such waits.
  bool has_inferred_waits = false;
};

/// Reads a recording. A file may be cut off: its last line may be incomplete. Throws Error that names the line and what
/// was expected for text that is no recording of this version, and for more bytes in a line, a file or the names of all
/// records than `limits` allows.
Recording read_recording(std::istream&, const std::string& source);

}  // namespace shiplap
