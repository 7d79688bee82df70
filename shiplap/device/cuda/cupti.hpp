// CUPTI, loaded at run time: what the GPU did and when, and which calls were made. Where its headers are missing,
// SHIPLAP_HAS_CUPTI is not defined.
#pragma once

#if __has_include(<cupti.h>)
#include <cuda_runtime_api.h>
#include <cupti.h>
#define SHIPLAP_HAS_CUPTI 1

#include <string>

namespace shiplap {

/// The functions that are used.
struct Cupti {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableDomain) enable_domain = nullptr;
  decltype(&cuptiGetResultString) describe = nullptr;
  std::string missing;  ///< why there is none; empty when all were found
};

/// Loads it on the first call.
const Cupti& cupti();

/// For people.
std::string message(CUptiResult);

}  // namespace shiplap

#endif
