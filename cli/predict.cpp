#include "cli/predict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cli/effects.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/plan.hpp"
#include "shiplap/plan/prediction_view.hpp"
#include "shiplap/plan/relays.hpp"
#include "shiplap/report/models_report.hpp"

namespace shiplap::cli {
namespace {

/// The fastest choice of each strategy.
std::vector<Choice> best_of_each(const Ranking& ranked) {
  std::vector<Choice> choices{ranked.best().choice};
  std::set<std::string> seen{ranked.best().choice.strategy};
  for (const Candidate& c : ranked.candidates)
    if (seen.insert(c.choice.strategy).second) choices.push_back(c.choice);
  return choices;
}

/// Leaves the model or the paper that was asked for. Throws UsageError when there is none of this name.
void keep_only(const std::string& model, std::vector<PaperAnswer>& answers, std::vector<ModelComparison>& comparisons) {
  if (model == "all") return;
  std::set<std::string> names;
  for (const PaperAnswer& answer : answers) names.insert(answer.paper);
  std::erase_if(answers, [&](const PaperAnswer& answer) { return answer.paper != model; });
  for (ModelComparison& comparison : comparisons) {
    for (const ModelPrediction& m : comparison.models) names.insert(m.model);
    std::erase_if(comparison.models, [&](const ModelPrediction& m) { return m.model != model; });
  }
  std::erase_if(comparisons, [](const ModelComparison& comparison) { return comparison.models.empty(); });
  if (!names.contains(model))
    throw UsageError(fmt::format("--model: there is no model '{}'; there are: all, {}", model, fmt::join(names, ", ")));
}

}  // namespace

void add_predict(CLI::App& app) {
  auto flags = std::make_shared<PredictFlags>();
  auto* command = app.add_subcommand("predict", "Say what every model and paper predicts");
  add_workload_flags(*command, flags->workload);
  add_choice_flags(*command, flags->choice);
  add_device_or_profile_flags(*command, flags->node);
  command->add_option("--model", flags->model, "one model or paper only, as in simulation or van-werkhoven-2014")
      ->type_name("M")
      ->capture_default_str();
  add_all_flag(*command, flags->all, "show the answers of the papers, what each form assumes, and sensitivities");
  add_json_flag(*command, flags->json);
  command->footer(
      "Of each strategy the choice that plan would make, or the one asked for. research/models.md has the "
      "closed forms.");
  command->callback([flags] { run_predict(*flags); });
}

namespace {

/// "saxpy:n=1048576 takes 166.7 ± 30.9 µs by implicit, as a graph, as simulated; van-werkhoven-2014: implicit."
std::string answer_of(const Plan& plan, const std::vector<PaperAnswer>& answers) {
  const Candidate& best = plan.chosen;
  std::string answer = fmt::format("{} by {}, {}", with_interval(best.predicted), to_string(best.choice),
                                   best.predicted_by == PredictedBy::simulation ? "simulated" : "by a closed form");
  for (const PaperAnswer& a : answers)
    if (a.question == "fastest" && !a.is_missing) answer += fmt::format("; fastest by {}: {}", a.paper, a.words);
  return wrap(answer + ".", style_of_stdout().width);
}

}  // namespace

void run_predict(const PredictFlags& flags) {
  // Who asks for one model wants all of it.
  const document::Detail asked = detail_of(flags.all, flags.json);
  const document::Detail detail = flags.model == "all" ? asked : document::Detail::all;
  const Workload workload = workload_of(flags.workload);
  const PlanOptions options = plan_options_of(flags.choice, {.no_pin = true}, workload.job);
  const OpenedNode opened = open_node_or_profile(flags.node);
  require_host_memory(opened.node, workload.job);
  const Plan made = plan_workload(opened.node, workload, options).plan;
  note_choices_without_effect(flags.choice, made, opened.node);
  const Profile profile = profile_of_gpus(opened.node, gpus_of(options.space));
  std::vector<ModelComparison> comparisons;
  for (const Choice& choice : best_of_each(made.ranking))
    comparisons.push_back(compare_models(made.job, profile, choice, made.limits));
  std::vector<PaperAnswer> answers =
      paper_answers(made.job, profile, options.space.layouts.empty() ? Layout::three : options.space.layouts.front());
  keep_only(flags.model, answers, comparisons);
  if (flags.json) {
    show_simulation(opened, flags.node, true);
    return print_json(to_json(PredictionView{.job = made.job.name,
                                             .kernel_cost = made.job.cost.origin,
                                             .profile = profile.name,
                                             .profile_hash = parameter_hash(profile),
                                             .profile_origin = profile.origin,
                                             .papers = std::move(answers),
                                             .choices = std::move(comparisons)}));
  }
  const TextStyle style = style_of_stdout();
  print(bold(answer_of(made, answers), style) + "\n" +
        wrap(fmt::format("{} on profile {} ({}), kernel time {}.", made.job.name, profile.name, parameter_hash(profile),
                         made.job.cost.origin),
             style.width) +
        "\n\n");
  if (detail != document::Detail::all) {
    print(models_table(comparisons).text(style) + below_the_bound(comparisons, made.ranking.bound.time, style) +
          "\n--all shows the answers of the papers, what forms assume, and sensitivities.\n");
    return show_simulation(opened, flags.node, false);
  }
  if (!answers.empty()) print(paper_answers_report(answers, style) + "\n");
  print(models_report(comparisons, style));
  show_simulation(opened, flags.node, false);
}

}  // namespace shiplap::cli
