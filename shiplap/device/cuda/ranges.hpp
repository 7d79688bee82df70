// Named ranges for profilers (NVTX): one for each run, for the submission of each op, and for each op that host threads
// perform.
#pragma once

#include <cstdint>
#include <string>

namespace shiplap {

/// The functions that make ranges. A test can use its own table, as with Api. A table must outlive what was made with
/// it.
struct RangeApi {
  /// The NVTX domain of shiplap; null without a profiler.
  void* (*domain)();
  /// Registers a name for ranges of the domain. It is valid until the process ends.
  void* (*name)(void* domain, const std::string&);
  /// Starts a range in the calling thread.
  void (*push)(void* domain, void* name);
  /// Ends the innermost range of the calling thread.
  void (*pop)(void* domain);
  /// Starts a range that any thread may end and that need not nest. Returns its id.
  std::uint64_t (*start)(void* domain, void* name);
  /// Ends a range that `start` has started.
  void (*end)(void* domain, std::uint64_t range);
};

/// The functions of NVTX, which loads the profiler's library on first use. In a build without NVTX's headers the domain
/// is null.
const RangeApi& nvtx_ranges();

/// Registers names of ranges. Without a profiler a range costs two checks of a null pointer.
class Ranges {
 public:
  explicit Ranges(const RangeApi& api) : api_(api), domain_(api.domain()) {}

  bool listened_to() const { return domain_ != nullptr; }
  /// Registers a name for `Range`; null without a profiler. It may allocate memory.
  void* name(const std::string& text) const { return listened_to() ? api_.name(domain_, text) : nullptr; }

 private:
  friend class Range;
  friend class OpenRange;
  const RangeApi& api_;
  void* domain_;
};

/// A range from construction to destruction, both in one thread. With a null name it does nothing.
class Range {
 public:
  Range(const Ranges& ranges, void* name) : ranges_(name != nullptr ? &ranges : nullptr) {
    if (ranges_ != nullptr) ranges_->api_.push(ranges_->domain_, name);
  }
  ~Range() {
    if (ranges_ != nullptr) ranges_->api_.pop(ranges_->domain_);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  const Ranges* ranges_;
};

/// A range that may overlap other ranges of its thread without nesting. With a null name it does nothing.
class OpenRange {
 public:
  OpenRange(const Ranges& ranges, void* name) : ranges_(name != nullptr ? &ranges : nullptr) {
    if (ranges_ != nullptr) range_ = ranges_->api_.start(ranges_->domain_, name);
  }
  ~OpenRange() {
    if (ranges_ != nullptr) ranges_->api_.end(ranges_->domain_, range_);
  }
  OpenRange(const OpenRange&) = delete;
  OpenRange& operator=(const OpenRange&) = delete;

 private:
  const Ranges* ranges_;
  std::uint64_t range_ = 0;
};

}  // namespace shiplap
