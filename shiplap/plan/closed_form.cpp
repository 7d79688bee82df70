#include "shiplap/plan/closed_form.hpp"

#include <memory>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap {

std::optional<ClosedForm> ranking_form(const Job& job, const Profile& profile, const Choice& choice) {
  const Strategy& strategy = find_strategy(choice.strategy);
  if (!strategy.form_error || choice.gpus > 1 || choice.graph || choice.batched || has_blocks(job)) return std::nullopt;
  if (choice.max_grid > 0 || !choice.ramp.level()) return std::nullopt;
  return strategy.closed_form(job, choice, profile);
}

std::vector<std::string> predict_value(const Job& job, const Profile& profile, const Limits& limits, bool forms,
                                       Candidate& candidate) {
  const Strategy& strategy = find_strategy(candidate.choice.strategy);
  candidate.schedule = std::make_shared<const Schedule>(strategy.schedule(job, candidate.choice, limits));
  try {
    Prediction prediction = simulate(*candidate.schedule, profile);
    candidate.predicted = Interval<Seconds>::exact(prediction.timeline.makespan);
    candidate.timeline = std::move(prediction.timeline);
    return std::move(prediction.assumptions);
  } catch (const Unsupported& lacking) {
    const auto form = forms ? ranking_form(job, profile, candidate.choice) : std::nullopt;
    if (!form || form->time < bound(job, profile).time) throw;
    candidate.predicted = Interval<Seconds>::exact(form->time);
    candidate.predicted_by = PredictedBy::closed_form;
    candidate.why_not_simulated = lacking.what();
    if (!form->assumption.empty()) candidate.why_not_simulated += "; the form assumes that " + form->assumption;
    return {};
  }
}

}  // namespace shiplap
