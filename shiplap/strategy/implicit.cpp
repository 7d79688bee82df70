// Implicit: the kernel reads its input and writes its output in host memory; nothing is copied but what stays on the
// GPU (van Werkhoven 2014, §II; zero-copy).
#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {
namespace {

Schedule implicit_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_memory(job, ArrayMemory::page_locked, "implicit");
  return chunked_schedule(job,
                          {.strategy = "implicit",
                           .chunks = 1,
                           .layout = Layout::per_chunk,
                           .blocks = choice.blocks,
                           .graph = choice.graph,
                           .batched = choice.batched},
                          limits, {.in = true, .out = true});
}

std::optional<Seconds> predict_implicit(const Job& job, const Choice& choice, const Profile& profile) {
  const auto work = paper_parameters(job, 1, profile, false);
  if (!work || choice.blocks > 0) return std::nullopt;
  return eq6(*work);
}

}  // namespace

const Strategy implicit_strategy{.name = "implicit",
                                 .summary = "the kernel accesses its input and output in host memory",
                                 .chunked = false,
                                 .mapped = true,
                                 .model_error = 0.1,
                                 .schedule = implicit_schedule,
                                 .predict = predict_implicit};

}  // namespace shiplap
