// implicit: zero-copy. The kernel accesses its input and output in host memory. Only arrays that stay on the GPU are
// copied (van Werkhoven et al. 2014, section II).
#include <string>
#include <utility>
#include <vector>

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

/// Eq 6 of the paper, with G of one direction alone.
std::optional<ClosedForm> predict_implicit(const Job& job, const Choice& choice, const Profile& profile) {
  const auto work = implicit_parameters(job, profile);
  if (!work) return std::nullopt;
  std::vector<std::string> assumptions;
  if (choice.blocks > 0) assumptions.emplace_back("the kernel has its own grid");
  const bool is_duplex = work->in > 0_B && work->out > 0_B;
  const LinkModel& link = profile.link(0);
  if (is_duplex && (knows_zero_copy(link) || link.h2d.duplex || link.d2h.duplex || !job.cost.zero_copy.empty()))
    assumptions.emplace_back("each direction of the link keeps the rate that it has alone");
  return closed_form(job, profile, eq6(*work), std::move(assumptions));
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
