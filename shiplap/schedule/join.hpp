// Schedules of several jobs as one, over buffers that they share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Where a buffer of a part is in the whole.
struct JoinedBuffer {
  BufferId buffer;  ///< the buffer of the whole
  Bytes offset{};   ///< offset in it of the first byte of the part's buffer
};

/// Appends schedules to one, each in the order of its effects. An op that accesses bytes which an op of an earlier part
/// accesses, one of the two for writing, gets a dependency on it unless other dependencies or a stream order the two.
class JoinedSchedule {
 public:
  /// Begins with these buffers and kernels, which parts refer to. The first agent submits what no part has an agent
  /// for.
  JoinedSchedule(std::vector<Buffer> buffers, std::vector<std::string> kernels);

  /// Adds the ops of a part. Its kernel k is kernel `first_kernel` + k of the whole. Streams are shared by their places
  /// in the tables, agents by their names. The part must be sound, and must allocate no memory. Throws Unsupported for
  /// a graph, and for ops on blocks or managed memory.
  void append(const Schedule& part, std::span<const JoinedBuffer> buffers, std::uint32_t first_kernel);
  /// Adds a part of the host. Ops of later parts that it does not concern are submitted before it, so that they run
  /// meanwhile.
  void append_host(Kernel);
  /// The whole. Nothing may be appended afterwards.
  Schedule finish();

 private:
  void add(Op);
  void add_waiting(const Op& next);

  Schedule whole_;
  std::vector<Op> waiting_;  // parts of the host that are not added yet
  std::uint32_t parts_ = 0;
};

}  // namespace shiplap
