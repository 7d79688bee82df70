// CUPTI, loaded at run time: it records GPU activity and calls into CUDA. SHIPLAP_HAS_CUPTI is defined where its
// headers were found.
#pragma once

#if __has_include(<cupti.h>)
#include <cuda_runtime_api.h>
#include <cupti.h>
#define SHIPLAP_HAS_CUPTI 1

#include <string>

namespace shiplap {

/// The functions of CUPTI that are used here.
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
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetStreamIdEx) stream_id = nullptr;
  decltype(&cuptiGetDeviceId) device_id = nullptr;
  decltype(&cuptiActivityConfigureUnifiedMemoryCounter) configure_migrations = nullptr;
  decltype(&cuptiGetResultString) describe = nullptr;
  CUptiResult(CUPTIAPI* nvtx_initialize)(void*) = nullptr;  ///< cuptiNvtxInitialize2; null in versions without it
  std::string missing;  ///< reason why CUPTI is not available; empty when all functions were found
};

/// The table of functions. The first call loads CUPTI.
const Cupti& cupti();

/// Text of a CUPTI result.
std::string message(CUptiResult);

}  // namespace shiplap

#endif
