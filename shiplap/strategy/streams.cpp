// streams: chunks whose copies and kernels overlap (van Werkhoven et al. 2014, section II; Gómez-Luna et al. 2012).
#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/model_error.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {
namespace {

using van_werkhoven_2014::Category;

Schedule streams_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_memory(job, ArrayMemory::pinned, "streams");
  return chunked_schedule(job, choice, limits);
}

std::optional<ClosedForm> predict_streams(const Job& job, const Choice& choice, const Profile& profile) {
  if (profile.gpus.empty()) return std::nullopt;
  const auto category = paper_category(profile.gpus.front(), choice);
  if (!category) return std::nullopt;
  const auto work = paper_parameters(job, choice.chunks, profile, *category == Category::two_engines);
  if (!work) return std::nullopt;
  return closed_form(job, profile, streams_time(*work, choice.chunks, *category), assumptions_of_chunks(choice));
}

}  // namespace

const Strategy streams_strategy{.name = "streams",
                                .summary = "chunks whose copies and kernels overlap",
                                .chunked = true,
                                .zero_copy = false,
                                .model_error = model_error::streams,
                                .form_error = form_error::streams,
                                .schedule = streams_schedule,
                                .predict = predict_streams};

}  // namespace shiplap
