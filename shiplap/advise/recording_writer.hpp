// The file that keeps a recording, written while it grows. It needs nothing else of the library, because the recorder
// is loaded into the programs of others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "shiplap/advise/recording.hpp"
#include "shiplap/core/formats.hpp"

namespace shiplap {

/// Writes a recording while it grows, one JSON value on each line. Names are written once and then referred to. It
/// keeps within what read_recording reads: long names are cut, and a record for which there is no more room is lost,
/// with all that follow.
class RecordingWriter {
 public:
  /// Receives one line, without a newline.
  using Sink = std::function<void(std::string_view)>;

  /// Writes the first line: schema, version, program and GPU.
  RecordingWriter(std::string program, std::string gpu, Sink, std::uint64_t most_bytes = limits::log_bytes);
  /// Writes a record, after a line for a name that occurs for the first time.
  void write(const Record&);
  /// Writes the last line, which says how many records there are and how often some were lost.
  void close(std::uint64_t lost = 0);

 private:
  std::uint64_t number_of(const std::string& name);
  void put(const std::string& line);
  bool has_room_for(const std::string& name) const;

  Sink sink_;
  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;           ///< bytes of the lines so far
  std::uint64_t bytes_of_names_ = 0;  ///< bytes of the names of all records so far
  bool is_full_ = false;
  std::unordered_map<std::string, std::uint64_t> names_;
  std::uint64_t records_ = 0;
};

}  // namespace shiplap
