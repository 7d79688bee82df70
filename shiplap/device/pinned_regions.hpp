// Bookkeeping of host memory that a device has pinned for several holders.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "shiplap/device/memory.hpp"

namespace shiplap {

/// Regions of host memory that a device did not allocate but has pinned. The last holder of a region unpins it. All
/// methods are thread-safe. The result of `hold` keeps this object alive and may outlive the device.
class PinnedRegions : public std::enable_shared_from_this<PinnedRegions> {
 public:
  /// Calls `pin` unless the memory at `data` is held already. The last holder calls `unpin`.
  Memory hold(std::byte* data, Bytes size, const std::function<void()>& pin, std::function<void(std::byte*)> unpin) {
    // Made before anything is pinned, because there may be no memory for it.
    Memory::Release release = [self = shared_from_this(), unpin = std::move(unpin)](std::byte* p) {
      const std::lock_guard last(self->mutex_);
      if (--self->holders_[p] > 0) return;
      self->holders_.erase(p);
      unpin(p);
    };
    const std::lock_guard guard(mutex_);
    if (holders_[data] == 0) {
      try {
        pin();
      } catch (...) {
        holders_.erase(data);
        throw;
      }
    }
    ++holders_[data];
    return {data, size, Place::host(), MemoryKind::pinned, std::move(release)};
  }
  bool holds(std::byte* data) const {
    const std::lock_guard guard(mutex_);
    return holders_.contains(data);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::byte*, std::size_t> holders_;  // number of holders by the region's first byte
};

}  // namespace shiplap
