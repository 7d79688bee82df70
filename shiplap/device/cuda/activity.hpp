// What the GPU itself says it did and when: CUPTI's activity records, matched to the ops of a schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// Start and end of the work of one op, by the GPU's clock; only differences mean something.
struct ActivitySpan {
  bool seen = false;
  Seconds start{0};
  Seconds end{0};
};

/// Whether activity can be recorded here. CUPTI is loaded at run time; `why` says what is missing, or who else uses it
/// (a profiler, compute-sanitizer).
bool activity_available(std::string& why);

/// Records from its construction until `take`, of one thread's calls. CUPTI belongs to the process: one recording at a
/// time, a second one throws Unsupported.
class ActivityRecording {
 public:
  /// Throws Unsupported when `activity_available` says no, Error when CUPTI refuses.
  explicit ActivityRecording(std::size_t ops);
  ~ActivityRecording();
  ActivityRecording(const ActivityRecording&) = delete;
  ActivityRecording& operator=(const ActivityRecording&) = delete;

  /// Work submitted by this thread while one of these lives belongs to op `op`; none for no recording.
  class Op {
   public:
    Op(ActivityRecording*, std::uint32_t op) noexcept;
    ~Op();
    Op(const Op&) = delete;
    Op& operator=(const Op&) = delete;

   private:
    ActivityRecording* recording_;
  };

  /// Ends the recording, once the GPU is done. By op: from the start of its first work to the end of its last.
  std::vector<ActivitySpan> take();

 private:
  std::size_t ops_;
  bool recording_ = false;
  void stop() noexcept;
};

}  // namespace shiplap
