#include "shiplap/plan/closed_form.hpp"

namespace shiplap {

std::optional<ClosedForm> ranking_form(const Job& job, const Profile& profile, const Choice& choice) {
  const Strategy& strategy = find_strategy(choice.strategy);
  if (!strategy.form_error || choice.gpus > 1 || choice.graph || choice.batched || has_blocks(job) ||
      !choice.relay.through.empty())
    return std::nullopt;
  if (choice.max_grid > 0 || !choice.ramp.level()) return std::nullopt;
  return strategy.closed_form(job, choice, profile);
}

}  // namespace shiplap
