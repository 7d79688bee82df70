// What the links of several GPUs share: the host's memory, a socket or an uplink.
#pragma once

#include <cstddef>
#include <vector>

#include "shiplap/sim/fair_rates.hpp"
#include "shiplap/sim/sim_parameters.hpp"

namespace shiplap::sim {

class CopyEngine;
class ZeroCopyKernels;

/// It has no events of its own. Copies and zero-copy kernels over the links of all GPUs get max-min fair rates, of
/// which each link's own rates are the limits.
class SharedPaths {
 public:
  /// What moves bytes over the link of one GPU. The engines for copies to it and from it may be one.
  struct Movers {
    CopyEngine* h2d = nullptr;
    CopyEngine* d2h = nullptr;
    ZeroCopyKernels* kernels = nullptr;
  };
  SharedPaths(std::vector<SharedPath>, std::vector<Movers> by_gpu);

  /// Is called when a copy or kernel has started or ended, or when its own rate has changed.
  void rates_changed(double now);

 private:
  struct Transfer {
    CopyEngine* engine = nullptr;  // null: it is of the kernels of the GPU
    std::size_t gpu = 0;
    bool to_device = false;
    friend bool operator==(const Transfer&, const Transfer&) = default;
  };
  void add_transfers(std::size_t gpu, bool to_device, std::vector<Transfer>&, std::vector<double>& wanted) const;
  void update_progress(double now);
  void share();
  std::vector<Capacity> capacities() const;

  std::vector<SharedPath> paths_;
  std::vector<Movers> movers_;
  std::vector<Transfer> transfers_;  // that move data; a kernel may have one in each direction
  std::vector<double> wanted_;       // their own rates
};

}  // namespace shiplap::sim
