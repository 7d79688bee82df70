#include "shiplap/c/status.hpp"

#include <exception>
#include <new>

namespace shiplap::c {
namespace {

thread_local std::string message;

void say(const char* text) noexcept {
  try {
    message = text;
  } catch (const std::bad_alloc&) {
    message.clear();  // there is no memory even for the reason
  }
}

}  // namespace

shiplap_status status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const Unsupported& error) {
    say(error.what());
    return SHIPLAP_UNSUPPORTED;
  } catch (const TimedOut& error) {
    say(error.what());
    return SHIPLAP_TIMED_OUT;
  } catch (const Cancelled& error) {
    say(error.what());
    return SHIPLAP_CANCELLED;
  } catch (const Error& error) {
    say(error.what());
    return static_cast<shiplap_status>(error.code());
  } catch (const std::bad_alloc&) {
    say("there is no host memory left");
  } catch (const std::exception& error) {
    say(error.what());
  } catch (...) {
    say("an exception that is none of C++'s own left a function of the caller");
  }
  return SHIPLAP_FAILURE;
}

}  // namespace shiplap::c

extern "C" {

const char* shiplap_version(void) { return SHIPLAP_VERSION; }
const char* shiplap_message(void) { return shiplap::c::message.c_str(); }
}
