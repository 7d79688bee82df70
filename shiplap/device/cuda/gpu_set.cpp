#include "shiplap/device/cuda/gpu_set.hpp"

#include <fmt/format.h>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/check.hpp"

namespace shiplap {

PeerAccess::PeerAccess(const Api& api, std::vector<int> gpus) : api_(api), possible_(gpus.size() > 1) {
  for (const int from : gpus) {
    for (const int to : gpus) {
      if (from == to) continue;
      pairs_.push_back({.from = from, .to = to});
      int can = 0;
      check(api_, api_.device_can_access_peer(&can, from, to), "cudaDeviceCanAccessPeer",
            fmt::format("cuda:{} to cuda:{}", from, to));
      possible_ = possible_ && can != 0;
    }
  }
}

PeerAccess::~PeerAccess() {
  for (Pair& pair : pairs_) {
    try {
      if (pair.before) set(pair, *pair.before);
    } catch (const Error&) {  // a destructor must not throw
    }
  }
}

void PeerAccess::set(bool on) {
  if (!possible_) return;
  for (Pair& pair : pairs_) set(pair, on);
}

void PeerAccess::set(Pair& pair, bool on) {
  if (pair.now == on) return;
  const auto context = [&] { return fmt::format("cuda:{} to the memory of cuda:{}", pair.from, pair.to); };
  check(api_, api_.set_device(pair.from), "cudaSetDevice", context());
  const cudaError_t error = on ? api_.device_enable_peer_access(pair.to, 0) : api_.device_disable_peer_access(pair.to);
  // Other code in this process may have switched it.
  const bool was_so = error == (on ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled);
  if (was_so)
    static_cast<void>(api_.get_last_error());
  else
    check(api_, error, on ? "cudaDeviceEnablePeerAccess" : "cudaDeviceDisablePeerAccess", context());
  if (!pair.before) pair.before = was_so == on;
  pair.now = on;
}

int GpuSet::at(Place place) const {
  if (place.is_gpu() && place.index < gpus.size()) return gpus[place.index];
  throw Unsupported(fmt::format("there is no {} here: this device has {} GPU(s)", to_string(place), gpus.size()));
}

}  // namespace shiplap
