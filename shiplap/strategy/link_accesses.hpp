// What the threads of a launch have under way over the link, as the job says of its kernel.
#pragma once

#include <cstdint>

#include "shiplap/core/units.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Of one launch over some items of a job, `at_once` blocks of which run at the same time. Each takes the shares of
/// several blocks, one after the other; the last accesses to a share may have little left. Shares of an array whose
/// pieces are not alike (Reach::elements) take as many accesses as some of them do on average.
class LinkAccesses {
 public:
  /// `cut`: bytes of the pieces that the launch is handed of arrays that are cut. A job that gives a block less than a
  /// byte of them for each thread has only counted items: then threads are taken to have all under way that they can.
  /// Refers to the job, which must outlive it.
  LinkAccesses(const Job&, ItemRange, std::uint64_t at_once, Bytes cut);

  /// Of a piece of an array in host memory that the kernel reads or writes there.
  Flow flow(const Array&, const Region& piece, AccessMode) const;
  /// Kernel::accesses_ahead, for reading so much of an array; 0 where threads do not read ahead.
  std::uint64_t ahead(const Array&, Bytes piece) const;

 private:
  double of_share(const Array&, Bytes piece, AccessMode) const;

  const Job& job_;
  ItemRange range_;
  std::uint64_t at_once_;
  std::uint64_t shares_;  // blocks that the launch would have if each took one
  bool known_;
};

}  // namespace shiplap
