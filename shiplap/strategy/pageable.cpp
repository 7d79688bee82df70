// Strategies for arrays in pageable memory, which malloc and std::vector allocate.
// pageable: plain copies. The driver stages them through its own buffers while the host waits.
// staged: host threads copy the chunks through pinned rings, so that copies overlap with kernels and with each other.
#include <fmt/format.h>

#include "shiplap/core/error.hpp"
#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/model_error.hpp"

namespace shiplap {
namespace {

Schedule pageable_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_memory(job, ArrayMemory::pageable, "pageable");
  require_single_calls(choice, "pageable");
  return chunked_schedule(job, {.strategy = "pageable", .chunks = 1, .layout = Layout::per_chunk, .gpus = choice.gpus},
                          limits);
}

Schedule staged_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_memory(job, ArrayMemory::pageable, "staged");
  require_single_calls(choice, "staged");
  if (choice.threads == 0) throw UsageError("`threads` 0: staged needs at least 1 thread in each direction");
  return chunked_schedule(job, choice, limits, {}, {.threads = choice.threads});
}

}  // namespace

const Strategy pageable_strategy{.name = "pageable",
                                 .summary = "plain copies of pageable memory, one after the other",
                                 .memory = ArrayMemory::pageable,
                                 .model_error = model_error::pageable,
                                 .schedule = pageable_schedule,
                                 .closed_form = no_closed_form};

const Strategy staged_strategy{.name = "staged",
                               .summary = "host threads pass chunks of pageable memory through pinned rings",
                               .chunked = true,
                               .threaded = true,
                               .memory = ArrayMemory::pageable,
                               .model_error = model_error::staged,
                               .schedule = staged_schedule,
                               .closed_form = no_closed_form};

}  // namespace shiplap
