// Bookkeeping of host memory that is pinned for several holders.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "shiplap/core/error.hpp"
#include "shiplap/device/memory.hpp"

namespace shiplap {

/// The error of memory of which only a part is pinned.
Error pinned_in_part(Bytes size);

/// Ranges of host memory that were pinned for holders. The last holder of a range unpins it. All methods are
/// thread-safe. The result of `hold` keeps this object alive and may outlive the device.
class PinnedRegions : public std::enable_shared_from_this<PinnedRegions> {
 public:
  /// How memory is pinned and unpinned.
  struct Functions {
    std::function<bool()> is_pinned;  ///< whether others have pinned all of it; may throw when they pinned only a part
    std::function<void()> pin;        ///< pins the range that is to be held
    std::function<void(std::byte*)> unpin;  ///< unpins the range that begins at the address
  };

  /// The ranges of this process. CUDA pins memory for a process, so all its devices share them.
  static const std::shared_ptr<PinnedRegions>& of_process();

  /// Holds `size` bytes from `data` on. It calls `pin` unless they lie in a range that is held already, or `is_pinned`
  /// says that they are not to be pinned here. Throws Error when they overlap a range that is held and does not contain
  /// them, because memory can be pinned once only, and a copy must not cross the border between two pinned ranges.
  Memory hold(std::byte* data, Bytes size, Functions);

  /// Pins one byte and unpins it again, unless it is held or pinned already. Throws what `pin` throws. Nobody who looks
  /// with `undisturbed` sees it pinned.
  void try_to_pin(std::byte*, const Functions&);
  /// While the result lives nothing is pinned or unpinned.
  [[nodiscard]] std::unique_lock<std::mutex> undisturbed() { return std::unique_lock(mutex_); }

 private:
  struct Range {
    std::byte* end = nullptr;
    std::size_t holders = 0;
  };
  /// The first held range that ends behind `data`.
  std::map<std::byte*, Range>::iterator range_at(std::byte* data);

  std::mutex mutex_;
  std::map<std::byte*, Range> ranges_;  ///< by first byte; they do not overlap
};

}  // namespace shiplap
