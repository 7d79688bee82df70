// explicit: all input is copied, then the kernel runs, then all output is copied. Nothing overlaps (van Werkhoven et
// al. 2014, section II).
#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/model_error.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {
namespace {

Schedule explicit_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_memory(job, ArrayMemory::pinned, "explicit");
  return chunked_schedule(job,
                          {.strategy = "explicit",
                           .chunks = 1,
                           .layout = Layout::per_chunk,
                           .gpus = choice.gpus,
                           .graph = choice.graph,
                           .batched = choice.batched,
                           .gather = choice.gather,
                           .scatter = choice.scatter},
                          limits);
}

std::optional<ClosedForm> predict_explicit(const Job& job, const Choice&, const Profile& profile) {
  const auto work = paper_parameters(job, 1, profile, false);
  if (!work) return std::nullopt;
  return closed_form(job, profile, van_werkhoven_2014::explicit_time(*work));
}

}  // namespace

const Strategy explicit_strategy{.name = "explicit",
                                 .summary = "copy everything in, run the kernel, copy everything out",
                                 .chunked = false,
                                 .zero_copy = false,
                                 .model_error = model_error::explicit_copies,
                                 .form_error = form_error::explicit_copies,
                                 .schedule = explicit_schedule,
                                 .predict = predict_explicit};

}  // namespace shiplap
