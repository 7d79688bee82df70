// Contiguous copies of arrays that are blocks of a pool, on which kernels are timed and examined.
#pragma once

#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// A job in which a contiguous array in pinned memory stands for each array that is blocks of a pool. It has the
/// content of the blocks when the object was made. The pool is not changed.
class ContiguousJob {
 public:
  /// Copies the blocks. Throws UsageError that names the array, the position and the index when an index is outside of
  /// the pool, and Error when there is no memory for the copies.
  ContiguousJob(Device&, const Job&);

  /// The job. It is valid as long as this object lives.
  const Job& job() const { return job_; }

 private:
  std::vector<Memory> copies_;
  Job job_;
};

}  // namespace shiplap
