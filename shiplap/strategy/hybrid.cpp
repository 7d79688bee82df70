// hybrid: the input is copied chunk by chunk, and the kernels write their output to host memory (van Werkhoven et al.
// 2014, section II). hybrid-mirror: the kernels read their input from host memory, and the output is copied. A smaller
// grid (Choice::blocks) leaves copies more of the link, because fewer bytes of the kernel are in flight.
#include <string>
#include <utility>
#include <vector>

#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/model_error.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {
namespace {

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

const Strategy hybrid_strategy{.name = "hybrid",
                               .summary = "input copied in chunks, output written in host memory by the kernels",
                               .chunked = true,
                               .zero_copy = true,
                               .model_error = model_error::hybrid,
                               .form_error = form_error::hybrid,
                               .schedule = hybrid_schedule<false>,
                               .predict = predict_hybrid};

const Strategy hybrid_mirror_strategy{.name = "hybrid-mirror",
                                      .summary = "input read in host memory by the kernels, output copied in chunks",
                                      .chunked = true,
                                      .zero_copy = true,
                                      .model_error = model_error::hybrid_mirror,
                                      .schedule = hybrid_schedule<true>,
                                      .predict = no_closed_form};

}  // namespace shiplap
