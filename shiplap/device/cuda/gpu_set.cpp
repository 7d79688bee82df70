#include "shiplap/device/cuda/gpu_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/callers_gpu.hpp"
#include "shiplap/device/cuda/check.hpp"

namespace shiplap {

/// The access between GPUs in this process.
struct PeerAccess::State {
  struct OfPair {
    bool before = false;  ///< the original state
    bool now = false;
    std::size_t objects = 0;  ///< number of objects that have switched it
    std::size_t uses_on = 0;  ///< number of runs in flight that need it on
    std::size_t uses_off = 0;
  };
  std::mutex mutex;
  std::map<Pair, OfPair> pairs;
};

PeerAccess::State& PeerAccess::shared() {
  static State& state = *new State;  // is never deleted, because devices may outlive static objects
  return state;
}

PeerAccess::PeerAccess(const Api& api, std::vector<int> gpus) : api_(api), possible_(gpus.size() > 1) {
  for (const int from : gpus) {
    for (const int to : gpus) {
      if (from == to) continue;
      pairs_.emplace_back(from, to);
      int can = 0;
      check(api_, api_.device_can_access_peer(&can, from, to), "cudaDeviceCanAccessPeer",
            fmt::format("cuda:{} to cuda:{}", from, to));
      possible_ = possible_ && can != 0;
    }
  }
}

PeerAccess::~PeerAccess() {
  const CallersGpu callers(api_);
  State& state = shared();
  const std::lock_guard lock(state.mutex);
  for (const Pair& pair : switched_) {
    State::OfPair& of_pair = state.pairs.at(pair);
    if (--of_pair.objects > 0) continue;
    try {
      set(state, pair, of_pair.before);
    } catch (const Error&) {  // a destructor must not throw
    }
    state.pairs.erase(pair);
  }
}

PeerAccess::Use PeerAccess::set(const std::shared_ptr<PeerAccess>& access, bool on) {
  State& state = shared();
  const std::lock_guard lock(state.mutex);
  if (access->possible_)
    for (const Pair& pair : access->pairs_) access->set(state, pair, on);
  return {access, on};
}

void PeerAccess::set(State& state, Pair pair, bool on) {
  const auto known = state.pairs.find(pair);
  const bool is_mine = std::ranges::find(switched_, pair) != switched_.end();
  if (known == state.pairs.end() || known->second.now != on) {
    const auto context = [&] { return fmt::format("cuda:{} to the memory of cuda:{}", pair.first, pair.second); };
    if (known != state.pairs.end() && (on ? known->second.uses_off : known->second.uses_on) > 0)
      throw Error(fmt::format("{}: a run in flight needs the access {}, and this one needs it {}: wait for that run",
                              context(), on ? "off" : "on", on ? "on" : "off"));
    check(api_, api_.set_device(pair.first), "cudaSetDevice", context());
    const cudaError_t error =
        on ? api_.device_enable_peer_access(pair.second, 0) : api_.device_disable_peer_access(pair.second);
    // Other code in this process may have switched it.
    const bool was_so = error == (on ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled);
    if (was_so)
      static_cast<void>(api_.get_last_error());
    else
      check(api_, error, on ? "cudaDeviceEnablePeerAccess" : "cudaDeviceDisablePeerAccess", context());
    State::OfPair& of_pair = state.pairs.try_emplace(pair, State::OfPair{.before = was_so == on}).first->second;
    of_pair.now = on;
  }
  if (is_mine) return;
  switched_.push_back(pair);
  ++state.pairs.at(pair).objects;
}

PeerAccess::Use::Use(std::shared_ptr<PeerAccess> access, bool on) : access_(std::move(access)), on_(on) {
  if (!access_->possible_) return;
  for (const Pair& pair : access_->pairs_) ++(on_ ? shared().pairs.at(pair).uses_on : shared().pairs.at(pair).uses_off);
}

PeerAccess::Use::~Use() {
  if (access_ == nullptr || !access_->possible_) return;
  const std::lock_guard lock(shared().mutex);
  for (const Pair& pair : access_->pairs_) --(on_ ? shared().pairs.at(pair).uses_on : shared().pairs.at(pair).uses_off);
}

int GpuSet::at(Place place) const {
  if (place.is_gpu() && place.index < gpus.size()) return gpus[place.index];
  throw Unsupported(fmt::format("there is no {} here: this device has {} GPU(s)", to_string(place), gpus.size()));
}

}  // namespace shiplap
