// implicit: zero-copy. The kernel accesses its input and output in host memory. Only arrays that stay on the GPU are
// copied (van Werkhoven et al. 2014, section II).
#include <algorithm>

#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/model_error.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {
namespace {

Schedule implicit_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_memory(job, ArrayMemory::pinned, "implicit");
  return chunked_schedule(job,
                          {.strategy = "implicit",
                           .chunks = 1,
                           .layout = Layout::per_chunk,
                           .blocks = choice.blocks,
                           .gpus = choice.gpus,
                           .graph = choice.graph,
                           .batched = choice.batched},
                          limits, {.in = true, .out = true});
}

std::optional<Seconds> predict_implicit(const Job& job, const Choice& choice, const Profile& profile) {
  auto work = paper_parameters(job, 1, profile, false);
  if (!work || choice.blocks > 0) return std::nullopt;
  work->in = std::max(work->in, job.bytes_read);  // the equation counts every access
  return eq6(*work);
}

}  // namespace

const Strategy implicit_strategy{.name = "implicit",
                                 .summary = "the kernel accesses its input and output in host memory",
                                 .chunked = false,
                                 .zero_copy = true,
                                 .model_error = model_error::implicit,
                                 .form_error = form_error::implicit,
                                 .schedule = implicit_schedule,
                                 .predict = predict_implicit};

}  // namespace shiplap
