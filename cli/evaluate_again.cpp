#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/common.hpp"
#include "cli/evaluate.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/evaluate/predict_again.hpp"
#include "shiplap/pipeline/profile_cache.hpp"
#include "shiplap/report/profile_report.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap::cli {
namespace {

bool about_a_run(const EvaluateFlags& flags) {
  return !flags.device.empty() || !flags.sizes.empty() || !flags.strategies.empty() || !flags.chunks.empty() ||
         !flags.layouts.empty() || !flags.max_grids.empty() || !flags.threads.empty() || flags.rounds > 0 ||
         flags.duel_rounds > 0 || !flags.budget.empty() || flags.transfers_only || flags.no_transfers ||
         flags.memory != EvaluateFlags{}.memory;
}

}  // namespace

void evaluate_again(const EvaluateFlags& flags) {
  if (about_a_run(flags))
    throw UsageError("--again: nothing runs on a device; leave out what is about a device or a grid");
  Evaluation recorded = Form<Evaluation>::read(JsonReader(read_json_file(flags.again), flags.again));
  if (flags.profile.empty())
    throw UsageError(fmt::format("--again: name the profile to predict from with --profile; it was {} ({}) then",
                                 recorded.profile, recorded.profile_hash));
  const Profile profile = find_any_profile(flags.profile);
  if (parameter_hash(profile) != recorded.profile_hash)
    note(fmt::format("profile {} ({}) is not the one of the file, {} ({}): errors are of model and profile together",
                     profile.name, parameter_hash(profile), recorded.profile, recorded.profile_hash));
  const Evaluation evaluation = predict_again(std::move(recorded), profile, limits_of(profile));
  save(flags, evaluation);
  if (const std::string simulated = simulation_note(profile); !simulated.empty()) note(simulated);
  show(flags, evaluation);
}

}  // namespace shiplap::cli
