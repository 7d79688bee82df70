// The GPUs of one device: gpu i of a schedule is the i-th of them.
#pragma once

#include <memory>
#include <vector>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Turns direct access between GPUs on and off, and off in the end if it was turned on here.
class PeerAccess {
 public:
  PeerAccess(const Api&, std::vector<int> gpus);
  ~PeerAccess();
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;

  /// Whether each of the GPUs can address the memory of every other one.
  bool possible() const { return possible_; }
  /// Does nothing where it is so already, or not possible. Throws Error when a call fails.
  void set(bool on);

 private:
  void for_each_pair(auto visit) const;

  const Api& api_;
  std::vector<int> gpus_;
  bool possible_ = false;
  bool on_ = false;
};

struct GpuSet {
  std::vector<int> gpus;  ///< by the runtime's numbers
  std::shared_ptr<PeerAccess> peers;

  /// The runtime's number of the GPU at `place`. Throws Unsupported when there is none.
  int at(Place) const;
};

}  // namespace shiplap
