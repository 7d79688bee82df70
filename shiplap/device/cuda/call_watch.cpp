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
  std::string refused;  ///< the program's first refused call of the runtime or the driver API
  /// Whether a call of the runtime API has begun and not ended. Calls of the driver are then part of it.
  bool inside_runtime = false;
};

void CUPTIAPI see(void* state, CUpti_CallbackDomain domain, CUpti_CallbackId, const void* data) {
  auto& watched = *static_cast<Watched*>(state);
  const auto* call = static_cast<const CUpti_CallbackData*>(data);
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if ((!runtime && domain != CUPTI_CB_DOMAIN_DRIVER_API) || std::this_thread::get_id() != watched.thread) return;
  if (runtime) watched.inside_runtime = call->callbackSite == CUPTI_API_ENTER;
  if (call->callbackSite != CUPTI_API_EXIT || watched.inside_runtime || !watched.refused.empty()) return;
  if (call->functionReturnValue == nullptr) return;
  // Both APIs number these errors alike.
  const auto error = *static_cast<const cudaError_t*>(call->functionReturnValue);
  if (error < cudaErrorStreamCaptureUnsupported || error > cudaErrorStreamCaptureWrongThread) return;
  std::string name = call->functionName;
  name.resize(std::min(name.size(), name.find("_v")));  // CUPTI appends the interface version, as in cudaMalloc_v3020
  watched.refused = fmt::format("{}: {}", name, cudaGetErrorString(error));
}

}  // namespace

std::string call_refused_in(const std::function<void()>& work) {
  if (!cupti().missing.empty()) return {};
  Watched watched{.thread = std::this_thread::get_id(), .refused = {}};
  CUpti_SubscriberHandle subscriber{};
  if (cupti().subscribe(&subscriber, see, &watched) != CUPTI_SUCCESS) return {};
  for (const CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API})
    static_cast<void>(cupti().enable_domain(1, subscriber, domain));
  work();
  static_cast<void>(cupti().unsubscribe(subscriber));
  return watched.refused;
}

#else

std::string call_refused_in(const std::function<void()>&) { return {}; }

#endif

}  // namespace shiplap
