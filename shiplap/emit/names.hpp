// Names of the buffers, streams and slots of a schedule in an emitted program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/emit/structure.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// The name with characters replaced that an identifier cannot contain. It may begin with a digit, or be empty.
std::string identifier(const std::string& name);

/// A stream, or several streams with the same role that become an array.
struct StreamGroup {
  std::string name;  ///< name of the variable: "in_stream", "streams"
  std::uint32_t count = 0;
  bool urgent = false;  ///< Stream::urgent
};

struct Names {
  Names(const Job&, const Schedule&, const Structure&);

  std::vector<std::string> buffer;                ///< name of each buffer: "host_x", "gpu_x"
  std::vector<std::optional<std::size_t>> array;  ///< array whose data each buffer holds
  std::vector<StreamGroup> groups;                ///< groups in the order of their first streams
  std::vector<std::size_t> group;                 ///< group of each stream
  std::vector<std::uint32_t> number;              ///< index of each stream in its group
  std::vector<std::string> slot;                  ///< "x_in", "kernel": base of the names of events and flags
  std::vector<std::string> lane;                  ///< name of the lane's function

  /// Name without its prefix: "x" for an array "host_x".
  std::string bare(std::size_t array_buffer) const { return buffer[array_buffer].substr(5); }
  /// Expression of a stream: "in_stream", "streams[2]".
  std::string stream(StreamId) const;
};

}  // namespace shiplap
