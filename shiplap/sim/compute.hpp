// The multiprocessors of one GPU: thread blocks in waves, and kernels that share the GPU where blocks leave room.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace shiplap::sim {

/// Blocks are dispatched in the order in which kernels arrived; a later kernel gets what the earlier ones leave free.
/// All blocks of a kernel take equally long. Capacity is a share of the GPU: a block takes 1 / resident_blocks of it.
class Compute {
 public:
  explicit Compute(bool concurrent) : concurrent_(concurrent) {}

  struct Kernel {
    std::uint32_t op = 0;
    double work = 0;  ///< seconds with the GPU to itself
    std::uint64_t blocks = 1;
    std::uint64_t resident = 1;
  };
  /// Blocks that started together and end together.
  struct Cohort {
    double end = 0;
    std::uint32_t slot = 0;
    double share = 0;
  };
  struct Started {
    std::uint32_t op = 0;
    double time = 0;
  };

  void arrive(const Kernel&);
  /// Dispatches as many blocks as fit. Appends cohorts that end in the future to `cohorts`, kernels whose first blocks
  /// started to `first_started`, and kernels whose last blocks started to `all_started`.
  void dispatch(double now, std::vector<Cohort>& cohorts, std::vector<Started>& first_started,
                std::vector<Started>& all_started);
  /// A cohort has ended: frees its share. Returns the op when its kernel has ended with it, else ~0u.
  std::uint32_t retire(const Cohort&);

 private:
  struct Running {
    std::uint32_t op = 0;
    std::uint64_t remaining = 0;
    std::uint64_t resident = 1;
    double wave_time = 0;
    std::uint32_t cohorts = 0;
    bool started = false;
  };
  bool concurrent_;
  double free_ = 1.0;
  std::uint32_t in_flight_ = 0;
  std::vector<Running> running_;  // by slot
  std::vector<std::uint32_t> idle_slots_;
  std::deque<std::uint32_t> waiting_;  // slots of kernels with blocks left, in order of arrival
};

}  // namespace shiplap::sim
