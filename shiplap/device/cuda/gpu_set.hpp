// The GPUs of one device: gpu i of a schedule is the i-th of them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Turns direct access between GPUs on and off, and leaves it in the end as it found it.
class PeerAccess {
 public:
  PeerAccess(const Api&, std::vector<int> gpus);
  ~PeerAccess();
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;

  /// Whether each of the GPUs can address the memory of every other one.
  bool possible() const { return possible_; }
  /// Does nothing where it is so already, or not possible. Throws Error when a call fails; what has been switched until
  /// then stays so.
  void set(bool on);

 private:
  struct Pair {
    int from = 0;
    int to = 0;
    std::optional<bool> before{};  ///< as somebody else had it; unknown until it is switched for the first time
    std::optional<bool> now{};
  };
  void set(Pair&, bool on);

  const Api& api_;
  std::vector<Pair> pairs_;
  bool possible_ = false;
};

struct GpuSet {
  std::vector<int> gpus;  ///< by the runtime's numbers
  std::shared_ptr<PeerAccess> peers;
  std::shared_ptr<Gates> gates;

  /// The runtime's number of the GPU at `place`. Throws Unsupported when there is none.
  int at(Place) const;
};

}  // namespace shiplap
