// What every function of the C interface does: no exception leaves it, and a failure leaves a message.
#pragma once

#include <stdexcept>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/shiplap.h"

namespace shiplap::c {

/// Makes the message of the exception that is being handled that of this thread, and returns its status.
shiplap_status status_of_current_exception() noexcept;

/// Calls `work`, and returns the status that says how it ended.
template <class Work>
shiplap_status guarded(const Work& work) noexcept {
  try {
    work();
    return SHIPLAP_SUCCESS;
  } catch (...) {
    return status_of_current_exception();
  }
}

/// What a pointer of the caller points to. Throws UsageError that names the argument when it is null.
template <class T>
T& given(T* pointer, const char* argument) {
  if (pointer == nullptr) throw UsageError(std::string(argument) + " is NULL");
  return *pointer;
}
/// The text that a pointer of the caller points to. Throws UsageError that names the argument when it is null.
inline std::string text_of(const char* text, const char* argument) { return &given(text, argument); }

/// Throws Error when a function of the caller has returned another number than 0.
inline void require_done(int returned, const std::string& what) {
  if (returned != 0) throw Error(what + " returned " + std::to_string(returned) + ", so the run stops");
}

}  // namespace shiplap::c
