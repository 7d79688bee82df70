// hybrid: the input is copied chunk by chunk, and the kernels write their output to host memory (van Werkhoven et al.
// 2014, section II). hybrid-mirror: the kernels read their input from host memory, and the output is copied. A smaller
// grid (Choice::blocks) leaves copies more of the link, because fewer bytes of the kernel are in flight.
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

/// Eq 5 of the paper, for every device category; nullopt for limited grids and unequal chunks, which it does not cover.
/// Where the profile has no rates of duplex copies, G are those of copies beside kernels that write host memory (Table
/// II, explicit-mapped), if the profile has them.
std::optional<Seconds> predict_hybrid(const Job& job, const Choice& choice, const Profile& profile) {
  if (choice.blocks > 0 || !choice.ramp.level()) return std::nullopt;
  const auto work = paper_parameters(job, choice.chunks, profile, true);
  if (!work) return std::nullopt;
  const LinkModel& link = profile.links.front();
  if (link.h2d.duplex || !link.zero_copy || link.zero_copy->write_beside_h2d.empty()) return eq5(*work, choice.chunks);
  const ZeroCopyBeside& full_grid = link.zero_copy->write_beside_h2d.back();
  const van_werkhoven_2014::UnderLoad load{.h2d = per_byte(full_grid.copy.value),
                                           .d2h = per_byte(full_grid.kernel.value)};
  return eq5(slowed_throughout(*work, load), choice.chunks);
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
                                      .predict = predict_hybrid};

}  // namespace shiplap
