// What people are shown of each kind of record: the answer, the reasons, tables and figures. A terminal, Markdown and a
// page show the same section.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "shiplap/advise/advice_view.hpp"
#include "shiplap/cluster/scaling.hpp"
#include "shiplap/document/document.hpp"
#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/fleet/judge.hpp"
#include "shiplap/measure/compare.hpp"
#include "shiplap/measure/node_result.hpp"
#include "shiplap/pipeline/plan_view.hpp"
#include "shiplap/pipeline/race.hpp"
#include "shiplap/pipeline/run_view.hpp"
#include "shiplap/plan/adaptation_log.hpp"
#include "shiplap/plan/layer_plan_view.hpp"
#include "shiplap/plan/step_plan_view.hpp"
#include "shiplap/plan/strategy_map.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/adaptive_run.hpp"
#include "shiplap/report/movers_report.hpp"
#include "shiplap/report/reproduction_view.hpp"

namespace shiplap::document {

/// Rates over sizes, latencies, zero-copy, the verdict on each figure, all figures, and the conditions of a node.
Section profile_section(const Profile&, const std::string& source = {});
/// The figures of several nodes side by side, each beside the median of all.
Section nodes_section(std::span<const Profile>);
/// The best strategy over size and kernel time. `marks` are jobs, in bytes and seconds.
Section map_section(const StrategyMap&, const std::vector<Mark>& marks);
/// The errors of each model, their cost, the duels and what was skipped; predicted beside observed times, error
/// distributions and worst points.
Section evaluation_section(const Evaluation&, const std::string& source = {});
/// The rate of an endless run, its choices and its decisions.
Section adaptive_section(const AdaptiveRun&, const std::string& source = {});
/// The times of batches and the decisions of the log of an adaptive run, and whether they were made again as logged.
Section adaptation_section(const Replay&, const std::string& source = {});

/// The colour of a verdict.
Judgement judgement_of(Verdict);
/// Every figure of a check with its limit and its verdict.
Table check_table(const std::vector<CheckedFigure>&);
/// What pinning pageable arrays costs once and gains, and from how many runs on it pays; "" without such arrays.
std::string pinning_sentence(const PlanView&);
/// The verdict on each figure, in few columns.
Table verdict_table(const std::vector<CheckedFigure>&);
/// Whether the node is healthy: GOOD with the rates of copies, or LOW or BAD with the figures that are; without a
/// sentence when nothing could be judged.
Headline health_headline(const std::string& node, const std::vector<CheckedFigure>&);
/// The numbers of GPUs in each state, a row for each that is not good, and who gave no result; what peers have is a
/// detail.
Section fleet_section(const JudgedFleet&, const std::string& source = {});
/// The verdicts of a check, likely causes of low and bad figures, who used the node, and what was measured again.
Section check_section(const NodeResult&, const std::string& source = {});
/// Predicted and observed times of a run, whether its result is right, and its timelines. Times of a virtual device are
/// called simulated, not observed.
Section run_section(const RunView&, const std::string& source = {});
/// What to do, what it gains, why, and the best choice of each strategy; all candidates, where time is lost, and what
/// is assumed are details.
Section plan_section(const PlanView&, const std::string& source = {});
/// The winner of a race with its times, and every finalist with what became of it.
Section race_section(const RaceView&, const std::string& source = {});
/// The time on the most nodes, what limits the scaling to each number of nodes, and what is assumed.
Section scaling_section(const Scaling&, const std::string& source = {});
/// The passes of a step, what they copy, and the arrays that stay on the GPU.
Section step_plan_section(const StepPlanView&, const std::string& source = {});
/// What a step of a model takes, which of its weights stay on the GPU, and what more memory would bring.
Section layer_plan_section(const LayerPlanView&, const std::string& source = {});
/// The rates of movers of scattered blocks.
Section movers_section(const MoverTable&, const std::string& source = {});
/// The figures that became slower or faster, the worst first, and the conditions that differ; all figures are details.
Section comparison_section(const Comparison&, const std::string& source = {});

/// The time of a step of a program now and with all advice, what the step does, how well the simulation reproduces it,
/// each change and its gain, and the timelines; how each change is made, and when it is allowed, are details.
Section advice_section(const AdviceView&, const std::string& source = {});

/// The number of claims with each verdict, the curves, and the verdict on each claim; what is published and what was
/// found are details.
Section reproduction_section(const ReproductionView&, const std::string& source = {});

}  // namespace shiplap::document
