// The SMs of one GPU: thread blocks run in waves, and kernels share the SMs where resident blocks leave space.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "shiplap/sim/resource.hpp"

namespace shiplap::sim {

class KernelOrder;
class Link;

/// Seconds that an op which moves blocks takes longer while other kernels fill the GPU.
struct AddedBesideKernels {
  double compute = 0;  ///< concurrent with kernels that only compute
  double memory = 0;   ///< concurrent with kernels that are bound by the device memory
  double wait = 0;     ///< until it has SMs, in times of a thread block of those kernels
};
/// Added time of kernels while blocks move beside them, as a fraction.
struct KernelSlowdown {
  double compute = 0;  ///< added to kernels that only compute
  double memory = 0;   ///< added to kernels that are bound by the device memory
};

/// Blocks start in the order in which their kernels arrived. A later kernel gets the space that earlier kernels leave.
/// All blocks of a kernel take the same time. One block occupies 1 / max_resident_blocks of the GPU's space and demands
/// 1 / full_rate_blocks of its rate. When the running blocks demand more than the whole rate, all of them slow down by
/// the same factor (processor sharing).
class Compute final : public Resource {
 public:
  Compute(bool concurrent, KernelOrder& kernels) : concurrent_(concurrent), kernels_(kernels) {}

  struct Kernel {
    OpIndex op = 0;
    double work = 0;  ///< seconds with the GPU to itself
    std::uint64_t blocks = 1;
    std::uint64_t full_rate_blocks = 1;     ///< blocks that use the whole rate of the GPU
    std::uint64_t max_resident_blocks = 1;  ///< blocks that fit on the GPU at the same time
    double memory_bound = 1;                ///< from 0 (the kernel only computes) to 1
    double thread_block = 0;                ///< seconds of a thread block; 0 when its thread blocks leave SMs free
  };
  /// A kernel that is submitted in many launches. Blocks of other kernels run between its launches, so that it demands
  /// the same fraction of the GPU's rate all the time and occupies almost no space.
  static Kernel many_launches(Kernel);

  void arrive(const Kernel&);
  /// Starts as many blocks as fit, and tells `KernelOrder` when the first and the last blocks of a kernel have started.
  void start_next(double now);

  /// What moves blocks concurrent with the kernels.
  enum class By : std::uint8_t { mover_kernel, copies_to_device, copies_to_host };
  /// Sets how much longer kernels take from now on because of one mover.
  void set_slowdown(By, const KernelSlowdown&, double now);

  /// From now on `Link::update_progress` is called when the kernels beside ops on the link change.
  void affects(Link& link) { link_ = &link; }
  bool is_busy() const { return !running_cohorts_.empty(); }
  /// How much longer such an op takes concurrent with the kernels that run now, once it has SMs.
  double added(const AddedBesideKernels& op) const {
    return beside_.rate * (op.compute + (op.memory - op.compute) * beside_.memory_bound);
  }
  /// How long such an op waits for SMs, unless the kernels that run now end before.
  double wait_for_sms(const AddedBesideKernels& op) const { return beside_.thread_block * op.wait; }

  OpIndex advance() override;
  void after_event(double now) override { start_next(now); }

 private:
  /// A kernel that has arrived and not ended.
  struct Running {
    OpIndex op = 0;
    std::uint64_t remaining = 0;  ///< blocks that have not started
    std::uint64_t full_rate_blocks = 1;
    std::uint64_t max_resident_blocks = 1;
    double wave_time = 0;       ///< seconds of a wave at full speed
    double memory_bound = 1;    ///< from 0 (the kernel only computes) to 1
    double thread_block = 0;    ///< seconds of a thread block; 0 when its thread blocks leave SMs free
    std::uint32_t cohorts = 0;  ///< cohorts that have not ended
    bool started = false;
  };
  /// Blocks of one kernel that start together and end together.
  struct Cohort {
    double end = 0;  // in full-speed seconds since the beginning, as `full_speed_time_`
    std::uint32_t slot = 0;
    double space = 0;  // fraction of the GPU's space
    double rate = 0;   // fraction of the GPU's rate
    friend bool operator>(const Cohort& a, const Cohort& b) { return a.end != b.end ? a.end > b.end : a.slot > b.slot; }
  };
  /// The kernels beside ops on the link.
  struct Beside {
    double rate = 0;          ///< demanded fraction of the GPU's rate, at most 1
    double memory_bound = 1;  ///< as in Kernel, of the kernel that started last
    double thread_block = 0;  ///< as in Kernel, of the kernel that started last
    friend bool operator==(const Beside&, const Beside&) = default;
  };
  void update_beside(double now);
  void advance_clock(double now);
  void find_next_event();
  /// Speed of the running blocks, from 0 to 1. At 1 the GPU can serve the whole demand and no mover runs. A mover slows
  /// all kernels down like the one that started last.
  double speed() const {
    double slowdown = 0;
    for (const KernelSlowdown& by : slowdowns_) slowdown += by.compute + (by.memory - by.compute) * memory_bound_;
    return (demanded_rate_ > 1 ? 1 / demanded_rate_ : 1) / (1 + slowdown);
  }

  bool concurrent_;
  KernelOrder& kernels_;
  double free_space_ = 1.0;                    // fraction of the GPU's space
  double demanded_rate_ = 0.0;                 // by all running blocks, as a fraction of the GPU's rate; may exceed 1
  std::array<KernelSlowdown, 3> slowdowns_{};  // by `By`
  double memory_bound_ = 1;                    // Kernel::memory_bound of the kernel that started last
  double thread_block_ = 0;                    // Kernel::thread_block of the kernel that started last
  Link* link_ = nullptr;                       // null when no op on the link depends on kernels concurrent with it
  Beside beside_;
  double full_speed_time_ = 0;             // the integral of `speed()` over time until `updated_`, in seconds
  double updated_ = 0;                     // time of the last call of `advance_clock`
  std::vector<Cohort> running_cohorts_;    // a heap with the first to end on top
  std::vector<Running> running_;           // by slot
  std::vector<std::uint32_t> idle_slots_;  // slots of `running_` without a kernel
  std::deque<std::uint32_t> waiting_;      // slots of kernels with blocks left, in order of arrival
};

}  // namespace shiplap::sim
