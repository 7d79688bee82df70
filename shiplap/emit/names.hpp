// What the buffers, streams and slots of a schedule are called in a program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/emit/structure.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// A name with what may not stand in an identifier replaced.
std::string identifier(const std::string& name);

/// Streams that share their work are an array.
struct StreamGroup {
  std::string name;  ///< "in_stream", "streams"
  std::uint32_t count = 0;
};

struct Names {
  Names(const Job&, const Schedule&, const Structure&);

  std::vector<std::string> buffer;                ///< "host_x", "gpu_x"
  std::vector<std::optional<std::size_t>> array;  ///< by buffer: whose data it holds
  std::vector<StreamGroup> groups;                ///< in the order of their first streams
  std::vector<std::size_t> group;                 ///< by stream
  std::vector<std::uint32_t> number;              ///< by stream: which one of its group
  std::vector<std::string> slot;                  ///< "x_in", "kernel": what events and flags are called after
  std::vector<std::string> lane;                  ///< of the function that does what the lane does

  /// "x" of an array "host_x"
  std::string bare(std::size_t array_buffer) const { return buffer[array_buffer].substr(5); }
  /// "in_stream", "streams[2]"
  std::string stream(StreamId) const;
};

}  // namespace shiplap
