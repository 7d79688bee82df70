#include "shiplap/device/cuda/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>

#include "shiplap/core/error.hpp"

namespace shiplap {

/// What the driver says of a range: whether it has the advice, and the preferred location that replaces it.
struct EarlierAdvice {
  bool same = false;
  int preferred = cudaInvalidDeviceId;
};

namespace {

/// The calls that give and take back advice, and the location that they are for.
struct AdviceCalls {
  cudaMemoryAdvise give;
  cudaMemoryAdvise take_back;
  int location;
};

AdviceCalls calls_of(MemoryAdvice advice, int gpu) {
  switch (advice) {
    case MemoryAdvice::read_mostly:
      return {cudaMemAdviseSetReadMostly, cudaMemAdviseUnsetReadMostly, cudaCpuDeviceId};
    case MemoryAdvice::prefer_host:
      return {cudaMemAdviseSetPreferredLocation, cudaMemAdviseUnsetPreferredLocation, cudaCpuDeviceId};
    case MemoryAdvice::accessed_by_gpu:
      return {cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy, gpu};
    case MemoryAdvice::none:
      break;
  }
  throw Error("there is no call for no advice");
}

/// Most GPUs that one process sees, by the limit of the CUDA driver.
constexpr std::size_t most_gpus = 64;

EarlierAdvice earlier_advice(const Api& api, const std::byte* data, std::size_t size, MemoryAdvice advice, int gpu,
                             const std::string& name) {
  const auto ask = [&](auto& answer, cudaMemRangeAttribute attribute) {
    check(api, api.mem_range_get_attribute(&answer, sizeof answer, attribute, data, size), "cudaMemRangeGetAttribute",
          name);
  };
  if (advice == MemoryAdvice::accessed_by_gpu) {
    std::array<int, most_gpus> gpus{};
    gpus.fill(cudaInvalidDeviceId);
    ask(gpus, cudaMemRangeAttributeAccessedBy);
    return {.same = std::ranges::find(gpus, gpu) != gpus.end()};
  }
  int answer = 0;
  if (advice == MemoryAdvice::read_mostly) {
    ask(answer, cudaMemRangeAttributeReadMostly);
    return {.same = answer != 0};
  }
  ask(answer, cudaMemRangeAttributePreferredLocation);
  return {.same = answer == cudaCpuDeviceId, .preferred = answer};
}

}  // namespace

struct HeldAdvice::Held {
  struct Entry {
    std::size_t holders = 0;
    EarlierAdvice earlier;
  };
  std::mutex mutex;
  std::map<Range, Entry> entries;
};

HeldAdvice::Held& HeldAdvice::held() {
  static auto& held = *new Held;  // never destroyed, because executions may be destroyed while the process ends
  return held;
}

HeldAdvice::HeldAdvice(const Api& api, std::byte* data, Bytes size, MemoryAdvice advice, int gpu,
                       const std::string& name)
    : range_{data, size.count, advice, calls_of(advice, gpu).location}, own_(api) {
  const AdviceCalls calls = calls_of(advice, gpu);
  const std::lock_guard lock(held().mutex);
  const auto entry = std::ranges::find_if(held().entries, [this](const auto& one) { return range_.meets(one.first); });
  if (entry != held().entries.end()) {
    if (!range_.lies_in(entry->first))
      throw Error(fmt::format(
          "{}: a part of it has advice for another pipeline, and taking that back would end it for this one: end that "
          "pipeline first, or make the one for the longer range first",
          name));
    range_ = entry->first;
    ++entry->second.holders;
  } else {
    const EarlierAdvice earlier = earlier_advice(api, data, size.count, advice, gpu, name);
    if (!earlier.same) check(api, api.mem_advise(data, size.count, calls.give, calls.location), "cudaMemAdvise", name);
    held().entries[range_] = {.holders = 1, .earlier = earlier};
  }
  api_ = &api;
}

HeldAdvice::HeldAdvice(HeldAdvice&& other) noexcept
    : api_(std::exchange(other.api_, nullptr)), range_(other.range_), own_(other.own_) {}

HeldAdvice::~HeldAdvice() {
  if (api_ == nullptr) return;
  const std::lock_guard lock(held().mutex);
  const auto entry = held().entries.find(range_);
  if (--entry->second.holders > 0) return;
  const EarlierAdvice earlier = entry->second.earlier;
  held().entries.erase(entry);
  if (earlier.same) return;
  const OwnContext::Scope scope(own_);
  const AdviceCalls calls = calls_of(range_.advice, range_.location);
  const cudaError_t error = earlier.preferred == cudaInvalidDeviceId
                                ? api_->mem_advise(range_.data, range_.size, calls.take_back, calls.location)
                                : api_->mem_advise(range_.data, range_.size, calls.give, earlier.preferred);
  if (error != cudaSuccess) static_cast<void>(api_->get_last_error());
}

}  // namespace shiplap
