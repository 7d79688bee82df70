// The GPUs of one device. GPU i of a schedule is the i-th of them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "shiplap/device/cuda/api.hpp"
#include "shiplap/device/cuda/gate.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// Switches peer access between GPUs on and off. Access is a state of the process, so all objects of this class share
/// it. The last one that lives restores the original state.
class PeerAccess {
 public:
  PeerAccess(const Api&, std::vector<int> gpus);
  ~PeerAccess();
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;

  /// Keeps the access as it is until it is destroyed.
  class Use {
   public:
    Use(std::shared_ptr<PeerAccess>, bool on);
    ~Use();
    Use(Use&&) = default;
    Use& operator=(Use&&) = delete;

   private:
    std::shared_ptr<PeerAccess> access_;
    bool on_;
  };

  /// Whether each GPU can address the memory of every other one.
  bool possible() const { return possible_; }
  /// Switches peer access for all pairs where it is possible. Throws Error when a call fails, or when a run in flight
  /// needs the other state; pairs that were switched before stay switched.
  static Use set(const std::shared_ptr<PeerAccess>&, bool on);

 private:
  struct State;
  using Pair = std::pair<int, int>;  ///< the GPU that accesses, and the one whose memory it accesses
  static State& shared();
  void set(State&, Pair, bool on);

  const Api& api_;
  std::vector<Pair> pairs_;
  std::vector<Pair> switched_;  ///< pairs that this object has switched or found as it wants them
  bool possible_ = false;
};

struct GpuSet {
  std::vector<int> gpus;  ///< device numbers
  std::shared_ptr<PeerAccess> peers;
  std::shared_ptr<Gates> gates;
  std::uint16_t host_node = any_numa_node;  ///< NUMA node of Place::host(); any_numa_node when none is known

  /// The NUMA node that is meant by a number in a schedule.
  std::uint16_t node(std::uint16_t number) const { return number == any_numa_node ? host_node : number; }
  /// The device number of the GPU at `place`. Throws Unsupported when there is none.
  int at(Place) const;
};

}  // namespace shiplap
