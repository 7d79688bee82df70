// Start and end times of ops as recorded by the GPU: CUPTI's activity records, matched to the ops of a schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Start and end of the work of one op by the GPU's clock, whose zero is arbitrary.
struct ActivitySpan {
  bool seen = false;
  Seconds start{0};
  Seconds end{0};
};

/// Whether activity can be recorded. CUPTI is loaded at run time. When it cannot, `why` says what is missing or which
/// other tool uses CUPTI (a profiler, compute-sanitizer).
bool activity_available(std::string& why);

/// Records the work that one thread submits, from construction until `take`. A process has one CUPTI, so a second
/// recording at the same time throws Unsupported.
class ActivityRecording {
 public:
  /// Throws Unsupported when `activity_available` says no, Error when CUPTI refuses.
  explicit ActivityRecording(std::size_t ops);
  ~ActivityRecording();
  ActivityRecording(const ActivityRecording&) = delete;
  ActivityRecording& operator=(const ActivityRecording&) = delete;

  /// Marks work that this thread submits during the lifetime of this object as work of op `op`. Without a recording
  /// (null) it does nothing.
  class Op {
   public:
    Op(ActivityRecording*, std::uint32_t op) noexcept;
    ~Op();
    Op(const Op&) = delete;
    Op& operator=(const Op&) = delete;

   private:
    ActivityRecording* recording_;
  };

  /// Ends the recording; the GPU must be idle. The result has for each op the start of its first and the end of its
  /// last piece of work.
  std::vector<ActivitySpan> take();

 private:
  std::size_t ops_;
  bool recording_ = false;
  void stop() noexcept;
};

}  // namespace shiplap
