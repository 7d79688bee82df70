#include "shiplap/device/cuda/gpu_set.hpp"

#include <fmt/format.h>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/check.hpp"

namespace shiplap {

void PeerAccess::for_each_pair(auto visit) const {
  for (const int from : gpus_)
    for (const int to : gpus_)
      if (from != to) visit(from, to);
}

PeerAccess::PeerAccess(const Api& api, std::vector<int> gpus) : api_(api), gpus_(std::move(gpus)) {
  possible_ = gpus_.size() > 1;
  for_each_pair([&](int from, int to) {
    int can = 0;
    check(api_, api_.device_can_access_peer(&can, from, to), "cudaDeviceCanAccessPeer",
          fmt::format("cuda:{} to cuda:{}", from, to));
    possible_ = possible_ && can != 0;
  });
}

PeerAccess::~PeerAccess() {
  try {
    set(false);
  } catch (const Error&) {  // nobody could do anything about it here
  }
}

void PeerAccess::set(bool on) {
  if (!possible_ || on == on_) return;
  for_each_pair([&](int from, int to) {
    const auto context = [&] { return fmt::format("cuda:{} to the memory of cuda:{}", from, to); };
    check(api_, api_.set_device(from), "cudaSetDevice", context());
    if (on)
      check(api_, api_.device_enable_peer_access(to, 0), "cudaDeviceEnablePeerAccess", context());
    else
      check(api_, api_.device_disable_peer_access(to), "cudaDeviceDisablePeerAccess", context());
  });
  on_ = on;
}

int GpuSet::at(Place place) const {
  if (place.is_gpu() && place.index < gpus.size()) return gpus[place.index];
  throw Unsupported(fmt::format("there is no {} here: this device has {} GPU(s)", to_string(place), gpus.size()));
}

}  // namespace shiplap
