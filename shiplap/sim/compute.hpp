// The SMs of one GPU: thread blocks in waves, and kernels that share the GPU where blocks leave room.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "shiplap/sim/resource.hpp"

namespace shiplap::sim {

class KernelOrder;

/// Blocks are dispatched in the order in which kernels arrived; a later kernel gets the room that the earlier ones
/// leave. All blocks of a kernel take the same time. A block takes 1 / room of the GPU's room, and 1 / full_rate of its
/// rate. Where the blocks that run ask for more than the whole rate, all become slower by the same factor (processor
/// sharing).
class Compute final : public Resource {
 public:
  Compute(bool concurrent, KernelOrder& kernels) : concurrent_(concurrent), kernels_(kernels) {}

  struct Kernel {
    OpIndex op = 0;
    double work = 0;  ///< seconds with the GPU to itself
    std::uint64_t blocks = 1;
    std::uint64_t full_rate = 1;  ///< blocks that take all of the GPU's rate
    std::uint64_t room = 1;       ///< blocks that fit at once
  };
  /// A kernel of many launches: its blocks make way for those of other kernels all the time, so that it takes the same
  /// part of the GPU's rate throughout, and no room.
  static Kernel fine_grained(Kernel);

  void arrive(const Kernel&);
  /// Dispatches as many blocks as fit, and tells the order of kernels whose first and whose last blocks started.
  void start_next(double now);

  OpIndex advance() override;
  void go_on(double now) override { start_next(now); }

 private:
  struct Running {
    OpIndex op = 0;
    std::uint64_t remaining = 0;
    std::uint64_t full_rate = 1;
    std::uint64_t room = 1;
    double wave_time = 0;
    std::uint32_t cohorts = 0;
    bool started = false;
  };
  /// Blocks that started together and end together.
  struct Cohort {
    double end = 0;  // in seconds of full speed since the beginning
    std::uint32_t slot = 0;
    double room = 0;  // shares of the GPU
    double rate = 0;
    friend bool operator>(const Cohort& a, const Cohort& b) { return a.end != b.end ? a.end > b.end : a.slot > b.slot; }
  };
  void pass(double now);
  void foresee();
  double speed() const { return asked_for_ > 1 ? 1 / asked_for_ : 1; }

  bool concurrent_;
  KernelOrder& kernels_;
  double free_ = 1.0;       // of the room
  double asked_for_ = 0.0;  // of the rate
  double passed_ = 0;       // seconds of full speed until `updated_`
  double updated_ = 0;
  std::vector<Cohort> running_cohorts_;  // a heap, the first to end on top
  std::vector<Running> running_;         // by slot
  std::vector<std::uint32_t> idle_slots_;
  std::deque<std::uint32_t> waiting_;  // slots of kernels with blocks left, in order of arrival
};

}  // namespace shiplap::sim
