// The GPUs of one device. GPU i of a schedule is the i-th of them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Switches peer access between GPUs on and off. The destructor restores the original state.
class PeerAccess {
 public:
  PeerAccess(const Api&, std::vector<int> gpus);
  ~PeerAccess();
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;

  /// Whether each GPU can address the memory of every other one.
  bool possible() const { return possible_; }
  /// Switches peer access for all pairs where it is possible. Throws Error when a call fails; pairs that were switched
  /// before stay switched.
  void set(bool on);

 private:
  struct Pair {
    int from = 0;
    int to = 0;
    std::optional<bool> before{};  ///< original state; unknown until the first switch
    std::optional<bool> now{};
  };
  void set(Pair&, bool on);

  const Api& api_;
  std::vector<Pair> pairs_;
  bool possible_ = false;
};

struct GpuSet {
  std::vector<int> gpus;  ///< device numbers
  std::shared_ptr<PeerAccess> peers;
  std::shared_ptr<Gates> gates;

  /// The device number of the GPU at `place`. Throws Unsupported when there is none.
  int at(Place) const;
};

}  // namespace shiplap
