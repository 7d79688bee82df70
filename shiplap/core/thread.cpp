#include "shiplap/core/thread.hpp"

#include <fmt/format.h>

#include "shiplap/core/error.hpp"

namespace shiplap {

void throw_no_thread(const std::system_error& refused) {
  throw Error(
      fmt::format("no thread can be started: {}; end other programs, or raise the limit of threads (ulimit -u, or "
                  "pids.max of the container)",
                  refused.code().message()));
}

}  // namespace shiplap
