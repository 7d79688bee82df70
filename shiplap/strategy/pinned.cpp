// Strategies for arrays in pinned memory (van Werkhoven et al. 2014, section II).
// explicit: all input is copied, then the kernel runs, then all output is copied. Nothing overlaps.
// streams: chunks whose copies and kernels overlap (also Gómez-Luna et al. 2012).
// implicit: zero-copy. The kernel accesses its input and output in host memory. Only arrays that stay on the GPU are
// copied.
// hybrid: the input is copied chunk by chunk, and the kernels write their output to host memory. hybrid-mirror: the
// kernels read their input from host memory, and the output is copied. A smaller grid (Choice::max_grid) leaves copies
// more of the link, because fewer bytes of the kernel are in flight.
#include <string>
#include <utility>
#include <vector>

#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/model_error.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {
namespace {

using van_werkhoven_2014::Category;

Schedule explicit_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_memory(job, ArrayMemory::pinned, "explicit");
  return chunked_schedule(job,
                          {.strategy = "explicit",
                           .chunks = 1,
                           .layout = Layout::per_chunk,
                           .gpus = choice.gpus,
                           .graph = choice.graph,
                           .batched = choice.batched,
                           .mover_h2d = choice.mover_h2d,
                           .mover_d2h = choice.mover_d2h,
                           .relay = choice.relay},
                          limits);
}

std::optional<ClosedForm> predict_explicit(const Job& job, const Choice&, const Profile& profile) {
  const auto work = paper_parameters(job, 1, profile, false);
  if (!work) return std::nullopt;
  return closed_form(job, profile, van_werkhoven_2014::explicit_time(*work));
}

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

Schedule implicit_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_memory(job, ArrayMemory::pinned, "implicit");
  return chunked_schedule(job,
                          {.strategy = "implicit",
                           .chunks = 1,
                           .layout = Layout::per_chunk,
                           .max_grid = choice.max_grid,
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
  if (choice.max_grid > 0) assumptions.emplace_back("the kernel has its own grid");
  const bool is_duplex = work->in > 0_B && work->out > 0_B;
  const LinkModel& link = profile.link(0);
  if (is_duplex && (knows_zero_copy(link) || link.h2d.duplex || link.d2h.duplex || !job.cost.zero_copy.empty()))
    assumptions.emplace_back("each direction of the link keeps the rate that it has alone");
  return closed_form(job, profile, eq6(*work), std::move(assumptions));
}

template <bool mirror>
Schedule hybrid_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_memory(job, ArrayMemory::pinned, mirror ? "hybrid-mirror" : "hybrid");
  return chunked_schedule(job, choice, limits, {.in = mirror, .out = !mirror});
}

/// The paper's model of two stages, for every device category. Copies and the kernel's writes slow each other down only
/// while both move.
std::optional<ClosedForm> predict_hybrid(const Job& job, const Choice& choice, const Profile& profile) {
  const auto work = hybrid_parameters(job, choice, profile);
  if (!work) return std::nullopt;
  std::vector<std::string> assumptions = assumptions_of_chunks(choice);
  if (!knows_mapped_writes(profile))
    assumptions.emplace_back("copies and the kernel's writes to host memory do not slow each other down");
  return closed_form(job, profile, hybrid_time(*work, choice.chunks), std::move(assumptions));
}

}  // namespace

const Strategy explicit_strategy{.name = "explicit",
                                 .summary = "copy everything in, run the kernel, copy everything out",
                                 .chunked = false,
                                 .zero_copy = false,
                                 .model_error = model_error::explicit_copies,
                                 .form_error = form_error::explicit_copies,
                                 .schedule = explicit_schedule,
                                 .closed_form = predict_explicit};

const Strategy streams_strategy{.name = "streams",
                                .summary = "copies of chunks overlap with kernels on other chunks",
                                .chunked = true,
                                .zero_copy = false,
                                .model_error = model_error::streams,
                                .form_error = form_error::streams,
                                .schedule = streams_schedule,
                                .closed_form = predict_streams};

const Strategy implicit_strategy{.name = "implicit",
                                 .summary = "the kernel accesses its input and output in host memory",
                                 .chunked = false,
                                 .zero_copy = true,
                                 .model_error = model_error::implicit,
                                 .form_error = form_error::implicit,
                                 .schedule = implicit_schedule,
                                 .closed_form = predict_implicit};

const Strategy hybrid_strategy{.name = "hybrid",
                               .summary = "input copied in chunks, output written in host memory by the kernels",
                               .chunked = true,
                               .zero_copy = true,
                               .model_error = model_error::hybrid,
                               .form_error = form_error::hybrid,
                               .schedule = hybrid_schedule<false>,
                               .closed_form = predict_hybrid};

const Strategy hybrid_mirror_strategy{.name = "hybrid-mirror",
                                      .summary = "input read in host memory by the kernels, output copied in chunks",
                                      .chunked = true,
                                      .zero_copy = true,
                                      .model_error = model_error::hybrid_mirror,
                                      .schedule = hybrid_schedule<true>,
                                      .closed_form = no_closed_form};

}  // namespace shiplap
