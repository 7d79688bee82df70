#include "shiplap/device/cuda/call_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "shiplap/device/cuda/cupti.hpp"

namespace shiplap {

#ifdef SHIPLAP_HAS_CUPTI
namespace {

struct Watched {
  std::thread::id thread;
  std::string call;         ///< refused call of the runtime API
  std::string driver_call;  ///< refused call of the driver API, perhaps what the call of the runtime came to
};

void CUPTIAPI see(void* state, CUpti_CallbackDomain domain, CUpti_CallbackId, const void* data) {
  auto& watched = *static_cast<Watched*>(state);
  const auto* call = static_cast<const CUpti_CallbackData*>(data);
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API && domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  std::string& seen = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? watched.call : watched.driver_call;
  if (call->callbackSite != CUPTI_API_EXIT || !seen.empty()) return;
  if (std::this_thread::get_id() != watched.thread || call->functionReturnValue == nullptr) return;
  // Both APIs number these errors alike.
  const auto error = *static_cast<const cudaError_t*>(call->functionReturnValue);
  if (error < cudaErrorStreamCaptureUnsupported || error > cudaErrorStreamCaptureWrongThread) return;
  std::string name = call->functionName;
  name.resize(std::min(name.size(), name.find("_v")));  // CUPTI appends the interface version, as in cudaMalloc_v3020
  seen = fmt::format("{}: {}", name, cudaGetErrorString(error));
}

}  // namespace

std::string call_refused_in(const std::function<void()>& work) {
  if (!cupti().missing.empty()) return {};
  Watched watched{.thread = std::this_thread::get_id(), .call = {}, .driver_call = {}};
  CUpti_SubscriberHandle subscriber{};
  if (cupti().subscribe(&subscriber, see, &watched) != CUPTI_SUCCESS) return {};
  for (const CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API})
    static_cast<void>(cupti().enable_domain(1, subscriber, domain));
  work();
  static_cast<void>(cupti().unsubscribe(subscriber));
  return watched.call.empty() ? watched.driver_call : watched.call;
}

#else

std::string call_refused_in(const std::function<void()>&) { return {}; }

#endif

}  // namespace shiplap
