// What a run does, told to a profiler as named ranges (NVTX): the run, each op while it is submitted, and what host
// threads perform themselves.
#pragma once

#include <cstdint>
#include <string>

namespace shiplap {

/// The functions behind ranges. A test gives its own table, as with Api; a table outlives what was made with it.
struct RangeApi {
  /// The domain of shiplap; null where nobody listens.
  void* (*domain)();
  /// A name for ranges of the domain, which lasts as long as the process.
  void* (*name)(void* domain, const std::string&);
  /// Begins a range of the calling thread.
  void (*push)(void* domain, void* name);
  /// Ends the last one that this thread has begun and not ended.
  void (*pop)(void* domain);
  /// Begins a range that any thread may end, whatever else has begun meanwhile. Returns what ends it.
  std::uint64_t (*start)(void* domain, void* name);
  /// Ends what `start` has begun.
  void (*end)(void* domain, std::uint64_t range);
};

/// NVTX: whoever profiles the process has it load a library when the domain is asked for first. Nobody listens in a
/// build without NVTX's headers.
const RangeApi& nvtx_ranges();

/// Names and begins ranges. Where nobody listens, a range is a null pointer that is looked at twice.
class Ranges {
 public:
  explicit Ranges(const RangeApi& api) : api_(api), domain_(api.domain()) {}

  bool listened_to() const { return domain_ != nullptr; }
  /// For `Range`; not to be called where nothing may be allocated. Null where nobody listens.
  void* name(const std::string& text) const { return listened_to() ? api_.name(domain_, text) : nullptr; }

 private:
  friend class Range;
  friend class OpenRange;
  const RangeApi& api_;
  void* domain_;
};

/// From its construction to its end, both in one thread, which may be by an exception. Without a name nothing.
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

/// The same of something that goes on beside other things of the thread.
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
