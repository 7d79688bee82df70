#include "shiplap/device/cuda/cupti.hpp"

#ifdef SHIPLAP_HAS_CUPTI

#include <dlfcn.h>
#include <fmt/format.h>

#include <type_traits>

namespace shiplap {
namespace {

Cupti load_cupti() {
  Cupti cupti;
  const std::string versioned = fmt::format("libcupti.so.{}", CUDART_VERSION / 1000);
  void* library = nullptr;
  for (const std::string& name : {versioned, "/usr/local/cuda/lib64/" + versioned,
                                  "/usr/local/cuda/extras/CUPTI/lib64/" + versioned, std::string("libcupti.so")})
    if (library == nullptr) library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    cupti.missing = fmt::format("{} cannot be loaded; put its folder on LD_LIBRARY_PATH", versioned);
    return cupti;
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr) cupti.missing = fmt::format("{} has no {}", versioned, name);
  };
  find(cupti.register_callbacks, "cuptiActivityRegisterCallbacks");
  find(cupti.enable, "cuptiActivityEnable");
  find(cupti.disable, "cuptiActivityDisable");
  find(cupti.flush, "cuptiActivityFlushAll");
  find(cupti.next, "cuptiActivityGetNextRecord");
  find(cupti.push, "cuptiActivityPushExternalCorrelationId");
  find(cupti.pop, "cuptiActivityPopExternalCorrelationId");
  find(cupti.subscribe, "cuptiSubscribe");
  find(cupti.unsubscribe, "cuptiUnsubscribe");
  find(cupti.enable_domain, "cuptiEnableDomain");
  find(cupti.enable_callback, "cuptiEnableCallback");
  find(cupti.callback_name, "cuptiGetCallbackName");
  find(cupti.timestamp, "cuptiGetTimestamp");
  find(cupti.stream_id, "cuptiGetStreamIdEx");
  find(cupti.device_id, "cuptiGetDeviceId");
  find(cupti.configure_migrations, "cuptiActivityConfigureUnifiedMemoryCounter");
  find(cupti.describe, "cuptiGetResultString");
  cupti.nvtx_initialize = reinterpret_cast<decltype(cupti.nvtx_initialize)>(dlsym(library, "cuptiNvtxInitialize2"));
  return cupti;
}

}  // namespace

const Cupti& cupti() {
  static const Cupti loaded = load_cupti();
  return loaded;
}

std::string message(CUptiResult result) {
  const char* text = nullptr;
  if (cupti().describe(result, &text) != CUPTI_SUCCESS || text == nullptr) text = "unknown error";
  return fmt::format("{} ({})", text, static_cast<int>(result));
}

}  // namespace shiplap

#endif
