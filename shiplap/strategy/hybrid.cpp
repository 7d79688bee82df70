// Hybrid: the input is copied chunk by chunk and the kernels write their output in host memory; and its mirror, which
// reads the input in host memory and has the output copied (van Werkhoven 2014, §II). The grid of the kernels is
// limited: one that fills the GPU has so much under way on the link that it starves the copies.
#include "shiplap/strategy/chunked.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap {
namespace {

template <bool mirror>
Schedule hybrid_schedule(const Job& job, const Choice& choice, const Limits& limits) {
  require_memory(job, ArrayMemory::page_locked, mirror ? "hybrid-mirror" : "hybrid");
  return chunked_schedule(job, choice, limits, {.in = mirror, .out = !mirror});
}

// The papers' form for Hybrid is eq 5 whatever the device; it knows neither grids nor uneven chunks.
std::optional<Seconds> predict_hybrid(const Job& job, const Choice& choice, const Profile& profile) {
  if (choice.blocks > 0 || !choice.ramp.level()) return std::nullopt;
  const auto work = paper_parameters(job, choice.chunks, profile, true);
  if (!work) return std::nullopt;
  return eq5(*work, choice.chunks);
}

}  // namespace

const Strategy hybrid_strategy{.name = "hybrid",
                               .summary = "input copied in chunks, output written in host memory by the kernels",
                               .chunked = true,
                               .mapped = true,
                               .model_error = 0.15,
                               .schedule = hybrid_schedule<false>,
                               .predict = predict_hybrid};

const Strategy hybrid_mirror_strategy{.name = "hybrid-mirror",
                                      .summary = "input read in host memory by the kernels, output copied in chunks",
                                      .chunked = true,
                                      .mapped = true,
                                      .model_error = 0.12,
                                      .schedule = hybrid_schedule<true>,
                                      .predict = predict_hybrid};

}  // namespace shiplap
