#include "shiplap/device/cuda/ranges.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

#include <map>
#include <mutex>
#endif

namespace shiplap {

#ifdef NVTX_VERSION
namespace {

nvtxDomainHandle_t domain_of(void* domain) { return static_cast<nvtxDomainHandle_t>(domain); }

void* open_domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("shiplap");
  return domain;
}

// NVTX keeps registered names until the process ends. Executions use the same names again, so each is registered once.
void* name_of(void* domain, const std::string& text) {
  static std::mutex guard;
  static std::map<std::string, nvtxStringHandle_t> names;
  const std::lock_guard lock(guard);
  const auto [entry, is_new] = names.try_emplace(text);
  if (is_new) entry->second = nvtxDomainRegisterStringA(domain_of(domain), text.c_str());
  return entry->second;
}

nvtxEventAttributes_t called(void* name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = static_cast<nvtxStringHandle_t>(name);
  return attributes;
}

void push(void* domain, void* name) {
  const nvtxEventAttributes_t attributes = called(name);
  nvtxDomainRangePushEx(domain_of(domain), &attributes);
}

void pop(void* domain) { nvtxDomainRangePop(domain_of(domain)); }

std::uint64_t start(void* domain, void* name) {
  const nvtxEventAttributes_t attributes = called(name);
  return nvtxDomainRangeStartEx(domain_of(domain), &attributes);
}

void end(void* domain, std::uint64_t range) { nvtxDomainRangeEnd(domain_of(domain), range); }

}  // namespace

const RangeApi& nvtx_ranges() {
  static constexpr RangeApi api{open_domain, name_of, push, pop, start, end};
  return api;
}

#else

const RangeApi& nvtx_ranges() {
  static constexpr RangeApi api{.domain = []() -> void* { return nullptr; },
                                .name = [](void*, const std::string&) -> void* { return nullptr; },
                                .push = [](void*, void*) {},
                                .pop = [](void*) {},
                                .start = [](void*, void*) { return std::uint64_t{0}; },
                                .end = [](void*, std::uint64_t) {}};
  return api;
}

#endif

}  // namespace shiplap
