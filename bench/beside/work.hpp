// The work that all contenders of `beside` do: y = x + 1.5 over random numbers in host memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/parallel.hpp"
#include "shiplap/device/device.hpp"
#include "shiplap/workload/data.hpp"

namespace beside {

constexpr float addend = 1.5f;

/// One work, as the request `prepare` describes it.
struct Work {
  bool pinned = true;              ///< whether x and y are in pinned memory; else they are vectors
  std::uint64_t items = 0;         ///< floats of x, and of y
  shiplap::Bytes device_memory{};  ///< most device memory that a contender may use; 0: no limit
  std::vector<int> chunks;         ///< numbers of chunks among which four streams have the best
  int slices = 1;                  ///< parts that copy, kernel, copy work on one after another
};

/// Floats in pinned or in pageable host memory.
class HostArray {
 public:
  HostArray(shiplap::Device& device, const Work& work) {
    if (work.pinned) {
      pinned_ = device.allocate(shiplap::Place::host(), shiplap::MemoryKind::pinned, {work.items * sizeof(float)});
      elements_ = shiplap::as_elements<float>(pinned_.bytes());
    } else {
      pageable_.resize(work.items);
      elements_ = pageable_;
    }
  }
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;

  std::span<float> elements() const { return elements_; }

 private:
  shiplap::Memory pinned_;
  std::vector<float> pageable_;
  std::span<float> elements_;
};

constexpr std::uint64_t grain = 1 << 20;

/// The numbers are in [0, 1), in multiples of 2^-24.
inline void fill_with_random(std::span<float> x) {
  shiplap::parallel_for(x.size(), grain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) x[i] = static_cast<float>(shiplap::hash_of(i, 31) >> 40) * 0x1p-24f;
  });
}

/// Overwrites y with NaN, so that an old result is never taken for a new one.
inline void scrub(std::span<float> y) {
  shiplap::parallel_for(y.size(), grain, [&](std::uint64_t begin, std::uint64_t end) {
    std::fill(y.begin() + static_cast<std::ptrdiff_t>(begin), y.begin() + static_cast<std::ptrdiff_t>(end),
              std::numeric_limits<float>::quiet_NaN());
  });
}

/// Whether every element is exactly x + 1.5 in float.
inline bool is_right(std::span<const float> x, std::span<const float> y) {
  std::atomic<bool> right = true;
  shiplap::parallel_for(x.size(), grain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i)
      if (!(y[i] == x[i] + addend)) {
        right = false;
        return;
      }
  });
  return right;
}

}  // namespace beside
