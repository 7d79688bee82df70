// Page-locks that several users of the same memory share.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "shiplap/device/device.hpp"

namespace shiplap {

/// What a device has page-locked of memory that came from elsewhere. The last one that holds a lock lets go of it. For
/// use by several threads; shared by the locks, which may outlive the device.
class PageLocks : public std::enable_shared_from_this<PageLocks> {
 public:
  /// Calls `lock` unless the memory at `data` is held already, and `unlock` when nobody holds it any more.
  Memory hold(std::byte* data, Bytes size, const std::function<void()>& lock, std::function<void(std::byte*)> unlock) {
    const std::lock_guard guard(mutex_);
    if (held_[data] == 0) {
      try {
        lock();
      } catch (...) {
        held_.erase(data);
        throw;
      }
    }
    ++held_[data];
    return {data, size, Place::host(), MemoryKind::pinned,
            [self = shared_from_this(), unlock = std::move(unlock)](std::byte* p) {
              const std::lock_guard last(self->mutex_);
              if (--self->held_[p] > 0) return;
              self->held_.erase(p);
              unlock(p);
            }};
  }
  bool holds(std::byte* data) const {
    const std::lock_guard guard(mutex_);
    return held_.contains(data);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::byte*, std::size_t> held_;  // how many hold it
};

}  // namespace shiplap
